"""Connections to several instances: a new connection of a worker ends at any of them, even at one that stands still."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from kcoord.sim.basis.events import Events
from kcoord.sim.instances.instance import PORTS, FrontLink, Instance
from kcoord.sim.network import Client, Link, Network
from kcoord.sim.plans.plan import Plan


class FrontNetwork(Network):
    """A network in which `choices` draws where connections end."""

    def __init__(self, events: Events, random: Random, plan: Plan, choices: Random) -> None:
        super().__init__(events, random, plan)
        self._choices = choices
        self.instances: list[Instance] = []
        self.made: Callable[[FrontLink], None]
        """Called with each new connection."""

    def connect(self, client: Client) -> Link:
        """Make a new connection, with the highest number so far."""
        self.serial += 1
        instance = self._choices.choice([each for each in self.instances if each.up])
        link = FrontLink(self.serial, client, instance, self._choices.randrange(PORTS))
        self.links.append(link)
        self.made(link)
        return link

    def reset_instance(self, instance: Instance) -> None:
        """An instance has died: its connections end, and what is on its way is lost. Some clients do not even hear of
        it.
        """
        for link in list(self.links):
            if isinstance(link, FrontLink) and link.instance is instance:
                self.links.remove(link)
                link.server_open = False
                link.flying.clear()
                link.queue.clear()
                link.front_queue.clear()
                link.call = link.hot = link.front_call = None
                if link.client_open and self._choices.random() < 0.8:
                    self._events.after(self.delay(), self._told, link)
