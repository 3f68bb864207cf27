"""Build the site into docs/_build/html: `pip install -e '.[docs]' && python docs/build.py`.

Warnings are errors, and afterwards docs/check_site.py looks at the pages: links lead somewhere, and
nothing is loaded from another host. `--quick` leaves the examples of the gallery unexecuted.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from check_site import check
from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Build and check; 0 if both went well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="do not run the examples")
    parser.add_argument("--out", type=Path, default=HERE / "_build" / "html")
    arguments = parser.parse_args()
    options = ["-W", "--keep-going", "-q", "-b", "html", "-c", str(HERE)]
    options += ["-d", str(arguments.out.parent / "doctrees")]
    # A quick build runs beside tests: one process takes a tenth less of the processors than two.
    options += ["-D", "plot_gallery=0"] if arguments.quick else ["-j", "auto"]
    code = sphinx([*options, str(HERE.parent), str(arguments.out)])
    if code:
        return code
    troubles = check(arguments.out)
    print("\n".join(troubles) or f"{arguments.out / 'index.html'}: built and checked.")
    return int(bool(troubles))


if __name__ == "__main__":
    sys.exit(main())
