"""A package that is installed beside kcoord, as pip leaves it: a module, and its metadata with an entry point."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.kafka.kcoord_process import Kcoord


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, program: str, group: str, name: str, thing: str) -> None:
    """All servers that the test starts from now on find a package with that program, whose entry point `name` of that
    group is `thing` in it.
    """
    site = folder / "site"
    info = site / "kcoord_installed-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "kcoord_installed.py").write_text(program)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kcoord-installed\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = kcoord_installed:{thing}\n")
    runs = folder / "run.py"
    runs.write_text(f"import sys; sys.path.insert(0, {str(site)!r})\nfrom kcoord.cli import main\nmain()\n")
    command = Kcoord.command

    def with_package(server: Kcoord) -> list[str]:
        python, dash_m, module, *rest = command(server)
        assert (python, dash_m, module) == (sys.executable, "-m", "kcoord")
        return [python, str(runs), *rest]

    monkeypatch.setattr(Kcoord, "command", with_package)
