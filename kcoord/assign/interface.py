"""The two interfaces of assignors: for the coordinator's side and for the worker's side.

Both are pure: the same group gives the same assignment; no clock, no random number, no memory of the last call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

from kcoord.assign.model import Assignment, Group, MemberAssignment, Metadata


@runtime_checkable
class ServerAssignor(Protocol):
    """Runs in the coordinator. It is only called if `Group.configured` is known."""

    @property
    def name(self) -> str:
        """The name by which workers ask for it, and by which `group.connect.assignors` turns it on."""

    def assign(self, group: Group) -> Assignment:
        """The assignment: who is to run what."""


class ConnectAssignor(ABC):
    """Runs in the worker that the coordinator chose.

    The coordinator takes an assignor that all members list, and a worker whose range of versions contains the versions
    of all members.
    """

    name: str
    """Unique among assignors; not empty."""
    minimum_version: int = 0
    """The oldest metadata version that it reads: -1 or higher. Version -1 is that of classic members."""
    maximum_version: int = 0
    """The newest metadata version that it reads."""

    def metadata(self) -> Metadata:
        """What the coordinator hands to the assignor that computes."""
        return Metadata(version=self.maximum_version)

    @abstractmethod
    def assign(self, group: Group) -> Assignment:
        """The assignment: who is to run what."""

    def on_assignment(self, assignment: MemberAssignment) -> None:  # noqa: B027 (most have no use for it)
        """This member got an assignment. Called once per epoch."""
