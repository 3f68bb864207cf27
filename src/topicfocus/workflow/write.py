"""Write: the folder of a fit, whole or not at all. Imports nothing heavy before it writes."""

from __future__ import annotations

import glob
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from topicfocus.workflow.config import config_text
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.interrupts import undoing
from topicfocus.workflow.leftovers import remove_ours
from topicfocus.workflow.manifest import (
    CONFIG_FILE,
    EXPLORER_FILE,
    MANIFEST_FILE,
    METRICS_FILE,
    MODEL_FILE,
    PICTURE_FILE,
    PREDICTIONS_FILE,
    RESULT_FILES,
    Manifest,
    describe,
    not_ours,
    read_manifest,
    write_manifest,
)
from topicfocus.workflow.outputs import whole_file
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.wording import setting

if TYPE_CHECKING:
    from topicfocus.workflow.outcome import Outcome

_ENDINGS = (
    *(".gz", ".bz2", ".xz", ".zip", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json"),
    *(".parquet", ".pq", ".xlsx", ".xlsm", ".npz"),
)


def default_folder(file: str) -> Path:
    """`reviews-topics` in the current folder for `somewhere/reviews.csv.gz`.

    For a pattern, `parts/*.csv`, the name of its folder.
    """
    if file == "-":
        return Path("topicfocus-topics")
    path = Path(file)
    while glob.has_magic(path.name) and not path.exists():
        path = path.parent
    name = path.resolve().name
    for ending in (*_ENDINGS, ".mtx"):
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    return Path(f"{name or 'topicfocus'}-topics")


# ---- before long work --------------------------------------------------------------------------


def named(out: str | os.PathLike[str]) -> Path:
    """A folder by a name that others can be put beside: also of "." and ".."."""
    folder = Path(out)
    if folder.name in ("", ".."):
        folder = folder.resolve()
    if not folder.name:
        raise SettingError(f"{setting('out')} must be the name of a folder, got {str(out)!r}.")
    return folder


def check_place(folder: Path) -> None:
    """A folder of this name can be made, or is there."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise FileExistsError(f"{folder} is not a folder. Choose another name: {setting('out')}.")
    parent = folder.resolve().parent
    if not parent.is_dir():
        raise FileNotFoundError(f"there is no folder {parent} to write into; create it first.")
    if not os.access(parent, os.W_OK):
        raise PermissionError(f"the folder {parent} cannot be written to.")


def check_free(folder: Path, overwrite: bool, sources: Iterable[str] = ()) -> None:
    """Nothing of that name is there, or a result whose files may be replaced.

    `sources`, the files that are read, never are.
    """
    check_place(folder)
    if not os.path.lexists(folder):
        return
    if not overwrite:
        raise FileExistsError(
            f"{folder} exists. Choose another folder with {setting('out')}, or replace it with "
            f"{setting('overwrite', True)}."
        )
    if any(folder.iterdir()):
        check_replaceable(folder)
    for name, source in product(RESULT_FILES, sources):
        if _is_same(folder / name, source):
            raise FileExistsError(
                f"{source} is what is read, and a file of {folder}: it is not replaced. Choose "
                f"another {setting('out')}."
            )


def check_replaceable(folder: Path) -> Manifest:
    """The manifest of a result that may be replaced; an error says why it may not.

    --overwrite with a slip in --out must not cost somebody other things, nor notes in a result.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise FileExistsError(
            f"{folder} was not written by topicfocus, or by an older version: it has no "
            f"{MANIFEST_FILE} that says which files are its own, so nothing in it is replaced. "
            f"Move it away, or choose another {setting('out')}."
        )
    changed = not_ours(folder, manifest)
    if changed:
        raise FileExistsError(
            f"{folder}: {', '.join(changed)} was changed or put there after the fit, so it is not "
            f"replaced. Move it away, or choose another {setting('out')}."
        )
    return manifest


def _is_same(path: Path, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


# ---- writing -----------------------------------------------------------------------------------


@contextmanager
def writing(
    folder: Path, fingerprint: str | None = None, whole: Callable[[], object] = lambda: None
) -> Iterator[Path]:
    """A new folder to fill, which takes the name `folder` when the block ends without error.

    Where there is a result already, its files are replaced one by one, and what else is in the
    folder stays where it is. Everything new is whole and on the disk before the first is; `whole`
    is called then.
    """
    folder = folder.resolve()
    temporary = folder.with_name(f".{folder.name}-{secrets.token_hex(6)}.tmp")
    with undoing(partial(remove_ours, temporary)):
        temporary.mkdir()
        yield temporary
        unknown = set(os.listdir(temporary)) - set(RESULT_FILES)
        if unknown:  # of whoever adds a file to results: it would be nobody's
            raise ValueError(f"{', '.join(sorted(unknown))} is missing in manifest.RESULT_FILES.")
        new = describe(temporary, fingerprint)
        write_manifest(temporary, new)
        whole()
        if folder.exists():
            _replace(folder, temporary, new)
        else:
            temporary.rename(folder)


def _replace(folder: Path, temporary: Path, new: Manifest) -> None:
    old = check_replaceable(folder) if any(folder.iterdir()) else Manifest({})
    # Should the process be killed on the way, both the old file and the new one are ours.
    names = dict.fromkeys((*old.files, *new.files))
    both = {name: old.files.get(name, ()) + new.files.get(name, ()) for name in names}
    write_manifest(folder, Manifest(both, whole=False))
    for name in new.files:
        os.replace(temporary / name, folder / name)
    for name in old.files:
        if name not in new.files:
            (folder / name).unlink(missing_ok=True)
    os.replace(temporary / MANIFEST_FILE, folder / MANIFEST_FILE)


def write_outcome(
    folder: Path, outcome: Outcome, remarks: Remarks, whole: Callable[[], object] = lambda: None
) -> list[str]:
    """Model, figures, predictions and the page; returns their names. `whole`: see `writing`."""
    import topicfocus
    from topicfocus.workflow.predict import write_csv

    with writing(folder, outcome.fingerprint, whole) as temporary:
        topicfocus.save(outcome.pipeline, temporary / MODEL_FILE)
        with whole_file(temporary / METRICS_FILE) as stream:
            json.dump(outcome.result, stream, indent=2, ensure_ascii=False, allow_nan=False)
            stream.write("\n")
        with whole_file(temporary / PREDICTIONS_FILE) as stream:
            write_csv(outcome.predictions, stream)
        for name, table in outcome.tables.items():
            with whole_file(temporary / name) as stream:
                write_csv(table, stream)
        if outcome.config is not None:
            with whole_file(temporary / CONFIG_FILE) as stream:
                stream.write(config_text(outcome.config, folder))
        if "tuning" in outcome.result:
            from topicfocus.workflow.tune import write_picture

            write_picture(temporary / PICTURE_FILE, outcome.result["tuning"])
        _write_page(temporary / EXPLORER_FILE, outcome, remarks)
        return sorted([*(path.name for path in temporary.iterdir()), MANIFEST_FILE])


def _write_page(path: Path, outcome: Outcome, remarks: Remarks) -> None:
    from topicfocus.report import Explorer

    # Names of columns are no text: without texts, words are picked from a list.
    model = outcome.pipeline if "texts" in outcome.shown else outcome.pipeline[-1]
    try:
        Explorer(model, **outcome.shown).save(path)
    except (ValueError, TypeError, ImportError) as error:
        # The model is what was asked for; a page can be made from it later.
        remarks.warn(f"no explorer page: {' '.join(str(error).split())}")
