"""What is a Kafka cluster to a test?

Something with a bootstrap address, brokers that can be stopped, killed and started again one by one, and settings for
clients of it. How the brokers are run is decided in `nodes.py`.
"""

import base64
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
    OffsetSpec,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from tests.kafka.broker_config import broker_properties
from tests.kafka.nodes import Runner, Site, make_site
from tests.kafka.ports import free_port
from tests.kafka.security import ADMIN, Certificates, ClientSecurity, Mechanism, Security, password_of
from tests.kafka.wait import NotYet, eventually

SCRAM_ITERATIONS = 4096


@attrs.define
class KafkaCluster:
    """A running cluster; node ids are 1, 2, …"""

    folder: Path
    security: Security
    users: Sequence[str]
    certificates: Certificates | None
    ports: Mapping[int, int]
    runners: Mapping[int, Runner]
    site: Site | None = None

    @classmethod
    def start(
        cls,
        folder: Path,
        brokers: int = 1,
        *,
        security: Security = Security.PLAINTEXT,
        users: Sequence[str] = (),
        acl: bool = False,
        overrides: Mapping[str, object] | None = None,
        heap_mb: int = 320,
        version: str | None = None,
    ) -> "KafkaCluster":
        """Start a new cluster that keeps all it has in `folder`, and wait until all brokers serve.

        `users` may log in beside `admin`, by PLAIN and by SCRAM, with `password_of(user)`; with `acl` only `admin` has
        rights until ACLs give others theirs. `overrides` are broker settings by their Kafka names, `version` is another
        one than the tests' own. Raises MissingTool where the machine cannot run Kafka.
        """
        site = make_site(folder, version)
        certificates = Certificates.make(folder / "certificates") if security is Security.SSL else None
        there = site.as_brokers_see(certificates) if certificates is not None else None
        nodes = [site.node(number, free_port()) for number in range(1, brokers + 1)]
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        runners: dict[int, Runner] = {}
        for node in nodes:
            properties = broker_properties(
                node, nodes, security, acl=acl, users=users, certificates=there, overrides=overrides or {}
            )
            runners[node.id] = site.runner(node, cluster_id, properties, heap_mb)
        cluster = cls(folder, security, users, certificates, {node.id: node.port for node in nodes}, runners, site)
        cluster.start_brokers(*cluster.ports)
        if security is Security.SASL_PLAINTEXT:
            cluster._add_scram_users()
        return cluster

    @property
    def bootstrap(self) -> str:
        """Every broker's address for clients, "host:port,…"."""
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def client(self, user: str = ADMIN, mechanism: Mechanism = Mechanism.PLAIN) -> ClientSecurity:
        """How `user` connects."""
        return ClientSecurity(self.security, user, mechanism, self.certificates)

    def admin(self) -> AdminClient:
        """librdkafka's admin client, connected directly as `admin`."""
        return self._admin_at(self.bootstrap)

    def _admin_at(self, bootstrap: str) -> AdminClient:
        quickly = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200, "log_level": 0}
        return AdminClient({"bootstrap.servers": bootstrap, **quickly, **self.client().librdkafka()})

    def create_topic(self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        """Create a topic, wait until its partitions have leaders that serve, and return its name."""
        admin = self.admin()
        wanted = NewTopic(name, num_partitions=partitions, config=dict(config or {}))
        failed: list[int] = []

        def is_made() -> bool:
            """A controller of 2.8 that has just begun answers with an error of its own, once."""
            try:
                admin.create_topics([wanted])[name].result(120)
            except KafkaException as error:
                code = error.args[0].code()
                failed.append(code)
                if failed == [KafkaError.UNKNOWN]:
                    raise NotYet(str(error)) from error
                if failed != [KafkaError.UNKNOWN, KafkaError.TOPIC_ALREADY_EXISTS]:
                    raise
            return True

        def has_leaders() -> bool:
            topic = admin.list_topics(name, timeout=120).topics[name]
            return len(topic.partitions) == partitions and all(
                p.leader in self.ports for p in topic.partitions.values()
            )

        def is_served() -> bool:
            """A broker that is named as leader already may not know it yet, and refuse."""
            latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
            asked = admin.list_offsets({TopicPartition(name, number): latest for number in range(partitions)})
            return all(answer.result(120).offset >= 0 for answer in asked.values())

        eventually(is_made, f"topic {name}")
        eventually(has_leaders, f"leaders of {name}", retry=KafkaException)
        eventually(is_served, f"leaders of {name} serve", retry=KafkaException)
        return name

    def committed(self, group: str, bootstrap: str | None = None) -> dict[tuple[str, int], int]:
        """A group's offsets by topic and partition: those that Kafka itself has, or as seen through `bootstrap`."""
        admin = self._admin_at(bootstrap or self.bootstrap)  # its futures end with it
        [future] = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
        return {(at.topic, at.partition): at.offset for at in future.result(120).topic_partitions if at.offset >= 0}

    def start_brokers(self, *ids: int) -> None:
        """Start these brokers, which do not run, and wait until they serve."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda number: self.runners[number].start(), ids))
        admins = {number: self._admin_at(f"127.0.0.1:{self.ports[number]}") for number in ids}

        def all_serve() -> bool:
            for number, admin in admins.items():
                self.runners[number].check_running()
                there = set(admin.list_topics(timeout=20).brokers)
                if not there.issuperset(ids):
                    raise NotYet(f"broker {number} knows of brokers {sorted(there)}")
            return True

        eventually(all_serve, f"brokers {ids} of {self.folder.name} serve", retry=KafkaException)

    def stop_broker(self, number: int) -> None:
        """End one broker in order."""
        self.runners[number].stop()

    def kill_broker(self, number: int) -> None:
        """End one broker as `kill -9` does."""
        self.runners[number].kill()

    def restart_broker(self, number: int, *, kill: bool = False) -> None:
        """End one broker and start it again, on the same ports and data."""
        if kill:
            self.kill_broker(number)
        else:
            self.stop_broker(number)
        self.start_brokers(number)

    def remove(self) -> None:
        """End all brokers at once and delete their data; their logs stay."""
        for runner in self.runners.values():
            runner.remove()
        if self.site is not None:
            self.site.remove()

    def _add_scram_users(self) -> None:
        admin = self.admin()  # its futures end with it
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):  # a user once a request
            info = ScramCredentialInfo(mechanism, SCRAM_ITERATIONS)
            wanted: list[UserScramCredentialAlteration] = [
                UserScramCredentialUpsertion(user, info, password_of(user).encode()) for user in [ADMIN, *self.users]
            ]
            for done in admin.alter_user_scram_credentials(wanted).values():
                done.result(120)
