import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HexFormat;
import java.util.TreeSet;
import org.apache.kafka.connect.runtime.distributed.ConnectProtocol;
import org.apache.kafka.connect.runtime.distributed.ExtendedAssignment;
import org.apache.kafka.connect.runtime.distributed.ExtendedWorkerState;
import org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeConnectProtocol;
import org.apache.kafka.connect.util.ConnectorTaskId;

/**
 * Connect's own reading of its embedded protocol. A line "state HEX" or "assignment HEX" comes in; out goes what
 * Connect reads in it, a tab, and the bytes in which Connect writes that.
 */
public class EmbeddedProtocol {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            byte[] data = HexFormat.of().parseHex(words[1]);
            short version = ByteBuffer.wrap(data).getShort();
            ByteBuffer buffer = ByteBuffer.wrap(data);
            System.out.println(words[0].equals("state") ? state(version, buffer) : assignment(version, buffer));
        }
    }

    private static String state(short version, ByteBuffer data) {
        if (version == 0) {
            ConnectProtocol.WorkerState state = ConnectProtocol.deserializeMetadata(data);
            return state.url() + " " + state.offset() + "\t" + hex(ConnectProtocol.serializeMetadata(state));
        }
        ExtendedWorkerState state = IncrementalCooperativeConnectProtocol.deserializeMetadata(data);
        ExtendedAssignment runs = state.assignment();
        return state.url() + " " + state.offset() + " " + told(runs) + " " + told(runs, runs.delay()) + "\t"
            + hex(IncrementalCooperativeConnectProtocol.serializeMetadata(state, version == 2));
    }

    private static String assignment(short version, ByteBuffer data) {
        if (version == 0) {
            ConnectProtocol.Assignment read = ConnectProtocol.deserializeAssignment(data);
            return told(read) + "\t" + hex(ConnectProtocol.serializeAssignment(read));
        }
        ExtendedAssignment read = IncrementalCooperativeConnectProtocol.deserializeAssignment(data);
        return told(read) + " " + told(read, read.delay()) + "\t"
            + hex(IncrementalCooperativeConnectProtocol.serializeAssignment(read, version == 2));
    }

    private static String told(ConnectProtocol.Assignment read) {
        return read.error() + " " + read.leader() + " " + read.leaderUrl() + " " + read.offset() + " "
            + names(read.connectors(), read.tasks());
    }

    private static String told(ExtendedAssignment read, int delay) {
        return names(read.revokedConnectors(), read.revokedTasks()) + " " + delay;
    }

    private static String names(Collection<String> connectors, Collection<ConnectorTaskId> tasks) {
        TreeSet<String> names = new TreeSet<>(connectors);
        tasks.forEach(task -> names.add(task.connector() + "-" + task.task()));
        return names.toString().replace(" ", "");
    }

    private static String hex(ByteBuffer data) {
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
