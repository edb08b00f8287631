import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Notes each record that it has processed, and when that is committed; or copies records in transactions. SIGTERM ends
 * it in order. Arguments: bootstrap servers, group, topic, the topic to copy to or "-", its own name, and more settings
 * of the consumer as name=value.
 */
public class CountingConsumer {
    private static final Duration POLL = Duration.ofMillis(100);

    private static volatile boolean stops = false;
    private static KafkaConsumer<String, String> consumer;
    private static boolean commitsItself;
    private static boolean owesCommit = false;

    public static void main(String[] arguments) throws Exception {
        String topic = arguments[2], target = arguments[3], name = arguments[4];
        Properties config = new Properties();
        config.put("bootstrap.servers", arguments[0]);
        config.put("group.id", arguments[1]);
        config.put("client.id", name);
        config.put("auto.offset.reset", "earliest");
        config.put("isolation.level", "read_committed");
        config.put("enable.auto.commit", "false");
        config.put("session.timeout.ms", "30000");
        config.put("heartbeat.interval.ms", "500");
        config.put("metadata.max.age.ms", "2000");
        config.put("reconnect.backoff.max.ms", "500");
        for (int at = 5; at < arguments.length; at++) {
            String[] setting = arguments[at].split("=", 2);
            config.put(setting[0], setting[1]);
        }
        if (config.getProperty("group.protocol", "").equals("consumer")) { // the server decides about these then
            config.keySet().removeAll(java.util.Set.of("session.timeout.ms", "heartbeat.interval.ms"));
        }
        commitsItself = !Boolean.parseBoolean(config.getProperty("enable.auto.commit"));
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stops = true;
            try {
                ended.await();
            } catch (InterruptedException interrupted) {
                say("interrupted");
            }
        }));
        try {
            consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
            if (topic.startsWith("^")) { // a regular expression that the server resolves
                consumer.subscribe(new SubscriptionPattern(topic.substring(1)), new Noting());
            } else {
                consumer.subscribe(java.util.List.of(topic), new Noting());
            }
            if (target.equals("-")) {
                consume();
            } else {
                copy(config, target, name);
            }
            consumer.close();
            say("closed");
        } catch (Throwable failed) {
            failed.printStackTrace();
        } finally {
            ended.countDown();
        }
    }

    private static void consume() {
        while (!stops) {
            ConsumerRecords<String, String> records = consumer.poll(POLL);
            for (ConsumerRecord<String, String> each : records) {
                say("read " + each.value());
            }
            owesCommit |= !records.isEmpty();
            commit();
        }
        commit();
    }

    private static void commit() {
        if (!owesCommit || !commitsItself) {
            return;
        }
        try {
            consumer.commitSync();
            owesCommit = false;
            say("committed");
        } catch (RebalanceInProgressException rebalance) { // to be done again after the next poll
            say("later");
        }
    }

    private static void copy(Properties consumers, String target, String name) {
        Properties config = new Properties();
        consumers.forEach((key, value) -> {
            if (key.toString().matches("bootstrap\\.servers|(security|sasl|ssl)\\..*")) {
                config.put(key, value);
            }
        });
        config.put("client.id", name);
        config.put("transactional.id", name);
        KafkaProducer<String, String> producer =
            new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        while (!stops) {
            ConsumerRecords<String, String> records = consumer.poll(POLL);
            if (!records.isEmpty()) {
                copy(producer, records, target);
            }
        }
        producer.close();
    }

    private static void copy(
        KafkaProducer<String, String> producer, ConsumerRecords<String, String> records, String target
    ) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        producer.beginTransaction();
        try {
            for (ConsumerRecord<String, String> each : records) {
                producer.send(new ProducerRecord<>(target, each.value()));
                offsets.put(
                    new TopicPartition(each.topic(), each.partition()), new OffsetAndMetadata(each.offset() + 1));
            }
            producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
            producer.commitTransaction();
        } catch (ProducerFencedException | FencedInstanceIdException fenced) {
            throw fenced;
        } catch (KafkaException failed) { // the usual answer: what was written counts for nothing, and is read again
            say("aborted " + failed.getMessage());
            producer.abortTransaction();
            Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(consumer.assignment());
            for (TopicPartition each : consumer.assignment()) {
                OffsetAndMetadata offset = committed.get(each);
                if (offset == null) {
                    consumer.seekToBeginning(java.util.List.of(each));
                } else {
                    consumer.seek(each, offset);
                }
            }
            return;
        }
        for (ConsumerRecord<String, String> each : records) {
            say("read " + each.value());
        }
        say("committed");
    }

    private static void say(String line) {
        System.out.println(line);
    }

    private static class Noting implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            say("assigned " + consumer.groupMetadata().generationId() + " " + consumer.groupMetadata().memberId());
            has(consumer.assignment());
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            commit();
            say("revoked " + partitions.size());
            has(without(partitions));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            say("lost " + partitions.size());
            has(without(partitions));
        }

        private static java.util.Set<TopicPartition> without(Collection<TopicPartition> partitions) {
            java.util.Set<TopicPartition> left = new java.util.HashSet<>(consumer.assignment());
            left.removeAll(partitions);
            return left;
        }

        private static void has(Collection<TopicPartition> partitions) {
            say("has " + String.join(" ", partitions.stream().map(TopicPartition::toString).sorted().toList()));
        }
    }
}
