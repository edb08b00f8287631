"""``python -m schemas.generator`` writes the generated code and ``docs/protocol.md``; see ``--help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from schemas.generator.files import GENERATED, documents, generated

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m schemas.generator", description="Write the codecs and the protocol reference out of schemas/."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file differs")
    parser.add_argument("--docs", action="store_true", help="only the protocol reference, docs/protocol.md")
    options = parser.parse_args()
    parts = [documents] if options.docs else [generated, documents]  # documents need the generated code
    differing = [name for part in parts for name in bring_up_to_date(part(), part is generated, options.check)]
    if options.check:
        for name in differing:
            print(f"{name} differs from the schemas: run `python -m schemas.generator`", file=sys.stderr)
        return 1 if differing else 0
    print(f"{len(differing)} files written or removed")
    return 0


def bring_up_to_date(wanted: dict[str, str], is_code: bool, only_check: bool) -> list[str]:
    """Write the files that differ, and remove generated modules whose schema is gone; returns their names.
    `only_check`: change nothing.
    """
    stale = [name for name, text in wanted.items() if not (ROOT / name).exists() or (ROOT / name).read_text() != text]
    surplus = surplus_files(wanted) if is_code else []
    if not only_check:
        for name in stale:
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / name).write_text(wanted[name])
        for name in surplus:
            (ROOT / name).unlink()
    return stale + surplus


def surplus_files(wanted: dict[str, str]) -> list[str]:
    """Generated modules whose schema is gone."""
    found = (path.relative_to(ROOT).as_posix() for path in (ROOT / GENERATED).glob("*.py"))
    return sorted(name for name in found if name not in wanted)


sys.exit(main())
