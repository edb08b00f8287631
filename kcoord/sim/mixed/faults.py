"""The faults of a fleet with classic workers, and what administrators do to it, besides the faults of any fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcoord.group.state.connect_settings import (
    HEARTBEAT_INTERVAL,
    SESSION_TIMEOUT,
    ClassicMode,
    MigrationPolicy,
)
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import GROUP, Place
from kcoord.sim.mixed.checks import MixedChecks
from kcoord.sim.mixed.context import MixedContext
from kcoord.sim.mixed.fleet import MixedFleet
from kcoord.sim.plans.mixed import MIXED_FAULTS
from kcoord.sim.plans.plan import resources


class MixedFaults(Faults):
    """Draws and runs faults of both kinds."""

    _context: MixedContext
    _fleet: MixedFleet
    _checks: MixedChecks

    def _weighted(self) -> dict[str, int]:
        more = self._context.mix.weights
        return super()._weighted() | {kind: more[kind] for kind in MIXED_FAULTS if more.get(kind)}

    def _call(self, kind: str) -> None:
        call = _FAULTS.get(kind)
        if call is None:
            super()._call(kind)
        else:
            call(self)

    # -- one worker ---------------------------------------------------------------------------------------------------

    def _replace(self, place: Place, back_ms: int) -> None:
        """Its process leaves in order or dies, and another one starts."""
        place.wanted = True
        if place.process is None:
            self._fleet.start(place)
        elif self._random.random() < 0.7:
            place.process.leave(permanent=False)
        else:
            self._fleet.kill(place, back_ms)

    def _swap(self) -> None:
        """The next worker at a place is of the other kind."""
        place = self._random.choice(self._fleet.places)
        self._turn(place, not self._fleet.classic[place.name])

    def _turn(self, place: Place, classic: bool) -> None:
        self._fleet.classic[place.name] = classic
        self._context.note("admin", f"{place.name} becomes a {'classic' if classic else 'new-protocol'} worker")
        self._replace(place, self._ms(3_000))

    def _roll(self) -> None:
        """All places change to one kind, one after the other."""
        classic = self._random.random() < 0.5
        self._context.note("admin", f"rolls all to {'classic' if classic else 'new-protocol'} workers")
        at_ms = 0
        for place in self._fleet.places:
            if self._fleet.classic[place.name] != classic:
                self._context.events.after(at_ms, self._roll_one, place, classic)
                at_ms += 1_000 + self._ms(2_000, 15_000)

    def _roll_one(self, place: Place, classic: bool) -> None:
        if self._fleet.classic[place.name] != classic:
            self._turn(place, classic)

    def _other_version(self) -> None:
        """A classic worker comes back with another `connect.protocol`."""
        place = self._running()
        if place is not None and self._fleet.classic[place.name]:
            version = self._random.choice(self._context.mix.versions)
            self._fleet.versions[place.name] = version
            self._replace(place, self._ms(3_000))

    def _bounce(self) -> None:
        """The worker dies and is back within the delay."""
        place = self._running()
        if place is not None:
            self._fleet.kill(place, 1 + self._ms(500, 3_000))

    def _lose_leader(self) -> None:
        """The leader dies, is frozen, leaves, or loses its connection."""
        leaders = [
            place for place in self._fleet.places
            if place.process is not None and place.process.member_id == self._checks.leader()
        ]  # fmt: skip
        if not leaders:
            return
        place = leaders[0]
        what = self._random.choice(("kill", "kill", "freeze", "leave", "cut"))
        self._context.note("admin", f"{place.name} leads: {what}")
        assert place.process is not None
        if what == "kill":
            self._fleet.kill(place, self._back_ms())
        elif what == "leave":
            place.process.leave(permanent=False)
        elif what == "freeze" and not place.process.frozen:
            place.process.freeze()
            self._context.events.after(self._ms(500, 5_000, 40_000), place.process.thaw)
        elif what == "cut" and place.process.link is not None:
            self._context.network.cut(place.process.link)

    # -- the group ----------------------------------------------------------------------------------------------------

    def _mode(self) -> None:
        """From now on classic workers are managed in the other mode."""
        mode = ClassicMode.BARRIER if self._context.mode is ClassicMode.INDIVIDUAL else ClassicMode.INDIVIDUAL
        self._context.mode = mode
        self._alter({})

    def _policy(self) -> None:
        """Set in which direction the group may change its protocol. At the end it may in both."""
        self._context.policy = self._random.choice(tuple(MigrationPolicy))
        self._alter({})

    def _settings(self) -> None:
        choice = self._random.choice
        values = {}
        if choice((True, False)):
            values[SESSION_TIMEOUT] = str(choice((3_000, 6_000, 10_000, 25_000)))
        if choice((True, False)):
            values[HEARTBEAT_INTERVAL] = str(choice((400, 1_000, 2_000)))
        self._alter(values)

    def _alter(self, values: Mapping[str, str]) -> None:
        self._coordinator.alter_config(GROUP, self._context.group_configuration() | dict(values))

    # -- the config topic ---------------------------------------------------------------------------------------------

    def _configure(self) -> None:
        """A connector comes or goes, or its tasks are configured again."""
        plan, random, topic = self._context.plan, self._random, self._context.topic
        names = sorted({name for name, _ in resources(plan.connectors, {})})
        name = random.choice(names)
        known = topic.newest.task_counts
        if name not in known:
            topic.put_connector(name)
            if random.random() < 0.3:
                self._fleet.announce()
                self._context.events.after(self._ms(500, 5_000), self._put_tasks, name)
            else:
                topic.put_tasks(name, random.randint(1, plan.tasks))
        elif random.random() < 0.3:
            topic.remove(name)
        else:
            same = random.random() < 0.5
            topic.put_tasks(name, known[name] if same else random.randint(0, plan.tasks))
        self._fleet.announce()

    def _put_tasks(self, name: str) -> None:
        if name in self._context.topic.newest.task_counts:
            self._context.topic.put_tasks(name, self._random.randint(1, self._context.plan.tasks))
            self._fleet.announce()

    def _session_key(self) -> None:
        """Write a session key: that takes an offset, and there is nothing to act on."""
        self._context.topic.put_session_key()
        self._fleet.announce()


_FAULTS: Mapping[str, Callable[[MixedFaults], None]] = {
    "swap": MixedFaults._swap,
    "roll": MixedFaults._roll,
    "mode": MixedFaults._mode,
    "policy": MixedFaults._policy,
    "bounce": MixedFaults._bounce,
    "lose_leader": MixedFaults._lose_leader,
    "other_version": MixedFaults._other_version,
    "session_key": MixedFaults._session_key,
    "configure": MixedFaults._configure,
    "settings": MixedFaults._settings,
}
