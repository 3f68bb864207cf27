"""What every case of the harness may raise."""


class Broken(AssertionError):
    """A promise that was not kept."""
