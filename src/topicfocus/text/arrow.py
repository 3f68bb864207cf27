"""What the readers that use Arrow share: when it is worth it, and how much it holds at once.

The standard library's readers are the judges: Arrow only hurries through what both understand.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from topicfocus.text.records import BLOCK_CHARACTERS, Request

#: Files from this size on are worth the import of Arrow.
LARGE = 1 << 24
#: Bytes that Arrow reads at a time. It reads up to 32 such pieces ahead of whoever uses them: with
#: its own default, or more, most of a file would wait in memory.
READ_BYTES = 1 << 20


def may_help(request: Request, large: int) -> bool:
    """Whether a file can be given to Arrow, and is large enough."""
    # Standard input cannot be read again, and rows left out would make row numbers wrong.
    if request.path == "-" or request.bad.skip:
        return False
    if request.encoding.replace("_", "-").lower() not in ("utf-8", "utf8"):
        return False
    if "pyarrow" not in sys.modules and not importlib.util.find_spec("pyarrow"):
        return False
    return Path(request.path).stat().st_size >= large


def gathered(batches: Iterable[Any]) -> Iterator[Any]:
    """Small record batches put together to some of the size that is counted best."""
    import pyarrow as pa

    held: list[Any] = []
    size = 0
    for batch in batches:
        if len(batch) == 0:
            continue
        held.append(batch)
        size += batch.nbytes
        if size >= BLOCK_CHARACTERS:
            yield from pa.Table.from_batches(held).combine_chunks().to_batches()
            held, size = [], 0
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()
