"""Models in files: arrays and JSON in a zip, no pickle, nothing executed on loading.

`topicfocus.save` and `topicfocus.load` are the way in. This package knows no estimator: classes
that may be in a file are registered by the modules that define or use them.
"""

from topicfocus.persistence.errors import ModelFileError
from topicfocus.persistence.registry import register, register_record

__all__ = ["ModelFileError", "register", "register_record"]
