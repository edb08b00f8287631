import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.common.message.JoinGroupResponseData.JoinGroupResponseMember;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.runtime.distributed.ConnectProtocolCompatibility;
import org.apache.kafka.connect.runtime.distributed.EagerAssignor;
import org.apache.kafka.connect.runtime.distributed.ExtendedAssignment;
import org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeAssignor;
import org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeConnectProtocol;
import org.apache.kafka.connect.runtime.distributed.WorkerCoordinator;
import org.apache.kafka.connect.runtime.distributed.WorkerRebalanceListener;
import org.apache.kafka.connect.storage.ClusterConfigState;
import org.apache.kafka.connect.storage.ConfigBackingStore;
import org.apache.kafka.connect.util.ConnectorTaskId;

/**
 * Connect's own workers, as far as they decide who runs what: the real WorkerCoordinator with its real assignors, but
 * for the network, the clock and the config topic. What to do comes as lines of JSON, what came of it goes out as such;
 * tests/assign/java_leaders.py says both.
 */
public class JavaLeaders {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CONNECTOR = -1;
    private static final Map<String, Worker> WORKERS = new HashMap<>();
    private static final Clock CLOCK = new Clock();

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.println(JSON.writeValueAsString(done(JSON.readTree(line))));
        }
        out.flush();
    }

    private static JsonNode done(JsonNode order) throws Exception {
        String key = order.path("worker").asText();
        switch (order.get("do").asText()) {
            case "start":
                WORKERS.put(key, Worker.create(order.get("url").asText(), order.get("max_delay_ms").asInt()));
                return JSON.createObjectNode();
            case "forget":
                set(WorkerCoordinator.class, WORKERS.get(key), "assignmentSnapshot", null);
                return JSON.createObjectNode();
            case "hash":
                Set<String> hashed = new HashSet<>();
                strings(order.get("names")).forEach(hashed::add);
                return rows(hashed, new HashSet<>(strings(order.get("names"))), strings(order.get("names")));
            case "round":
                return round(order);
            default:
                throw new IllegalArgumentException(order.toString());
        }
    }

    private static JsonNode round(JsonNode order) throws Exception {
        CLOCK.now = order.get("now_ms").asLong();
        int generation = order.get("generation").asInt();
        String protocol = order.get("protocol").asText();
        ObjectNode result = JSON.createObjectNode();
        List<JoinGroupResponseMember> joined = new ArrayList<>();
        Map<String, String> ids = new HashMap<>();
        for (JsonNode member : order.get("members")) {
            Worker worker = WORKERS.get(member.get("worker").asText());
            worker.read = snapshot(member.get("snapshot"));
            byte[] metadata = worker.metadata().find(protocol).metadata();
            ids.put(member.get("worker").asText(), member.get("member_id").asText());
            joined.add(new JoinGroupResponseMember().setMemberId(member.get("member_id").asText()).setMetadata(metadata));
            if (!protocol.equals("default")) {
                ExtendedAssignment runs =
                    IncrementalCooperativeConnectProtocol.deserializeMetadata(ByteBuffer.wrap(metadata)).assignment();
                result.withObject("/reported").set(
                    member.get("member_id").asText(), resources(runs.connectors(), runs.tasks()));
            }
        }
        Worker leader = WORKERS.get(order.get("leader").asText());
        String leaderId = ids.get(order.get("leader").asText());
        leader.read = snapshot(order.get("fresh"));
        leader.generation = generation;
        leader.state = null;
        Map<String, ByteBuffer> answers = leader.lead(leaderId, protocol, joined);
        for (Map.Entry<String, ByteBuffer> each : answers.entrySet()) {
            result.withObject("/shares").set(each.getKey(), share(each.getValue().duplicate()));
        }
        result.set("owners", owners(leader.state));
        result.set("memory", memory(leader.incremental));
        result.put("read", leader.configSnapshot().offset());
        for (String synced : strings(order.get("synced"))) {
            WORKERS.get(synced).synced(generation, ids.get(synced), protocol, answers.get(ids.get(synced)));
        }
        return result;
    }

    private static ClusterConfigState snapshot(JsonNode told) {
        Map<String, Integer> counts = new HashMap<>();
        Map<String, Map<String, String>> connectors = new HashMap<>();
        told.get("task_counts").fields().forEachRemaining(each -> {
            counts.put(each.getKey(), each.getValue().asInt());
            connectors.put(each.getKey(), Map.of());
        });
        return new ClusterConfigState(told.get("offset").asLong(), null, counts, connectors, Map.of(), Map.of(),
            Map.of(), Map.of(), Map.of(), Set.of(), Set.of());
    }

    private static JsonNode share(ByteBuffer data) {
        ExtendedAssignment told = IncrementalCooperativeConnectProtocol.deserializeAssignment(data);
        ObjectNode share = JSON.createObjectNode();
        share.put("error", told.error()).put("leader", told.leader()).put("leader_url", told.leaderUrl());
        share.put("config_offset", told.offset()).put("delay_ms", told.delay());
        share.set("assigned", resources(told.connectors(), told.tasks()));
        share.set("revoked", resources(told.revokedConnectors(), told.revokedTasks()));
        return share;
    }

    private static JsonNode owners(Object state) throws Exception {
        ArrayNode owners = JSON.createArrayNode();
        if (state != null) {
            Map<?, ?> connectors = (Map<?, ?>) get(WorkerCoordinator.LeaderState.class, state, "connectorOwners");
            connectors.forEach((name, owner) ->
                owners.addArray().add((String) name).add(CONNECTOR).add((String) owner));
            Map<?, ?> tasks = (Map<?, ?>) get(WorkerCoordinator.LeaderState.class, state, "taskOwners");
            tasks.forEach((task, owner) -> owners.addArray().add(((ConnectorTaskId) task).connector())
                .add(((ConnectorTaskId) task).task()).add((String) owner));
        }
        return owners;
    }

    private static JsonNode memory(IncrementalCooperativeAssignor assignor) throws Exception {
        ObjectNode memory = JSON.createObjectNode();
        for (String name : List.of("previousAssignment", "previousRevocation")) {
            WorkerCoordinator.ConnectorsAndTasks kept = (WorkerCoordinator.ConnectorsAndTasks) kept(assignor, name);
            memory.set(name, resources(kept.connectors(), kept.tasks()));
        }
        for (String name : List.of("revokedInPrevious", "numSuccessiveRevokingRebalances", "scheduledRebalance",
            "delay", "previousGenerationId", "candidateWorkersForReassignment", "previousMembers")) {
            memory.set(name, JSON.valueToTree(kept(assignor, name)));
        }
        return memory;
    }

    private static Object kept(IncrementalCooperativeAssignor assignor, String name) throws Exception {
        return get(IncrementalCooperativeAssignor.class, assignor, name);
    }

    private static JsonNode resources(Collection<String> connectors, Collection<ConnectorTaskId> tasks) {
        ArrayNode all = JSON.createArrayNode();
        connectors.forEach(name -> all.addArray().add(name).add(CONNECTOR));
        tasks.forEach(task -> all.addArray().add(task.connector()).add(task.task()));
        return all;
    }

    private static JsonNode rows(Collection<String> hashed, Collection<String> copied, List<String> sorted) {
        sorted.sort(null);
        ObjectNode rows = JSON.createObjectNode();
        rows.set("hashed", JSON.valueToTree(new ArrayList<>(hashed)));
        rows.set("copied", JSON.valueToTree(new ArrayList<>(copied)));
        return rows.set("sorted", JSON.valueToTree(sorted));
    }

    private static List<String> strings(JsonNode array) {
        List<String> strings = new ArrayList<>();
        array.forEach(each -> strings.add(each.asText()));
        return strings;
    }

    private static Object get(Class<?> where, Object object, String name) throws Exception {
        Field field = where.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    private static void set(Class<?> where, Object object, String name, Object value) throws Exception {
        Field field = where.getDeclaredField(name);
        field.setAccessible(true);
        field.set(object, value);
    }

    /** A worker without a network: made without its constructor, which wants one. */
    private static class Worker extends WorkerCoordinator {
        private ClusterConfigState read;
        private int generation;
        private Object state;
        private IncrementalCooperativeAssignor incremental;

        private Worker() {
            super(null, null, null, null, null, null, null, null, null, null, 0);
        }

        static Worker create(String url, int maxDelay) throws Exception {
            Worker worker = (Worker) ((sun.misc.Unsafe) get(sun.misc.Unsafe.class, null, "theUnsafe"))
                .allocateInstance(Worker.class);
            LogContext logs = new LogContext();
            worker.incremental = new IncrementalCooperativeAssignor(logs, CLOCK, maxDelay);
            Map<String, Object> fields = Map.of(
                "log", logs.logger(WorkerCoordinator.class),
                "restUrl", url,
                "configStorage", Proxy.newProxyInstance(JavaLeaders.class.getClassLoader(),
                    new Class<?>[] {ConfigBackingStore.class}, (proxy, method, arguments) -> worker.read),
                "listener", Proxy.newProxyInstance(JavaLeaders.class.getClassLoader(),
                    new Class<?>[] {WorkerRebalanceListener.class}, (proxy, method, arguments) -> null),
                "protocolCompatibility", ConnectProtocolCompatibility.SESSIONED,
                "currentConnectProtocol", ConnectProtocolCompatibility.SESSIONED,
                "incrementalAssignor", worker.incremental,
                "eagerAssignor", new EagerAssignor(logs),
                "lastCompletedGenerationId", -1);
            for (Map.Entry<String, Object> field : fields.entrySet()) {
                set(WorkerCoordinator.class, worker, field.getKey(), field.getValue());
            }
            return worker;
        }

        Map<String, ByteBuffer> lead(String leaderId, String protocol, List<JoinGroupResponseMember> members) {
            return onLeaderElected(leaderId, protocol, members, false);
        }

        void synced(int generation, String memberId, String protocol, ByteBuffer answer) {
            onJoinComplete(generation, memberId, protocol, answer.duplicate());
        }

        @Override
        public int generationId() {
            return generation;
        }

        @Override
        public String memberId() {
            return "";
        }

        @Override
        public void leaderState(LeaderState update) {
            state = update;
        }
    }

    /** The time that the test says. */
    private static class Clock implements Time {
        private long now;

        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return now * 1_000_000;
        }

        @Override
        public void sleep(long ms) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }
}
