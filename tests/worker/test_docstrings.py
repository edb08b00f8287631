"""What a user reads in an editor: docstrings of what programs import say nothing that only this project can open."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from types import ModuleType

import pytest

import kcoord.assign
import kcoord.consumer
import kcoord.testing
import kcoord.worker
import kcoord.worker.config_topic
import kcoord.worker.runner

MODULES = (
    kcoord.worker,
    kcoord.worker.runner,
    kcoord.worker.config_topic,
    kcoord.consumer,
    kcoord.assign,
    kcoord.testing,
)
INTERNAL = re.compile(r"\brules? O?\d|\b(CG|GW|CM|AD|KG)-\d|\bdesign \d|\bseed \d|\bdraft\b")


def docstrings(source: str) -> list[str]:
    """All texts that stand for themselves: of classes, functions, and attributes."""
    return [
        each.value.value
        for each in ast.walk(ast.parse(textwrap.dedent(source)))
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str)
    ]


@pytest.mark.parametrize("module", MODULES, ids=[each.__name__ for each in MODULES])
def test_docstrings_of_the_public_api_cite_nothing_internal(module: ModuleType) -> None:
    texts = [(module.__name__, module.__doc__ or "")]
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            texts += [(name, text) for text in docstrings(inspect.getsource(value))]
            texts.append((value.__module__, inspect.getmodule(value).__doc__ or ""))
    assert [(name, text) for name, text in texts if INTERNAL.search(text)] == []


def test_the_search_finds_what_it_is_for() -> None:
    source = '''
        class A:
            """Of rule 3."""
            b: int
            """CM-48"""
            def c(self):
                """design 4"""
    '''
    assert len([text for text in docstrings(source) if INTERNAL.search(text)]) == 3
