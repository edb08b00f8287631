"""The page `docs/pipeline.md`: `python -m kcoord.pipeline.page` prints it (`make docs`). The lists of columns come from
`tables.py`.
"""

from kcoord.pipeline.tables import LAB, WHATIF, markdown

HEAD = """\
<!-- Written by `python -m kcoord.pipeline.page`. Do not edit. -->
# The pipeline

[The log](log.md) says more than what is true now: why each epoch began, what moved, and who could be running what. The
pipeline turns the log into tables. It uses Apache Spark and writes Parquet files. It runs on one machine as it is, and
on a cluster with `--master`.

```
pip install '.[spark]'                                                             # and Java 17 or later
kcoord pipeline history --out tables --data-dir data                               # a log in a file
kcoord pipeline history --out tables --log-bootstrap kafka-1:9092                  # a log in a topic
kcoord pipeline history --out tables --log-bootstrap kafka-1:9092 --stream         # only what is new since the last time
kcoord pipeline history --out tables --config kcoord.toml --stream --every 60      # again each minute, until Ctrl-C
```

Name the log as for `kcoord serve`: by flags, `-o`, the environment or `--config`. The pipeline only reads the log, and
reads only what is committed, so kcoord may run at the same time.

- At the first run Spark downloads its source for Kafka from Maven Central
  (`org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0`). To use a mirror, give `--conf spark.jars.ivySettings=FILE`.
- The pipeline passes the passwords and PEM files of `log.sasl.*` and `log.ssl.*` on to Spark. If Kafka's Java client
  needs more, for Kerberos or OAuth, give it with `--kafka-option NAME=VALUE`.
- `--conf NAME=VALUE` sets any setting of Spark.
- Spark's own output goes to `spark.log` beside the tables.

You can query the tables with any program that reads Parquet. This DuckDB query shows the ten rebalances that stopped
most:

```sql
SELECT group_id, epoch, detail, stopped, returned, duration_ms
FROM 'tables/rebalances/*.parquet' ORDER BY stopped DESC LIMIT 10;
```

The files of `records` and `quarantine` lie one folder deeper (`tables/records/*/*.parquet`), because a stream adds to
these tables. In Spark, read them with `.option("recursiveFileLookup", "true")`.

## A page to look at

```
kcoord pipeline report --tables tables --out report.html      # all groups, or --group my-connect
```

This writes one HTML file. Open it in a browser or send it to somebody: it needs no server and no network. At the top of
the page stands what the audit has found. Then the page shows for each group:

- the last rebalance: why it happened, how long it took, what moved;
- the reasons for rebalances, and what each reason cost;
- who could be running what, and when;
- the latest and the worst rebalances, with what moved in each;
- the workers that caused most;
- the longest gaps;
- the balance over time.

"Task-seconds nobody ran" are the gaps that began with a rebalance, summed over connectors and tasks. When a static
worker is absent, no rebalance begins; its absence is a reason of its own, `worker away`.

**Outages.** The page lists the times in which kcoord was down or being restarted, and shades them on the time line.

- Gaps during an outage count for the outage (`coordinator away`), and not for the rebalance or the worker with which
  they began. The time until a rebalance is at rest does not include the outage.
- When kcoord is back, workers that were there before may join again. Java workers come back with nothing, because they
  have stopped all their tasks. Rebalances within 15 s in which nothing else happens count for the outage, and for no
  worker. If something else happens too, the rebalance counts for that, and not for the workers that only came back.
- If a worker died during the outage, kcoord notices only a session timeout after it is back. That time counts for the
  worker.
- The log does not show what workers stopped by themselves while kcoord was away, so the page does not count it.

[A log in a file](log.md#in-a-file) records outages of a second or more. For a log in a topic, the pipeline finds
outages that were longer than the lease plus a second, as far back as a day (`history.retention.ms`). An instance that
has members writes at least once per lease; if nobody wrote for longer, nobody coordinated. Give
`kcoord pipeline history` the same `coordinator.lease.ms` as `kcoord serve`. Such an outage may look longer than it was,
by less than a lease.

**Large fleets.** A browser cannot draw everything of a large fleet quickly. So the page shows at most 20 groups. Each
time line shows the 120 connectors and tasks that changed hands most, and how much each worker had. The page says where
it leaves something out. `kcoord pipeline report` reads the tables from a directory on this machine, without Spark, into
memory. If the history is long, make a page of only the groups that you need.

## Which policy, which delay: the lab

```
kcoord pipeline lab --out tries                                                # a thousand runs, in a minute or two
kcoord pipeline lab --out tries --scenario death --scenario ours.toml \\
    --kind connect --policy design-2 --policy kip-415 --delay 30 --delay 60 --delay 300 --seeds 20
```

The lab simulates scenarios under every policy and delay that you ask for, several times each with different latencies.
It shows which choice stops least and which moves least. The scenarios are [those that come with kcoord](policies.md),
or your own TOML files. The lab reads no log.

Spark spreads the runs over all cores of this machine, or of a cluster with `--master` (kcoord must then be installed on
the cluster's workers too). Twice as many cores take half the time. The table `lab` in the directory has a row for every
run. The same runs give the same table. This query shows which delay is best if each of the scenarios happens once:

```sql
SELECT policy, delay, round(sum(stopped) / count(DISTINCT seed)) AS stopped,
       round(sum(moved) / count(DISTINCT seed)) AS moved, round(max(longest_gap)) AS longest_gap
FROM 'tries/lab/*.parquet' WHERE kind = 'connect' AND error IS NULL
GROUP BY policy, delay ORDER BY policy, stopped;
```

If the fleet does not come to rest before the first event of a scenario, the run has no figures, and its row says why.

You can also vary how workers are restarted, and where work may run:

```
kcoord pipeline lab --out tries --scenario bounce --policy kip-415 \\
    --restart drain --restart stop --restart kill                              # how workers go
kcoord pipeline lab --out tries --scenario ours.toml --rules none --rules placement.toml
```

| option | what it does |
| --- | --- |
| `--restart drain` | [drains](placement.md) each worker that the scenario stops or kills, and then stops it |
| `--restart drain-stops` | drains only the workers that the scenario stops, because nobody can drain a worker that crashes |
| `--restart stop`, `--restart kill` | stops, or kills, every worker that the scenario stops or kills |
| `--rules FILE` | placement rules, in a file as `kcoord placement apply` reads it; rules name a worker by its url: `http://w0` and so on, or what the scenario's `urls` say |
| `--rules none` | no placement rules |

`LONGEST GAP` is the longest time in which one task ran nowhere; `STOPPED` is the sum of all such times. Groups of kind
`barrier` follow no rules, so the lab leaves them out when there are rules or drains.

## What if: your own history under another policy, another delay

```
kcoord pipeline whatif --tables tables --out tries                             # the only group, or --group my-connect
kcoord pipeline whatif --tables tables --out tries --delay 30 --delay 90 --start 8 --stop 3
```

`whatif` takes from the tables which workers came, went and died, and what was configured at which time. It simulates
that again: with the policy and delay that you really ran, and with others, several times each with different latencies.
It shows:

- what each choice would have cost and saved, as a median and a spread;
- the recommended delay, and why;
- how well the replay agrees with the recorded log. If they disagree,
  [`whatif` recommends nothing](#when-a-replay-and-the-log-disagree).

The table `whatif` in the directory has every run.

- **Some things are in no log.** You can say them, otherwise they are guessed: how long a task takes to start
  (`--start`, a second), how often workers heartbeat (`--heartbeat`), and for Java workers how long a task takes to stop
  (`--stop`). With kcoord's workers the log shows how long stopping takes, also if one worker or one connector takes
  much longer. Policies that use weights are tried without weights.
- **A worker** is the same worker when it comes back with its instance id or url. A worker that has neither comes back
  as a different one.
- **The time when a worker died** is known to within a heartbeat interval if its session ended; to within the session
  timeout if it was back before that; and to within the outage if kcoord was away then. Each run draws a time from that
  range, so the spread includes it.
- **What you really ran** follows from the assignor's name and the delays in the log. If you have an assignor of your
  own, give `--was-policy`. If nothing ever waited, give `--was-delay`.
- **Quiet times are left out.** The history is cut where nothing happened for longer than every delay that is tried.
  Each piece begins with a fleet at rest, so it does not contain what a leader remembered from before. A piece lasts six
  hours at most.
- **Times without any worker do not count**, neither in a replay nor in the recorded log: no choice could have run
  anything then. A fleet that is gone for good costs nothing after its last worker has gone.
- **Counting ends with the log**, at the last record of any group. A gap that is still open counts until then.
- **If the log ends in the middle of something** (nobody has some task, or a rebalance is not over), nobody knows what
  came next, so every replay ends there too. **If it ends with a fleet at rest**, nothing more happened, however long
  ago that is. Then each replay goes on until it has come to rest. Otherwise a long delay would seem to cost nothing
  after the last record.
- **New configurations of the same tasks** are not in the log, so they are not replayed.
- **Placement rules** that the group had are not in the tables, so they are not replayed.

### When a replay and the log disagree

A replay of what you really ran must agree with the recorded log. Four figures are compared: the task-seconds in which
nobody could be running a task, the longest such time of one task, how many tasks were handed over, and how many epochs
began. The replays' side is taken from the replays' own logs, from the lowest to the highest seed. The recorded figure
may lie outside that range by a tenth of itself, and in addition by:

| figure | may differ by | because |
| --- | --- | --- |
| tasks had nobody | what one worker has, for two heartbeat intervals | it is known only to within one interval when a worker died, and to within another when other workers heard of it |
| one task had nobody for at most | two heartbeat intervals | the same |
| tasks handed over | what one worker has | no log says who had which tasks when a piece begins |
| epochs | 2 | two workers that come within a moment make one epoch or two |

These limits come from simulated fleets, whose figures are all known: within them, replays agree with the log. If a
figure is outside, `whatif` says which one, by how much, and in which pieces of the history. It then recommends nothing,
because what the replay saves is not what you would have saved. The usual reasons are:

- the delay, policy, session timeout or heartbeat interval was not what the log suggests: say it, with `--was-delay`
  and so on;
- kcoord was away for some time;
- clients do not do what Connect's clients do.

### With drains in place of stops

```
kcoord pipeline whatif --tables tables --out tries --restart drain
kcoord pipeline whatif --tables tables --out tries --restart drain --rules placement.toml
```

This shows what restarts would have cost if each worker that went had been [drained](placement.md) first: how long tasks
ran nowhere, the longest gap of one task, moves and rebalances, beside what you really ran. Each worker stays away for
as long as it did, and workers are drained one after the other.

The log does not say whether a worker whose session expired was killed for a restart, or crashed; and nobody can drain a
worker before it crashes. `--restart drain-stops` drains only the workers that said that they leave. The others die in
the replay too. The first line of the output says how many workers stopped cleanly, and how many died.

`--rules` replays the history with placement rules. The rules name connectors and urls as the history does. An instance
id or a member id in the rules matches nobody here. Drains and rules are tried with the delay that the group had, or
with each `--delay`, and shown beside what you really ran. They do not work in groups of Java workers that all join
together (`barrier`), so for such groups they are tried in kind `individual`.

## What you can rely on

- **The same log gives the same tables**, from a batch or a stream, from a topic or a file, however often you run it.
- **A stream** remembers in its checkpoint (`tables/checkpoint`) how far it has read. If it is killed, the batch that it
  had begun is written again and replaces the first try: no record is lost, and none is there twice. After each run the
  stream makes all other tables again from all records, which costs as much as a batch. If the log is long, give
  `--every` minutes, not seconds.
- **A directory belongs to a batch or to a stream**, not to both. A batch replaces everything. While it replaces a
  table, a reader finds the whole old table or the whole new one.
- **A record that cannot be read** goes to `quarantine`, with its place, its bytes and the reason. Nothing else waits
  for it.
- **The order of the log counts**, not the time. All records of a group are in one partition. If another instance takes
  over whose clock is behind, times may go back; a duration is then 0, never less. A record that was read twice is there
  once.
- **What one step of the coordinator wrote** is one event with one time. Steps in the same millisecond cannot be told
  apart.
- **Compaction** removes what newer records have replaced, after `history.retention.ms` (a day). For the time before
  that the tables say only what is left: `whole` is false if something may have begun earlier than the log says, and the
  audit checks no gaps and no installs there. Run the pipeline at least once in that time, or as a stream: what it has
  written stays.

## What the audit looks for

| finding | meaning |
| --- | --- |
| `double owner` | two members of the new protocol could be running one connector or task |
| `gap` | nobody could be running something that is configured, although the group is at rest: every member owns its target, no delay runs, the group waits for nobody who is away, and no placement rules say where work runs |
| `epoch back` | an epoch or a generation is lower than before |
| `bad install` | an assignment names something twice, or something that does not exist; or it leaves something out without a delay or placement rules; or it is of an epoch that has not begun |
| `misplaced` | a group is in a partition that its name does not belong to |

There should never be a finding. If there is one, kcoord has a bug, or somebody else wrote to the log. Pauses during a
handover and during a rebalance delay are not findings; they are in `gaps`.

## The tables

Some tables say `generic` or `legacy`, which are older words of the code: a generic group is a classic group, and a
legacy worker is a member that speaks the classic protocol in a connect group.

"""  # noqa: E501


def page() -> str:
    """The whole page."""
    return (HEAD + "".join(markdown()) + "".join(markdown((LAB, WHATIF)))).rstrip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
