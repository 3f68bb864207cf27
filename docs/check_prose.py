"""Find phrases that this project does not use, in pages, docstrings, comments and messages.

    python docs/check_prose.py              # the whole project
    python docs/check_prose.py FILE ...

Each entry has what to write instead. Add a phrase when a reviewer has corrected it twice.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Regular expression -> what to write instead. They are matched without regard to case.
RETIRED = {
    r"telling words?|words? that tell\b": "distinctive words",
    r"\ba row a \w+|\bone a (?:target|class|topic|line|word|document)\b": "one ... per ...",
    r"\b(?:it|that|this|which) is said\b|\bare told\b|\bis told\b": "name who says it, or drop it",
    r"\bwhoever\b": "name the agent",
    r"\bso many \w+ at most\b": "at most N ...",
    r"\bof no use\b": "worse than a constant",
    r"\bstands? for each other\b": "interchangeable",
    r"\bdrawn to\b": "shrunk toward",
    r"\bset aside\b": "validation (documents)",
    r"\bleanings?\b|\bleans? (?:to|toward)\b": "(signed) association",
    r"\bmade[- ]up\b|\bmade data\b": "simulated",
    r"\b(?:topics?|words?|effects?) (?:do not |does not )?comes? back\b": "replicates",
    r"\bwords? (?:say|says|speaks?|tells?)\b": "is associated with, predicts",
    r"\bhow strongly (?:each|a word|they) \w*speaks?\b": "how predictive",
    r"\b(?:a|the) (?:fit|model|word) (?:knows|wants|believes|thinks)\b": "no personification",
    r"\bwhat words are kept for\b": "word-selection criterion",
    r"\bdiscoveries alone\b": "words selected at a 10% false discovery rate",
    r"\bdrafts?\b": "low-fidelity fits",
    r"\blog ratio\b": "smoothed PMI",
    r"\bfrequency of [\w ]+ is asked\b|\bis asked of\b": "active voice",
    r"\bstands? in the (?:training|test)\b": "also appears in",
    r"\bdrives? (?:the )?(?:score|rating|outcome|prediction|target)s?\b": "is associated with",
    r"^Taken (?:is|are)\b|(?<=[.:] )Taken (?:is|are)\b": "We choose",
}
#: Also retired on pages, where code has its own short names.
RETIRED_ON_PAGES = {
    r"\btopic mix(?:es)?\b": "topic proportions",
    r"\bcomes? back\b": "replicates",
}


def files() -> list[Path]:
    """Pages and sources; records of experiments and the glossary itself are left out."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    pages += [ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
    pages += (ROOT / "docs" / "api").glob("*.md")
    code = [*(ROOT / "src").rglob("*.py"), *(ROOT / "examples").glob("*.py")]
    code = [path for path in code if path.name != "stop_words.py"]  # lists of words
    static = (ROOT / "src" / "topicfocus" / "report" / "static").glob("*")
    return [*pages, *code, *(path for path in static if path.suffix in (".js", ".html"))]


def findings(path: Path) -> Iterator[str]:
    """Retired phrases of a file, one line each."""
    text = path.read_text(encoding="utf-8")
    phrases = RETIRED | RETIRED_ON_PAGES if path.suffix == ".md" else RETIRED
    place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    for phrase, better in phrases.items():
        for match in re.finditer(phrase, text, re.I | re.M):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{place}:{line}: {match[0]!r}: {better}"


def main() -> int:
    """Print what was found; 1 if there is anything."""
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or files()
    found = [finding for path in sorted(chosen) for finding in findings(path)]
    print("\n".join(found) or "No retired phrase.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
