"""What does `docs/pipeline.md` say? `python -m kcoord.pipeline.page` prints it (`make docs`); the lists of columns are
made of `tables.py`.
"""

from kcoord.pipeline.tables import LAB, WHATIF, markdown

HEAD = """\
<!-- Written by `python -m kcoord.pipeline.page`. Do not edit. -->
# The pipeline

[The log](log.md) holds more than the present: why each epoch began, what moved, who could be running what. The pipeline
makes tables of it, in Parquet files, by Apache Spark: on one machine as it is, on a cluster with `--master`.

```
pip install '.[spark]'                                                             # and Java 17 or later
kcoord pipeline history --out tables --data-dir data                               # of the log in a file
kcoord pipeline history --out tables --log-bootstrap kafka-1:9092                  # of the log in a topic
kcoord pipeline history --out tables --log-bootstrap kafka-1:9092 --stream         # what is new since the last time
kcoord pipeline history --out tables --config kcoord.toml --stream --every 60      # again each minute, until Ctrl-C
```

The log is named as for `kcoord serve`: by flags, `-o`, the environment or `--config`. It is only read, and only what is
committed; kcoord may run beside it. Spark's source for Kafka is fetched from Maven Central at the first run
(`org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0`); `--conf spark.jars.ivySettings=FILE` names a mirror. Passwords and
PEM files of `log.sasl.*` and `log.ssl.*` are handed on to Spark; what Kafka's Java client needs besides, for Kerberos or
OAuth, is given by `--kafka-option NAME=VALUE`. `--conf NAME=VALUE` is any setting of Spark. What Spark itself prints is
in `spark.log` beside the tables.

What is in the tables can be asked with whatever reads Parquet. The ten rebalances that stopped most, with DuckDB:

```sql
SELECT group_id, epoch, detail, stopped, returned, duration_ms
FROM 'tables/rebalances/*.parquet' ORDER BY stopped DESC LIMIT 10;
```

`records` and `quarantine` lie one folder deeper (`tables/records/*/*.parquet`), because a stream adds to them; for Spark
that is `.option("recursiveFileLookup", "true")`.

## A page to look at

```
kcoord pipeline report --tables tables --out report.html      # all groups, or --group my-connect
```

One HTML file, to open in a browser or to send to somebody: it needs no server and no network. Of each group it tells first
of the last rebalance: why it was, how long it took, what moved. Then for which reasons it rebalanced and what each of them
cost, who could be running what and when, the latest and the worst rebalances with what moved in each, the workers that
caused most, the longest gaps, the balance over time; and above all that, what the audit has found. "Task-seconds nobody
ran" are the gaps that began with a rebalance, summed over connectors and tasks; a static worker's absence, by which no
rebalance begins, is a reason of its own, `worker away`.

Times in which kcoord was down or being restarted are shown where they were, in a list, and shaded on the time line. What
nobody ran in them is booked to them (`coordinator away`), and not to the rebalance or the worker by which it had begun;
and the time until a rebalance is at rest does not include them. When kcoord is back, workers that were there before may
join again, Java's with nothing, because they stopped all that they ran. Rebalances in which nothing else happens, within
15 s, are the outage's, and no worker's. Where something else happens too, that counts, and whoever only came back has
caused nothing. A worker that died meanwhile is known to be gone only a session after kcoord is back; that is booked to
it. What workers stopped by themselves while kcoord was away is in no log, so it is not counted.

[A log in a file](log.md#in-a-file) tells of outages of a second or more. A log in a topic tells of those that were longer
than the lease (`coordinator.lease.ms`, give it to `kcoord pipeline history` as to `kcoord serve`) and a second, for a day
(`history.retention.ms`): there an instance that has members writes at least once a lease, and where nobody did, nobody
coordinated. Such an outage may seem longer than it was, by less than a lease.

Of a large fleet there is more than a browser draws in a moment: then 20 groups are shown, on the time line of each the 120
connectors and tasks that changed hands most, and how much each worker had. The page says where it leaves something out. It
is made of the tables in a directory of this machine, without Spark, and in memory: of a long history make one of the groups
in question.

## Which policy, which delay: the lab

```
kcoord pipeline lab --out tries                                                # a thousand runs, in a minute or two
kcoord pipeline lab --out tries --scenario death --scenario ours.toml \\
    --kind connect --policy design-2 --policy kip-415 --delay 30 --delay 60 --delay 300 --seeds 20
```

The lab simulates scenarios, those [that come with kcoord](policies.md) or your own in TOML, under every policy and delay
that is asked for, some times each with other latencies, and shows which stops least and which moves least. It reads no
log. Spark spreads the runs over all cores, of this machine or by `--master` of a cluster (where kcoord is to be installed
on the workers too); twice as many cores take half the time. The table `lab` in the directory has a row for every run; the
same runs give the same table. Which delay, if each of the scenarios happened once:

```sql
SELECT policy, delay, round(sum(stopped) / count(DISTINCT seed)) AS stopped,
       round(sum(moved) / count(DISTINCT seed)) AS moved, round(max(longest_gap)) AS longest_gap
FROM 'tries/lab/*.parquet' WHERE kind = 'connect' AND error IS NULL
GROUP BY policy, delay ORDER BY policy, stopped;
```

A scenario before whose first event a fleet does not come to rest has no figures, and a row with the reason.

You can also vary how workers are restarted, and where work may run:

```
kcoord pipeline lab --out tries --scenario bounce --policy kip-415 \\
    --restart drain --restart stop --restart kill                              # how workers go
kcoord pipeline lab --out tries --scenario ours.toml --rules none --rules placement.toml
```

With `--restart drain` each worker that a scenario stops or kills is [drained](placement.md) first, and stopped; with
`drain-stops` only those that it stops, since nobody can drain a worker that crashes. With `stop` or `kill` all that go do
so like this. `--rules` names a file as `kcoord placement apply` reads it, or `none`; rules know a worker by its url, which
is `http://w0` and so on, or what the scenario's `urls` say. `LONGEST GAP` is the longest time in which one task ran nowhere, `STOPPED` the sum of all such
times. Groups of kind `barrier` follow no rules and are left out.

## What if: your own history under another policy, another delay

```
kcoord pipeline whatif --tables tables --out tries                             # of the only group, or --group my-connect
kcoord pipeline whatif --tables tables --out tries --delay 30 --delay 90 --start 8 --stop 3
```

The workers that came, went and died, and what was configured when, as the tables say, are simulated again: under what was
really run, and under other policies and delays, each some times with other latencies. Shown is what each choice would have
cost and saved, the median and the spread; the delay that is recommended, and why; and how true the replay of what was
really run is, by what its own log says beside the recorded one. Where they disagree
[nothing is recommended](#when-a-replay-and-the-log-disagree). The table `whatif` in the directory has every run.

- **What no log says has to be said**, or is guessed: how long a task takes to start (`--start`, a second), how often
  workers heartbeat (`--heartbeat`), and in groups of Java's workers how long a task takes to stop (`--stop`). With workers
  of ours stopping is seen, also that one worker or one connector takes much longer. Policies by weight are tried without
  weights.
- **A worker** is the same one when it comes back by its instance id or url. Who has neither comes back as somebody else.
- **When a worker died** is known to within a heartbeat interval, where its session ended; where it was back before, to
  within the session timeout; where kcoord was away then, to within that time. Each run draws a time in there, so the
  spread has that in it.
- **What was really run** is told by the assignor's name and the delays in the log; with an assignor of your own say
  `--was-policy`, and where nothing ever waited, `--was-delay`.
- **Quiet times are left out**: a history is cut where nothing happened for longer than any delay that is tried. Each piece
  begins with a fleet at rest, so what a leader remembered from before it is not in it. A piece is six hours at most.
- **While no worker is there nothing is counted**, neither in a replay nor in the recorded log: whatever you choose, nothing
  could run then. A fleet that is gone for good costs nothing from its last worker's end on.
- **What is counted ends with the log**, with its last record of any group. A gap that is open then is counted until then.
- **Where the log ends in the middle of something** (a task has nobody, or a rebalance is not over), nobody knows what came
  then: every replay ends there too. **Where it ends with a fleet at rest**, nothing more happened, however long ago that
  is: the replays go on until each choice has come to rest, so that a long delay does not seem to cost nothing after the
  last record.
- **New configurations for the same tasks** are not in the log, and are not played again.
- **Placement rules** that the group had are not in the tables, and are not played again.

### When a replay and the log disagree

A replay of what was really run has to say what the recorded log says. Compared are the task-seconds in which nobody could
be running a task, the longest such time of one task, how many tasks were handed over, and how many epochs began: in the
replays' own logs, from the lowest to the highest seed, and in the recorded log. Beside the replays' spread the recorded
figure may be a tenth of itself, and besides:

| figure | may differ by | because |
| --- | --- | --- |
| tasks had nobody | what one worker has, for two heartbeat intervals | when a worker died is known to within one, and when others hear of it, too |
| one task had nobody for at most | two heartbeat intervals | the same |
| tasks handed over | what one worker has | no log says which tasks were whose when a piece begins |
| epochs | 2 | two workers that come within a moment make one or two |

These are the limits within which replays of simulated fleets, whose every figure is known, agree with their logs. Where a
figure is beyond them, `whatif` says which, by how much, and in which pieces of the history, and recommends nothing: what a
replay would have saved is then not what you would have saved. The reasons are mostly a delay, policy, session timeout or
heartbeat interval that was another than the log suggests (say it, by `--was-delay` and so on), a time in which kcoord was
away, or clients that do not do what Connect's do.

### With drains in place of stops and kills

```
kcoord pipeline whatif --tables tables --out tries --restart drain
kcoord pipeline whatif --tables tables --out tries --restart drain --rules placement.toml
```

This shows what restarts would have cost if each worker that went had been [drained](placement.md) first: for how long
tasks ran nowhere, the longest gap of one task, moves and rebalances, beside what was really run. A worker stays away for
as long as it did, and workers are drained one after the other.

The log does not say whether a worker whose session expired was killed to be restarted, or crashed; and nobody can drain a
worker before it crashes. `--restart drain-stops` drains only those that said that they leave; the others die in the
replay too. The first line says how many workers stopped in order, and how many died.

`--rules` plays the history again with placement rules. They name connectors and urls as the history does; an instance id
or a member id in them means nobody here. Drains and rules are tried beside what was really run, with the delay that it
had, or with each `--delay`. They cannot hold in groups of Java's workers that join together (`barrier`), so for these
they are tried in kind `individual`.

## What can be relied on

- **The same log gives the same tables**, from a batch or a stream, from a topic or a file, however often it is run.
- **A stream** knows by its checkpoint (`tables/checkpoint`) how far it was. When it is killed, a batch that was begun is
  written again in the place of the first try: no record is lost, none is there twice. All other tables are made anew of all
  records after each run, which costs as much as a batch; give `--every` minutes, not seconds, where the log is long.
- **A directory is either a batch's or a stream's.** A batch replaces all; a table that is replaced is there whole, the old
  one or the new one.
- **A record that cannot be read** goes to `quarantine`, with its place, its bytes and the reason. Nothing else waits for
  it.
- **The order of the log counts**, not the time: a group's records are all in one partition. Where another instance took
  over whose clock is late, times may go back; then a duration is 0, never less. What was read twice is there once.
- **What one step wrote** is seen as one, with one time. Steps of the same millisecond are not told apart.
- **Compaction** takes what newer records have replaced, after `history.retention.ms` (a day). Before its point a table
  tells only what is left: `whole` is false where something may have begun earlier than the log says, and the audit judges no
  gap and no install there. Run the pipeline at least once in that time, or as a stream: what it has written stays.

## What the audit looks for

| finding | what it is |
| --- | --- |
| `double owner` | two members of the new protocol could be running one connector or task |
| `gap` | nobody could be running something that is configured, although the group is at rest: every member owns its target, no delay runs, and it waits for nobody who is away |
| `epoch back` | an epoch or a generation is lower than before |
| `bad install` | an assignment names something twice, or something that does not exist, or leaves something out without a delay or placement rules, or is of an epoch that has not begun |
| `misplaced` | a group is in a partition that its name does not belong to |

None of them should ever be there: one that is, is a fault of kcoord's, or somebody else wrote to the log. The pauses that
a handover takes, and those of a rebalance delay, are no findings: they are in `gaps`.

## The tables

"""  # noqa: E501


def page() -> str:
    """The whole page."""
    return (HEAD + "".join(markdown()) + "".join(markdown((LAB, WHATIF)))).rstrip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
