"""Scratch of kernels, far enough apart in memory.

LLVM vectorises a loop that reads one array and writes another only behind a check that the two
begin further apart than what it takes at a time (256 bytes with AVX-512); otherwise it takes the
scalar loop, whose sums round differently. Arrays of a few topics lie side by side, at distances
that differ between the heaps of threads: without room around them, a result would depend on the
thread that found it.
"""

from __future__ import annotations

from topicfocus.kernels.compile import kernel

#: Elements of room on each side: 256 bytes in single precision.
_ROOM = 64
#: What is added to the size of an array that `apart` is given.
ROOM = 2 * _ROOM


@kernel
def apart(buffer):
    """The middle of a one-dimensional buffer: all but ROOM elements."""
    return buffer[_ROOM : buffer.shape[0] - _ROOM]
