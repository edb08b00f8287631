#!/usr/bin/env bash
# How does a container of this image become a Connect worker? As with apache/kafka: this script, and a properties file.
#
# KAFKA_HEAP_OPTS and KAFKA_OPTS are options of the JVM.
set -euo pipefail

[ $# = 1 ] || { echo "usage: ${0##*/} FILE.properties" >&2; exit 2; }

# bash sorts the jars: an archive of classes is good for exactly one class path
classpath=$(printf '%s:' /opt/kafka/libs/*.jar)
sharing=()
if [ -e /opt/kafka/kafka.jsa ]; then
    sharing=(-XX:SharedArchiveFile=/opt/kafka/kafka.jsa -Xlog:cds=off -Xlog:cds+dynamic=off)
fi

# Options are words in one variable, as the scripts of Kafka have them.
read -ra options <<<"${KAFKA_HEAP_OPTS--Xmx1g} ${KAFKA_OPTS-}"

# The JVM takes this process over, so that it gets the signals of `docker stop`.
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "${sharing[@]}" "${options[@]}" -Djava.awt.headless=true \
    -Dorg.slf4j.simpleLogger.showDateTime=true -Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS \
    -cp "$classpath" org.apache.kafka.connect.cli.ConnectDistributed "$1"
