"""What is raised when the pipeline cannot do what it was asked to?"""


class PipelineError(Exception):
    """The text says what was wrong, where, and what to do."""
