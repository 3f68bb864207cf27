"""Reading and counting on a cluster: every worker its own files, or parts of them."""

from __future__ import annotations

import logging
from typing import Any

from topicfocus.text.shares import Keeping, shares_of, take_seen
from topicfocus.workflow.errors import SettingError, setting
from topicfocus.workflow.read import FEWER_CHARACTERS, CountInto

log = logging.getLogger(__name__)


def counting_on(client: Any, table: Any) -> CountInto | None:
    """How workers count a table; None if only this process can read it."""
    from topicfocus.distributed import DaskTexts

    if hasattr(table, "corpus"):
        raise SettingError(
            f"{table.path} is a count matrix, which is read as a whole: leave {setting('cluster')} "
            "out, or write it as a topicfocus.CountStore (docs/scale.md)."
        )
    shares = shares_of(table)
    if shares is None:
        log.info("Workers cannot read standard input: it is counted here.")
        return None
    log.info(f"Workers read and count it in {len(shares):,} shares.")
    if len(shares) == 1:
        log.info(
            "One file that cannot be cut is read by one worker; several files, or Parquet with "
            "row groups, are read by all."
        )

    def counted(counter: Any, keeping: Keeping) -> Any:
        texts = DaskTexts(shares, client)
        counts = texts.fit_counter(counter, FEWER_CHARACTERS)
        take_seen(table, texts.seen)
        keeping.texts = texts.first_texts(FEWER_CHARACTERS)
        return counts

    return counted
