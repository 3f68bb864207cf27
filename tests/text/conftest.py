"""Kernels compile on their first call, which no deadline of hypothesis survives."""

from hypothesis import settings

settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")
