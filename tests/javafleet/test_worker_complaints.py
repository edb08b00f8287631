"""Is what a worker complained of found in its log, and nothing else?"""

from __future__ import annotations

from pathlib import Path

from tests.javafleet.worker_complaints import complaints_in

LOG = """---- worker started ----
20:02:58.701 [main] INFO org.apache.kafka.Some - it starts, no WARN here
\tvalue = 1
20:02:58.900 [herder-1] WARN org.apache.kafka.ProducerConfig - 'a.setting' was supplied but isn't a known config.
20:02:59.000 [herder-1] WARN org.apache.kafka.Coordinator - [Worker clientId=w1] timed out
20:02:59.100 [task-b-1] ERROR org.apache.kafka.Task - task b-1 failed
org.apache.kafka.ConnectException: could not start
\tat org.apache.kafka.Task.run(Task.java:17)
Caused by: org.apache.kafka.TimeoutException: no answer
\t... 7 more
20:03:00.000 [main] INFO org.apache.kafka.Some - it goes on
"""


def test_warnings_and_errors_are_found_with_their_exceptions(tmp_path: Path) -> None:
    log = tmp_path / "w1.log"
    log.write_text(LOG)
    assert complaints_in(log).splitlines() == [
        "20:02:59.000 [herder-1] WARN org.apache.kafka.Coordinator - [Worker clientId=w1] timed out",
        "20:02:59.100 [task-b-1] ERROR org.apache.kafka.Task - task b-1 failed",
        "org.apache.kafka.ConnectException: could not start",
        "Caused by: org.apache.kafka.TimeoutException: no answer",
    ]
