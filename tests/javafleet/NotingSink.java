package kcoord.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/**
 * A connector that notes its starts and stops as NotingSource does. Its tasks write the value of each record that they
 * get into another file, a line each.
 */
public class NotingSink extends SinkConnector {
    private Map<String, String> config;

    @Override
    public void start(Map<String, String> props) {
        config = props;
        NotingSource.note("started", props, "connector " + props.get("name"));
    }

    @Override
    public Class<? extends Task> taskClass() {
        return Receiving.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int most) {
        return NotingSource.numbered(config, most);
    }

    @Override
    public void stop() {
        NotingSource.note("stopped", config, "connector " + config.get("name"));
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef()
            .define("notes", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "The file of starts and stops.")
            .define("received", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "The file of values.")
            .define("version", ConfigDef.Type.STRING, "1", ConfigDef.Importance.LOW, "Told in the file.");
    }

    @Override
    public String version() {
        return "1";
    }

    /** One task. */
    public static class Receiving extends SinkTask {
        private Map<String, String> config;

        @Override
        public void start(Map<String, String> props) {
            config = props;
            NotingSource.note("started", config, "task " + name());
        }

        @Override
        public void put(Collection<SinkRecord> records) {
            StringBuilder lines = new StringBuilder();
            for (SinkRecord each : records) {
                lines.append(each.value()).append('\n');
            }
            try {
                Files.write(Path.of(config.get("received")), lines.toString().getBytes(StandardCharsets.UTF_8),
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }

        @Override
        public void stop() {
            if (config != null) {
                NotingSource.note("stopped", config, "task " + name());
            }
        }

        @Override
        public String version() {
            return "1";
        }

        private String name() {
            return config.get("name") + "-" + config.get(NotingSource.NUMBER);
        }
    }
}
