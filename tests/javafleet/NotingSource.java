package kcoord.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/**
 * A connector that notes in a file when it and its tasks are started and stopped, on which worker and with which
 * version of its configuration; tests/javafleet/notes.py reads that. With a topic each task writes numbers into it,
 * 0, 1, 2, ..., and goes on where its source offset says.
 */
public class NotingSource extends SourceConnector {
    static final String NUMBER = "number";
    private static final long PACE_MS = 100;

    private Map<String, String> config;

    @Override
    public void start(Map<String, String> props) {
        config = props;
        note("started", props, "connector " + props.get("name"));
    }

    @Override
    public Class<? extends Task> taskClass() {
        return Boolean.parseBoolean(config.get("absent")) ? Absent.class : Numbering.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int most) {
        return numbered(config, most);
    }

    @Override
    public void stop() {
        note("stopped", config, "connector " + config.get("name"));
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef()
            .define("notes", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "The file.")
            .define("version", ConfigDef.Type.STRING, "1", ConfigDef.Importance.LOW, "Told in the file.")
            .define("stop.ms", ConfigDef.Type.LONG, 0, ConfigDef.Importance.LOW, "How long a task takes to stop.")
            .define("absent", ConfigDef.Type.BOOLEAN, false, ConfigDef.Importance.LOW, "Whether tasks fail at once.")
            .define("topic", ConfigDef.Type.STRING, "", ConfigDef.Importance.LOW, "Where tasks write, if anywhere.");
    }

    @Override
    public String version() {
        return "1";
    }

    static List<Map<String, String>> numbered(Map<String, String> config, int most) {
        List<Map<String, String>> configs = new ArrayList<>();
        for (int number = 0; number < most; number++) {
            Map<String, String> each = new HashMap<>(config);
            each.put(NUMBER, String.valueOf(number));
            configs.add(each);
        }
        return configs;
    }

    static void note(String what, Map<String, String> props, String resource) {
        String line = String.join(" ", String.valueOf(System.currentTimeMillis()), what, resource, "on",
            System.getProperty("kcoord.worker"), "with", props.getOrDefault("version", "1")) + "\n";
        try {
            Files.write(Path.of(props.get("notes")), line.getBytes(StandardCharsets.UTF_8),
                StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** A task that is assigned like any other, and fails before it costs its worker a producer and a thread. */
    public static class Absent extends Numbering {
        public Absent() {
            throw new ConnectException("this task is only assigned, and never runs");
        }
    }

    /** One task. */
    public static class Numbering extends SourceTask {
        private Map<String, String> config;
        private String name;
        private long next;

        @Override
        public void start(Map<String, String> props) {
            config = props;
            name = props.get("name") + "-" + props.get(NUMBER);
            note("started", config, "task " + name);
            if (writes()) {
                Map<String, Object> offset = context.offsetStorageReader().offset(partition());
                next = offset == null ? 0 : (Long) offset.get("next");
            }
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            Thread.sleep(PACE_MS);
            if (!writes()) {
                return null;
            }
            String value = name + ":" + next++;
            return List.of(new SourceRecord(partition(), Map.of("next", next), config.get("topic"), 0,
                Schema.STRING_SCHEMA, name, Schema.STRING_SCHEMA, value));
        }

        @Override
        public void stop() {
            if (config == null) {
                return; // was never started
            }
            try {
                Thread.sleep(Long.parseLong(config.getOrDefault("stop.ms", "0")));
            } catch (InterruptedException hurry) {
                Thread.currentThread().interrupt();
            }
            note("stopped", config, "task " + name);
        }

        @Override
        public String version() {
            return "1";
        }

        private boolean writes() {
            return !config.getOrDefault("topic", "").isEmpty();
        }

        private Map<String, String> partition() {
            return Map.of("task", name);
        }
    }
}
