"""The page `docs/pipeline.md`: `python -m kcoord.pipeline.page` prints it (`make docs`). The lists of columns come from
`schemas.py`.
"""

from kcoord.pipeline.schemas import LAB, WHATIF, markdown

HEAD = """\
<!-- Written by `python -m kcoord.pipeline.page`. Do not edit. -->
# The pipeline

What did your fleet do last week? Which rebalances stopped most, and would another policy or another delay have been
better? kcoord's [log](log.md) contains the answers: why each epoch began, what moved, and who could be running what.
That holds for Connect workers and for [consumers](#groups-of-consumers). The pipeline turns the log into tables, and
the tables into a [page to look at](#a-page-to-look-at) and into
[recommendations](#what-if-your-own-history-under-another-policy-another-delay).

The pipeline uses Apache Spark and writes Parquet files, or tables of [Delta Lake](#in-deltas-format). It runs on one machine, or [on a cluster](#on-a-cluster). You
need Java 17 or later.

```
pip install '.[spark]'                                                             # in a copy of kcoord's repository
kcoord pipeline history --out tables --data-dir data                               # a log in a file
kcoord pipeline history --out tables --log-bootstrap kafka-1:9092                  # a log in a topic
kcoord pipeline history --out tables --log-bootstrap kafka-1:9092 --stream         # only what is new since last time
kcoord pipeline history --out tables --config kcoord.toml --stream --every 60      # each minute, until Ctrl-C
```

You say where the log is in the same way as for `kcoord serve`: by flags, `-o`, the environment or `--config`. The
pipeline only reads, and reads only what is committed. So you can use it while kcoord runs.

- kcoord reads a topic by itself. For `--stream`, `--kafka-option`, Delta, a URI or a cluster, Spark downloads its module
  for Kafka from Maven Central (`org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0`). To use a mirror, give
  `--conf spark.jars.ivySettings=FILE`.
- The pipeline passes the passwords and PEM files of `log.sasl.*` and `log.ssl.*` on to Spark. If Kafka's Java client
  needs more, for Kerberos or OAuth, use `--kafka-option NAME=VALUE`.
- `--conf NAME=VALUE` sets any setting of Spark.
- Spark's own output goes to `spark.log` beside the tables.

You can query the tables with any program that reads Parquet. This DuckDB query shows the ten rebalances that stopped
the most connectors and tasks:

```sql
SELECT group_id, epoch, detail, stopped, returned, duration_ms
FROM 'tables/rebalances/*.parquet' ORDER BY stopped DESC LIMIT 10;
```

The files of `records` and `quarantine` are one folder deeper (`tables/records/*/*.parquet`), because a stream adds
files to these tables. In Spark, read them with `.option("recursiveFileLookup", "true")`.

## In Delta's format

`--format delta` writes tables of [Delta Lake](https://delta.io) instead. Each change of a table is one commit: readers
see the table before it or after it, never in between, also on S3. Earlier versions can be read.

```
kcoord pipeline history --out tables --format delta --log-bootstrap kafka-1:9092 --stream
kcoord pipeline report --tables tables --format delta
```

- Spark downloads Delta from Maven Central (`io.delta:delta-spark_2.13:4.0.0`).
- Tables that are made from `records` have one more column, `open`: whether more of the log can still change the row.
- A stream changes only rows that are open, and adds new ones (`MERGE`). Old files stay until you remove them with
  Delta's `VACUUM`.
- A directory has one format. Give `--format delta` to `report` and `whatif` too.

## On a cluster

`--master spark://host:7077` runs `history`, `lab` and `whatif` on a Spark cluster. kcoord takes itself along: the
executors get its package, and the packages that it needs there, from the machine where you start the command.

- The executors need the same minor version of Python as kcoord, with `pandas>=2.2,<3` and `pyarrow>=18`. Name their
  Python with `--conf spark.pyspark.python=/path/to/python`; otherwise it is the path of the Python that runs kcoord.
  kcoord looks at the executors first. If one lacks something, the command says what, and where.
- `--out` must be a place that all executors see: a URI such as `hdfs://…` or `s3a://…` (see
  [below](#on-another-file-system)), or a shared directory.
- A log in a topic is read by the executors, so they must reach Kafka. A log in a file is read by the command itself.
  It hands the rows to the executors, so they need not see the file.
- kcoord takes no compiled modules along if an executor has another platform than the command's machine (system,
  processor, kind of Python). Then `pydantic` must be installed there too.

**With `spark-submit`.** Spark's own command works too. Then its `--master` and `--packages` count; name Spark's module
for Kafka there if you use `--stream`, `--kafka-option` or a URI. If executors have another Python than kcoord, name
kcoord's for the driver (`--conf spark.pyspark.driver.python=…`).

```
spark-submit --master spark://host:7077 --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0 \\
    kcoord/__main__.py pipeline history --out /shared/tables --log-bootstrap kafka-1:9092 --stream
```

| master | command | tried |
| --- | --- | --- |
| standalone | `kcoord pipeline … --master spark://host:7077` | on clusters of Spark 4.0: all commands, executors and drivers that are killed |
| any, by `spark-submit` | as above | `local[…]`, and a standalone cluster in client mode; not `--deploy-mode cluster` |
| YARN | `HADOOP_CONF_DIR=… kcoord pipeline … --master yarn` | no |
| Kubernetes | `kcoord pipeline … --master k8s://https://host:6443 --conf spark.kubernetes.container.image=…` (an image with Python, pandas and pyarrow) | no |

## On another file system

`--out` can be a URI of any file system that Spark's Hadoop knows. HDFS needs nothing more. For S3, Spark fetches
Hadoop's module for it from Maven Central, once (560 MB). Its version must be that of Spark's Hadoop: 3.4.1 for Spark 4.0.

```
export HADOOP_USER_NAME=history
kcoord pipeline history --log-bootstrap kafka-1:9092 --out hdfs://namenode-1:8020/user/history/tables

export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_REGION=eu-central-1
kcoord pipeline history --log-bootstrap kafka-1:9092 --out s3a://my-bucket/tables \\
    --conf spark.jars.packages=org.apache.hadoop:hadoop-aws:3.4.1
```

- For a store that is not Amazon's, add `--conf spark.hadoop.fs.s3a.endpoint=https://store:9000`, and mostly
  `--conf spark.hadoop.fs.s3a.path.style.access=true`.
- Packages that you name in `spark.jars.packages` are added to those that kcoord needs itself.
- What is in Hadoop's own files, such as a name service of HDFS, is found by `HADOOP_CONF_DIR`.
- The command says at once that nothing answers, if `--out` or the endpoint names a host and a port. If a server accepts
  the connection and then says nothing, Hadoop waits for two minutes on HDFS, and for longer on S3. To shorten that for
  S3, set `spark.hadoop.fs.s3a.connection.timeout`, `….attempts.maximum` and `….retry.limit` by `--conf`.
- With `--stream`, the checkpoint is there too.
- S3 has no rename: Hadoop copies the files of a table, one after the other. If you read a table while it is being
  replaced, you may find it without some of its rows.
- Spark's own output goes to `spark.log` in a temporary directory of this machine.

This was tried, as a batch and as a stream, with HDFS 3.4.1 (also by a name service), and with S3Proxy 4.1 for S3's
protocol. Amazon's S3 and Kerberos were not tried.

## In a program or a notebook

With a session of Spark 4.0 or later, you need no files. All tables are DataFrames:

```python
from kcoord import pipeline

found = pipeline.tables(spark, {"bootstrap.servers": "kafka-1:9092"})      # or {"path": "data"}: a log in a file
found["rebalances"].orderBy("stopped", ascending=False).show()
```

The log itself is a source of Spark's, as a batch and as a stream:

```python
pipeline.register(spark)
log = spark.read.format("kcoord").option("bootstrap.servers", "kafka-1:9092").load()
new = spark.readStream.format("kcoord").option("bootstrap.servers", "kafka-1:9092").load()
```

- The source gives the columns of the table [`records`](#the-tables), and two of `quarantine`: `reason` (null if the
  record can be read) and `newer`.
- Its options are `bootstrap.servers` and `topic`, or `path`, and each of [kcoord's settings](configuration.md) that
  says how the log is reached, such as `log.sasl.username`.
- kcoord reads the topic by itself. The session does not need Spark's module for Kafka.
- A stream begins with the oldest record. It reads what is committed, and its checkpoint knows how far that was.
- On a [cluster](#on-a-cluster), executors must see the directory of a log in a file, and the files that settings name,
  such as `log.ssl.ca.location`.
- Rows are made when you ask for them. Spark keeps what it has derived from the log; `spark.catalog.clearCache()` lets
  go of it.

`examples/costly_workers.ipynb` asks in this way which worker costs most.

## A page to look at

```
kcoord pipeline report --tables tables --out report.html      # all groups, or --group my-connect
```

This writes one HTML file. Open it in a browser, or send it to somebody: it needs no server and no network. At the top
of the page is what [the audit](#what-the-audit-looks-for) has found. Then the page shows for each group:

- the last rebalance: why it happened, how long it took, what moved;
- the reasons for rebalances, and what each reason cost;
- who could be running what, and when;
- the latest and the worst rebalances, with what moved in each;
- the workers that caused the most rebalances;
- the longest gaps, in which something ran nowhere;
- the balance over time.

For groups of consumers the page speaks of consumers and partitions. A consumer is called by its instance id, or by its
client id and the last four characters of its member id, as in `kcoord groups describe`.

"Task-seconds nobody ran" (for consumers, "partition-seconds nobody consumed") is the sum of all gaps that began with a
rebalance, over connectors and tasks. When a static worker is absent, there is no rebalance. Its absence is a reason of
its own, `worker away` (`consumer away`).

**Outages.** The page lists the times in which kcoord was down or being restarted, and shades them on the time line.

- The reason of a gap during an outage is the outage (`coordinator away`), not the rebalance or the worker with which
  the gap began. The duration of a rebalance does not include the outage.
- When kcoord is back, workers that were there before may join again. Java workers come back with nothing, because they
  have stopped all their tasks. If nothing else happens in a rebalance within 15 s, its reason is the outage too, and
  not a worker. If something else happens, that is the reason, and not the workers that only came back.
- If a worker died during the outage, kcoord notices it a session timeout after it is back. For this time, the worker is
  the reason.
- The log does not show what workers stopped by themselves while kcoord was away, so the page does not count it.

[A log in a file](log.md#in-a-file) records outages of a second or more. A topic does not record them. But an instance
that has members writes at least once per lease, so if nobody wrote for longer, nobody coordinated. In this way, the
pipeline finds outages that were longer than the lease plus a second, as far back as a day (`history.retention.ms`).
Such an outage may look longer than it was, by less than a lease. Give `kcoord pipeline history` the same
`coordinator.lease.ms` as `kcoord serve`.

**Large fleets.** A browser cannot draw everything of a large fleet quickly. So the page shows at most 20 groups. Each
time line shows the 120 connectors and tasks that moved most often, and how much each worker had. The page says where it
leaves something out. `kcoord pipeline report` reads the tables from a directory on this machine into memory, without
Spark. If the history is long, make a page of only the groups that you need.

## Groups of consumers

The tables, the audit and the page know [consumer groups](consumer-groups.md) of the new protocol, and classic groups of
consumers. What connectors and tasks are to workers, partitions are to consumers: a topic's name is in the column
`connector`, the number of its partition in `task`, and partition 0 of `orders` is shown as `orders-0`. The column
`protocol_type` has `consumer` in all rows of such a group, `kind` says whether it was a consumer group or a classic one
in an epoch, and `speaks` says which protocol each member spoke:

| group | `kind` | `speaks` |
| --- | --- | --- |
| consumer group, consumer of the new protocol | `consumer` | `consumer` |
| consumer group, classic consumer | `consumer` | `legacy` |
| classic group | `generic` | `generic` |

This DuckDB query shows what the consumers of each group were without for longest:

```sql
SELECT group_id, connector AS topic, task AS "partition", duration_ms, reason
FROM 'tables/gaps/*.parquet' WHERE protocol_type = 'consumer' ORDER BY duration_ms DESC LIMIT 10;
```

- **A conversion** ends no incarnation. A classic group that becomes a consumer group begins an epoch of kind `consumer`
  with the reason `migrated from a classic group`. Its number is that of the generation before. The way back is an epoch
  of kind `generic` with the reason `all its consumers speak the classic protocol`. A member that stays has one row in
  `sessions`, and what it keeps has one row in `ownership`.
- **What must be consumed** (`configured`, `connectors`, `gaps`) is every partition of the topics that members subscribe
  to and that exist, also by a regular expression. In a classic group nobody says it.
- **A partition that a consumer must let go of** is still its own in `ownership`, until it has let go of it.
- **A static consumer that is away** consumes nothing, so its partitions have a gap with the reason `consumer away`.
  They are kept for it, so no rebalance gives them to others until its session ends.
- **A topic that is deleted and made again** is another topic under the same name. What members still had of the former
  one ends then.
- **In a classic group**, an eager consumer stops everything for each rebalance, so its `stopped` counts all partitions.
  A consumer group stops only what moves. So the tables show what a group saved when it moved to the new protocol.
- **Nothing is computed by members**: `computed_by` is null in a consumer group. No work waits, so `delay_ms` is null.
  Consumers have no url. The session timeout of a consumer of the new protocol is a setting of the coordinator and is
  not in the log.

[The lab](#which-policy-which-delay-the-lab) is for Connect workers only: its policies and delays are those of
connectors and tasks, and its simulated members start and stop tasks. For partitions it would prove nothing. What-if has
[questions of its own](#what-if-a-consumer-group-with-another-assignor-or-interval) for consumer groups. For a classic
group of consumers it has none, because the assignors are in the clients.

## Which policy, which delay: the lab

```
kcoord pipeline lab --out tries                                                # a thousand runs, in a minute or two
kcoord pipeline lab --out tries --scenario death --scenario ours.toml \\
    --kind connect --policy design-2 --policy kip-415 --delay 30 --delay 60 --delay 300 --seeds 20
```

The lab simulates scenarios with each policy and each delay that you name, several times with different latencies. It
shows which choice stops least, and which moves least. The scenarios are [those that come with kcoord](policies.md), or
[TOML files of your own](policies.md#a-scenario-of-yours). The lab reads no log.

Spark spreads the runs over all cores of this machine, or of a [cluster](#on-a-cluster). With twice as many cores, it
takes half the time. The table `lab` in the directory has
a row for every run. The same runs give the same table. This query shows which delay is best if each of the scenarios
happens once:

```sql
SELECT policy, delay, round(sum(stopped) / count(DISTINCT seed)) AS stopped,
       round(sum(moved) / count(DISTINCT seed)) AS moved, round(max(longest_gap)) AS longest_gap
FROM 'tries/lab/*.parquet' WHERE kind = 'connect' AND error IS NULL
GROUP BY policy, delay ORDER BY policy, stopped;
```

If the fleet does not come to rest before the first event of a scenario, the run has no figures, and its row says why.

You can also try different ways to restart workers, and [placement rules](placement.md):

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
| `--rules FILE` | tries the placement rules in FILE, which `kcoord placement apply` can read too. Rules name a worker by its url: `http://w0` and so on, or what the scenario's `urls` say |
| `--rules none` | tries it without placement rules |

In the output, `LONGEST GAP` is the longest time in which one task ran nowhere, and `STOPPED` is the sum of all such
times. Groups of kind `barrier` follow no rules, so the lab leaves them out if there are rules or drains.

## What if: your own history under another policy, another delay

```
kcoord pipeline whatif --tables tables --out tries                             # the only group, or --group my-connect
kcoord pipeline whatif --tables tables --out tries --delay 30 --delay 90 --start 8 --stop 3
```

`whatif` takes from the tables which workers came, went and died, and what was configured at which time. It simulates
this again (a *replay*): with the policy and delay that you really used, and with others, several times each with
different latencies. It shows:

- what each choice would have cost and saved, as a median and a spread;
- the recommended delay, and why;
- how well the replay of what you really used agrees with the log. If they disagree,
  [`whatif` recommends nothing](#when-a-replay-and-the-log-disagree).

The table `whatif` in the directory has every run. To understand the figures, you should know:

- **Some things are not in the log.** If you do not say them, `whatif` guesses: how long a task takes to start
  (`--start`, a second), how often workers send a heartbeat (`--heartbeat`), and for Java workers how long a task takes
  to stop (`--stop`). For kcoord's workers, the log shows how long stopping takes, also if it takes one worker or one
  connector much longer. Policies that use weights are tried without weights.
- **A worker that comes back** is the same worker if it has the same instance id or url. A worker that has neither comes
  back as a different one.
- **The time when a worker died** is not known exactly. If its session ended, it is known to within a heartbeat
  interval. If the worker was back before that, it is known to within the session timeout. If kcoord was away then, it
  is known to within the outage. Each run draws a time from that range, so the spread includes it.
- **What you really used** follows from the name of the assignor and the delays in the log. If you have an assignor of
  your own, use `--was-policy`. If nothing ever waited, use `--was-delay`.
- **Quiet times are left out.** The history is cut into pieces where nothing happened for longer than every delay that
  is tried. A piece lasts six hours at most. Each piece begins with a fleet at rest, so it does not contain what a
  leader remembered from before.
- **Times without any worker do not count**, neither in a replay nor in the log: no choice could have run anything then.
  If the whole fleet goes for good, nothing counts after its last worker has gone.
- **Counting ends with the log**, at the last record of any group. A gap that is still open counts until then.
- **The end of the log.** If the log ends in the middle of something (nobody has some task, or a rebalance is not over),
  nobody knows what came next, so every replay ends there too. If it ends with a fleet at rest, nothing more happened,
  however long ago that is. Then each replay continues until it has come to rest. Otherwise a long delay would seem to
  cost nothing after the last record.
- **New configurations of the same tasks** are not in the log, so they are not replayed.
- **Placement rules** that the group had are not in the tables, so they are not replayed.

### When a replay and the log disagree

A replay of what you really used must agree with the log. `whatif` compares four figures: the task-seconds in which
nobody could be running a task, the longest such time of one task, how many tasks were handed over, and how many epochs
began. It takes each figure from the logs of the replays, and gets a range from the lowest to the highest seed. The
figure in the real log may be outside that range by a tenth of itself, and in addition by:

| figure | in addition | because |
| --- | --- | --- |
| tasks had nobody | what one worker has, for two heartbeat intervals | the time when a worker died is known only to within one interval, and the time when the others heard of it to within another |
| one task had nobody for at most | two heartbeat intervals | the same |
| tasks handed over | what one worker has | no log says who had which tasks when a piece begins |
| epochs | 2 | two workers that come within a moment make one epoch or two |

These limits come from simulated fleets, of which everything is known: their replays agree with their logs within these
limits. If a figure is outside, `whatif` says which one, by how much, and in which pieces of the history. It then
recommends nothing, because what another choice saves in the replay is not what you would have saved. The usual reasons
are:

- The delay, policy, session timeout or heartbeat interval was not what the log suggests. Say what it was, with
  `--was-delay` and so on.
- kcoord was away for some time.
- The clients do not behave like Connect's clients.

### With drains in place of stops

```
kcoord pipeline whatif --tables tables --out tries --restart drain
kcoord pipeline whatif --tables tables --out tries --restart drain --rules placement.toml
```

This shows what restarts would have cost if each worker had been [drained](placement.md) before it went: how long tasks
ran nowhere, the longest gap of one task, moves and rebalances. Beside it is what you really used. Each worker stays
away for as long as it did, and workers are drained one after the other.

If the session of a worker expired, the log does not say whether somebody killed it for a restart, or whether it
crashed. Nobody can drain a worker before it crashes. `--restart drain-stops` drains only the workers that said that
they leave. The others die in the replay too. The first line of the output says how many workers stopped cleanly, and
how many died.

`--rules` replays the history with placement rules. The rules must name connectors and urls as they are in the history.
An instance id or a member id in the rules matches nobody here. Drains and rules are tried with the delay that the group
had, or with each `--delay`. They do not work in groups of Java workers that all rejoin together (`barrier`), so for
such groups they are tried in kind `individual`.

## What if: a consumer group with another assignor or interval

```
kcoord pipeline whatif --tables tables --group billing                         # all assignors and usual intervals
kcoord pipeline whatif --tables tables --group billing --assignor uniform --interval 0 --interval 3
```

For a consumer group, `whatif` takes from the records who subscribed to what at which time, which topics there were, and
when the group epoch moved. It makes all assignments again: by each [assignor](assignors.md), and with each
[assignment interval](consumer-groups.md#many-consumers-that-start-at-once). Beside them is what was recorded:

| column | meaning |
| --- | --- |
| `ASSIGNMENTS` | how many assignments were made |
| `HANDED OVER` | how many partitions a consumer that stayed had to let go of for another one |
| `TAKEN UP` | how many partitions that nobody had were given to a consumer |
| `UNASSIGNED` | how long partitions were assigned to nobody while there were consumers, summed over partitions |

The choice with the fewest partitions handed over comes first. A longer interval makes fewer assignments and hands over
less, but what a lost consumer had waits longer. You have to decide what costs you more, so nothing is recommended.

- Nothing is simulated, so there are no seeds, no Spark and no table: assignors are exact, and the same history gives
  the same figures. How long consumers take to let go of partitions is not counted. The page has that, as it was.
- **The check.** `whatif` also makes each recorded assignment again, by the assignor that made it. If one is different,
  it says when, and that the figures prove nothing. Then another version of kcoord made the assignment, or the log is
  damaged.
- A choice begins with an empty group, with what the members of a classic group were told when it became a consumer
  group, or, if compaction has removed the beginning, with the targets at the time from which nothing is missing.
- What followed from the recorded assignments is as it was. A consumer that was lost because it let go too slowly is
  lost in each choice.

## What you can rely on

- **The same log gives the same tables**, from a batch or a stream, from a topic or a file, however often you run it.
- **A stream** (`--stream`) remembers in its checkpoint (`tables/checkpoint`) how far it has read. If it is killed, it
  later writes the unfinished batch again, in place of the first try: no record is lost, and none is there twice. The
  other tables go on where they were: the stream keeps what it knows of each partition (`tables/followed`) and follows
  only new records. It follows all records again after an update of kcoord, when the number of the log's partitions
  has changed, and if it was killed while it wrote these tables.
- **What a stream writes.** In Parquet, a table that gets new rows is copied, and its new rows are added to the copy. If
  the history is long, use minutes for `--every`, not seconds, or [Delta](#in-deltas-format), which adds in place.
- **A directory belongs to a batch or to a stream**, not to both. A batch replaces everything.
- **A reader finds a whole table**, the old one or the new one. Between the two renames that replace a table of Parquet
  files there is a moment in which it finds none. If the command is killed just then, the next run brings the old table
  back. On S3 a rename is a copy, so that moment is long: use Delta there.
- **A record that cannot be read** goes to `quarantine`, with its place, its bytes and the reason. Everything else
  continues.
- **The order of the log counts**, not the time. All records of a group are in one partition. If another instance takes
  over and its clock is behind, times may go back. A duration is then 0, never less. A record that was read twice is in
  the table once.
- **What the coordinator wrote in one step** is one event with one time. Steps in the same millisecond cannot be
  distinguished.
- **Compaction** removes what newer records have replaced, after `history.retention.ms` (a day). For the time before
  that, the tables say only what is left. If something may have begun earlier than the log says, `whole` is false, and
  the audit checks no gaps and no assignments there. So run the pipeline at least once a day, or as a stream: what it
  has written stays.

## What the audit looks for

| finding | meaning |
| --- | --- |
| `double owner` | two members of the new protocol could be running one connector or task, or two members of a consumer group could be consuming one partition |
| `gap` | something is configured or subscribed to, but nobody could be running it, although the group is at rest: every member owns its target, no delay runs, the group waits for no absent member, it has no classic members, and it has no placement rules |
| `epoch back` | an epoch or a generation is lower than before |
| `bad install` | an assignment names something twice, or something that does not exist; or it leaves something out, without a delay or placement rules; or it belongs to an epoch that has not begun |
| `misplaced` | a group is in another partition than the one to which its name hashes |

The audit should never find anything. If it does, kcoord has a bug, or something else has written to the log. Pauses
during a hand-over and during a rebalance delay are normal; they are in the table `gaps`.

## The tables

Some tables use older words of the code. A `generic` group is a classic group. A `legacy` member is one of a
connect group or consumer group that speaks the classic protocol.

"""  # noqa: E501


def page() -> str:
    """The whole page."""
    return (HEAD + "".join(markdown()) + "".join(markdown((LAB, WHATIF)))).rstrip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
