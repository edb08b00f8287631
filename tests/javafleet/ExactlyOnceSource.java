package kcoord.fleet;

import java.util.Map;
import org.apache.kafka.connect.source.ExactlyOnceSupport;

/** The same, for workers that ask whether it bears transactions: those of Kafka 3.3 and later. */
public class ExactlyOnceSource extends NotingSource {
    @Override
    public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> props) {
        return ExactlyOnceSupport.SUPPORTED;
    }
}
