"""Plan files: everything that is decided before a run begins, as JSON. So the run outlives changes in how plans are
drawn.

A seed stands for the same run only as long as plans are drawn in the same way. A plan file keeps what was drawn:

| field | meaning |
| --- | --- |
| `format` | 1 |
| `cause` | what the run shows, for people |
| `seed`, `skip` | the run's own random numbers: those of `Random(seed)` from the 32-bit word `skip` on |
| `plan` | the fields of `kcoord.sim.plans.plan.Plan` |
| `faults` | the faults that strike, each `[at_ms, kind, seed]`; absent if the plan draws them |
| `mix` | the fields of `kcoord.sim.plans.mixed.Mix`; absent if no classic workers take part |
| `instances` | the fields of `kcoord.sim.plans.instances.Instances`; absent if there is one instance |
| `consumers` | the fields of `kcoord.sim.plans.consumer.Consumers`; absent if there are no consumer groups |
| `kind` | the kind of run; absent in older files: mixed if there is a `mix`, else connect |

A field that was added later, with a default, may be absent.
"""

from __future__ import annotations

import json
import typing
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import attrs
from pydantic import TypeAdapter, ValidationError

from kcoord.sim.basis.run_kinds import CONNECT, CONSUMER, INSTANCES, KINDS, MIXED, WITH_MIX
from kcoord.sim.plans.classic import draw as draw_classic
from kcoord.sim.plans.consumer import Consumers
from kcoord.sim.plans.consumer import draw as draw_consumer
from kcoord.sim.plans.instances import Instances
from kcoord.sim.plans.instances import draw as draw_instances
from kcoord.sim.plans.mixed import Mix
from kcoord.sim.plans.mixed import draw as draw_mixed
from kcoord.sim.plans.plan import Fault, Plan
from kcoord.sim.plans.plan import draw as draw_connect

FORMAT = 1
MOST_WORDS = 1_000_000
"""No drawing takes this many random numbers."""

Fields = TypeVar("Fields", Plan, Mix, Instances, Consumers)


class PlanFileError(Exception):
    """A plan file that cannot be run. The text is one line: which file, and what is wrong with it."""


@attrs.frozen
class RunPlan:
    """Everything that is decided before a run begins."""

    seed: int
    skip: int
    """How many 32-bit words of `Random(seed)` come before the run's own: the drawing of the plan took them."""
    plan: Plan
    kind: str = CONNECT
    mix: Mix | None = None
    instances: Instances | None = None
    cause: str = ""
    faults: tuple[Fault, ...] | None = None
    """The faults that strike. None: those that `plan` draws."""
    consumers: Consumers | None = None

    def random(self) -> Random:
        """The random numbers that are drawn while the run goes on."""
        stream = Random(self.seed)
        for _ in range(self.skip):
            stream.getrandbits(32)
        return stream


def draw_run_plan(seed: int, kind: str) -> RunPlan:
    """What is drawn today for this seed, except the instances, which are drawn where they are made (`run.plan_of`)."""
    random = Random(seed)
    mix, consumers = None, None
    if kind in WITH_MIX:
        plan, mix = (draw_mixed if kind == MIXED else draw_classic)(random)
    elif kind == INSTANCES:
        plan = draw_instances(seed, random)
    elif kind == CONSUMER:
        plan, consumers = draw_consumer(random)
    else:
        plan = draw_connect(random)
    return RunPlan(seed, _words(seed, random), plan, kind, mix, consumers=consumers)


def _words(seed: int, random: Random) -> int:
    """How many 32-bit words `random` has given since it was `Random(seed)`."""
    wanted, stream = random.getstate(), Random(seed)
    for words in range(MOST_WORDS):
        if stream.getstate() == wanted:
            return words
        stream.getrandbits(32)
    raise AssertionError(f"seed {seed}: the drawing has taken something else than random words")


def dump(run_plan: RunPlan) -> str:
    """The text of a plan file."""
    parts = {"mix": run_plan.mix, "instances": run_plan.instances, "consumers": run_plan.consumers}
    more: dict[str, Any] = {name: attrs.asdict(part) for name, part in parts.items() if part is not None}
    if run_plan.faults is not None:
        more["faults"] = [list(attrs.astuple(fault)) for fault in run_plan.faults]
    text = {
        "format": FORMAT,
        "cause": run_plan.cause,
        "kind": run_plan.kind,
        "seed": run_plan.seed,
        "skip": run_plan.skip,
        "plan": attrs.asdict(run_plan.plan),
        **more,
    }
    return json.dumps(text, indent=2) + "\n"


def load(path: Path) -> RunPlan:
    """Read a plan file.

    Raises:
        PlanFileError: it cannot be read, or is not a plan of this format.
    """
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise PlanFileError(f"{path}: {error}") from error
    try:
        return _run_plan(found)
    except (KeyError, TypeError, ValueError) as error:  # pydantic's ValidationError is a ValueError
        raise PlanFileError(f"{path}: {_in_one_line(error)}") from error


def _run_plan(found: Any) -> RunPlan:
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"no plan of format {FORMAT}")
    mix = _fields(Mix, found["mix"]) if "mix" in found else None
    instances = _fields(Instances, found["instances"]) if "instances" in found else None
    kind = found.get("kind", CONNECT if mix is None else MIXED)
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} is not one of {', '.join(KINDS)}")
    if (kind in WITH_MIX) != (mix is not None):
        raise ValueError(f"a run of the kind {kind} has {'a' if kind in WITH_MIX else 'no'} mix")
    if (kind == CONSUMER) != ("consumers" in found):
        raise ValueError(f"a run of the kind {kind} has {'' if kind == CONSUMER else 'no '}consumers")
    consumers = _fields(Consumers, found["consumers"]) if "consumers" in found else None
    cause = str(found.get("cause", ""))
    whole = TypeAdapter(int)
    seed, skip = whole.validate_python(found["seed"]), whole.validate_python(found["skip"])
    if not 0 <= skip < MOST_WORDS:
        raise ValueError(f"skip {skip} is not below {MOST_WORDS}")
    return RunPlan(seed, skip, _fields(Plan, found["plan"]), kind, mix, instances, cause, _faults(found), consumers)


FORMER_FIELDS = {"legacy": "classic"}
"""Names of fields in plan files of release 0.1.0, and their names today."""


def _fields(kind: type[Fields], found: Any) -> Fields:
    """An instance of `kind`. Each value is checked against the type of its field."""
    if not isinstance(found, dict):
        raise TypeError(f"{kind.__name__} is no object")
    hints = typing.get_type_hints(kind)
    found = {FORMER_FIELDS.get(name, name): value for name, value in found.items()}
    if unknown := sorted(found.keys() - hints.keys()):
        raise ValueError(f"{kind.__name__} has no {', '.join(unknown)}")
    values = {}
    for name, value in found.items():
        try:
            values[name] = TypeAdapter(hints[name]).validate_python(value)
        except ValidationError as error:
            raise ValueError(f"{kind.__name__}.{name}: {error.errors()[0]['msg']}") from error
    return kind(**values)


def _faults(found: dict[str, Any]) -> tuple[Fault, ...] | None:
    if "faults" not in found:
        return None
    try:
        listed = TypeAdapter(list[tuple[int, str, int]]).validate_python(found["faults"])
    except ValidationError as error:
        raise ValueError(f"faults: {error.errors()[0]['msg']}") from error
    return tuple(Fault(*each) for each in listed)


def _in_one_line(error: Exception) -> str:
    text = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return " ".join(text.split())
