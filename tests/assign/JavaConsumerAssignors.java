import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Kafka's own assignors of consumer groups. Groups come as lines of JSON, targets go out as such;
 * tests/assign/java_consumer_assignors.py says both.
 */
public class JavaConsumerAssignors {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, ConsumerGroupPartitionAssignor> ASSIGNORS =
        Map.of("uniform", new UniformAssignor(), "range", new RangeAssignor());

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        JsonNode last = JSON.createObjectNode();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode order = JSON.readTree(line);
            last = assigned(order, order.has("targets") ? order.get("targets") : last);
            out.println(JSON.writeValueAsString(last));
        }
        out.flush();
    }

    private static JsonNode assigned(JsonNode order, JsonNode targets) {
        JsonNode topics = order.get("topics");
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        Set<Set<Uuid>> subscriptions = new HashSet<>();
        order.get("members").fields().forEachRemaining(member -> {
            Set<Uuid> subscribed = new HashSet<>();
            member.getValue().get("topics").forEach(topic -> {
                if (topics.has(topic.asText())) subscribed.add(id(topic.asText()));
            });
            subscriptions.add(subscribed);
            Map<Uuid, Set<Integer>> target = existing(targets.path(member.getKey()), topics);
            target.forEach((topic, partitions) -> partitions.forEach(partition ->
                owners.computeIfAbsent(topic, any -> new HashMap<>()).put(partition, member.getKey())));
            members.put(member.getKey(), new MemberSubscriptionAndAssignmentImpl(
                Optional.empty(), Optional.ofNullable(member.getValue().get("instance").textValue()), subscribed,
                new Assignment(target)));
        });
        SubscriptionType type =
            subscriptions.size() > 1 ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
        return told(ASSIGNORS.get(order.get("assignor").asText())
            .assign(new GroupSpecImpl(members, type, owners), new Describer(topics)));
    }

    /** A target without what does not exist: with partitions beyond a topic's number Kafka's classes fail. */
    private static Map<Uuid, Set<Integer>> existing(JsonNode target, JsonNode topics) {
        Map<Uuid, Set<Integer>> existing = new HashMap<>();
        target.fields().forEachRemaining(entry -> entry.getValue().forEach(partition -> {
            if (partition.asInt() < topics.path(entry.getKey()).asInt(0)) {
                existing.computeIfAbsent(id(entry.getKey()), any -> new HashSet<>()).add(partition.asInt());
            }
        }));
        return existing;
    }

    private static JsonNode told(GroupAssignment assignment) {
        ObjectNode told = JSON.createObjectNode();
        assignment.members().forEach((member, target) -> {
            ObjectNode topics = told.putObject(member);
            target.partitions().forEach((topic, partitions) -> {
                ArrayNode array = topics.putArray(Long.toString(topic.getLeastSignificantBits()));
                partitions.forEach(array::add);
            });
        });
        return told;
    }

    private static Uuid id(String topic) {
        return new Uuid(1, Long.parseLong(topic));
    }

    private record Describer(JsonNode topics) implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topic) {
            return topics.path(Long.toString(topic.getLeastSignificantBits())).asInt(-1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }
}
