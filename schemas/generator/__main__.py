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
    wanted = documents() if options.docs else generated() | documents()
    stale = [name for name, text in wanted.items() if not (ROOT / name).exists() or (ROOT / name).read_text() != text]
    surplus = [] if options.docs else surplus_files(wanted)
    if options.check:
        for name in stale + surplus:
            print(f"{name} differs from the schemas: run `python -m schemas.generator`", file=sys.stderr)
        return 1 if stale or surplus else 0
    for name in stale:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(wanted[name])
    for name in surplus:
        (ROOT / name).unlink()
    print(f"{len(wanted)} files, {len(stale)} written, {len(surplus)} removed")
    return 0


def surplus_files(wanted: dict[str, str]) -> list[str]:
    """Generated modules whose schema is gone."""
    found = (path.relative_to(ROOT).as_posix() for path in (ROOT / GENERATED).glob("*.py"))
    return sorted(name for name in found if name not in wanted)


sys.exit(main())
