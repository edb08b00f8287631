"""The error of the pipeline: it cannot do what it was asked to do."""


class PipelineError(Exception):
    """The pipeline cannot do what it was asked to do. The text says what was wrong, where, and what to do."""
