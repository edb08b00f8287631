"""The errors of a client: the broker could not be reached, or refused."""


class ClientError(Exception):
    """A broker could not be reached, or refused. The text is one line."""


class Refused(ClientError):
    """A broker refused, and a retry will not help: a missing right, a wrong password."""

    def __init__(self, text: str, error_code: int) -> None:
        super().__init__(text)
        self.error_code = error_code
