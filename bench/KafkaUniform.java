// How long does Apache Kafka's own uniform assignor take? Run as a single file on Kafka's jars.
//
// Arguments: members, topics, partitions a topic, rounds. Prints, in ns of the thread's CPU time, a line "first <ns> ..." for assignments to
// members that have nothing, and "more <ns> ..." for those to the same members and another one. Nothing is warmed up: the first figure is
// that of code that has never run, the last ones are those of compiled code.

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

public class KafkaUniform {
    private static final UniformAssignor ASSIGNOR = new UniformAssignor();

    public static void main(String[] arguments) {
        int members = Integer.parseInt(arguments[0]);
        int topics = Integer.parseInt(arguments[1]);
        Describer describer = new Describer(Integer.parseInt(arguments[2]));
        Set<Uuid> subscribed = IntStream.range(0, topics).mapToObj(at -> new Uuid(1, at)).collect(Collectors.toSet());
        GroupSpecImpl empty = group(members, subscribed, Map.of());
        int rounds = Integer.parseInt(arguments[3]);
        print("first", empty, describer, rounds);
        GroupSpecImpl joined = group(members + 1, subscribed, targets(ASSIGNOR.assign(empty, describer)));
        print("more", joined, describer, rounds);
    }

    private static void print(String what, GroupSpecImpl group, Describer describer, int rounds) {
        System.out.println(what + " " + IntStream.range(0, rounds)
            .mapToObj(round -> Long.toString(took(group, describer)))
            .collect(Collectors.joining(" ")));
    }

    private static long took(GroupSpecImpl group, Describer describer) {
        var clock = ManagementFactory.getThreadMXBean();
        long start = clock.getCurrentThreadCpuTime();
        ASSIGNOR.assign(group, describer);
        return clock.getCurrentThreadCpuTime() - start;
    }

    private static Map<String, Assignment> targets(GroupAssignment given) {
        Map<String, Assignment> targets = new HashMap<>();
        given.members().forEach((member, target) -> targets.put(member, new Assignment(target.partitions())));
        return targets;
    }

    private static GroupSpecImpl group(int size, Set<Uuid> subscribed, Map<String, Assignment> targets) {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (int at = 0; at < size; at++) {
            String id = "member-" + at;
            Assignment target = targets.getOrDefault(id, Assignment.EMPTY);
            members.put(id, new MemberSubscriptionAndAssignmentImpl(Optional.empty(), Optional.empty(), subscribed, target));
            target.partitions().forEach((topic, partitions) -> partitions.forEach(
                partition -> owners.computeIfAbsent(topic, any -> new HashMap<>()).put(partition, id)));
        }
        return new GroupSpecImpl(members, SubscriptionType.HOMOGENEOUS, owners);
    }

    private record Describer(int partitions) implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topic) {
            return partitions;
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }
}
