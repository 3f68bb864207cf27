"""The one error of loading."""


class ModelFileError(ValueError):
    """A file that is not a model, or not a whole one, or newer than this version of topicfocus."""
