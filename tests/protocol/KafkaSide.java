// What does Apache Kafka's own code make of our bytes? Run as a single file on Kafka's jars.
//
// "facts" prints every error code and every API. "reencode" reads lines "<class> <version> <hex>", lets Kafka's class read the bytes, and
// prints what it writes for the value that it got, as hex.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;

public class KafkaSide {
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("facts")) {
            facts();
        } else {
            reencode();
        }
    }

    private static void facts() {
        for (Errors error : Errors.values()) {
            System.out.println("error " + error.code() + " " + error.name() + " " + (error.exception() instanceof RetriableException));
        }
        for (ApiKeys api : ApiKeys.values()) {
            System.out.println("api " + api.id + " " + api.messageType.name);
            if (!api.hasValidVersion()) {
                continue;
            }
            for (short version = api.oldestVersion(); version <= api.latestVersion(true); version++) {
                System.out.println("headers " + api.id + " " + version + " " + api.requestHeaderVersion(version) + " " + api.responseHeaderVersion(version));
            }
        }
    }

    private static void reencode() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split(" ", -1);
            short version = Short.parseShort(parts[1]);
            Message message = (Message) Class.forName(parts[0]).getConstructor().newInstance();
            ByteBufferAccessor readable = new ByteBufferAccessor(ByteBuffer.wrap(HexFormat.of().parseHex(parts[2])));
            message.read(readable, version);
            String left = readable.remaining() == 0 ? "" : " and " + readable.remaining() + " bytes were left";
            ByteBuffer written = MessageUtil.toByteBufferAccessor(message, version).buffer();
            byte[] bytes = new byte[written.remaining()];
            written.get(bytes);
            System.out.println(HexFormat.of().formatHex(bytes) + left);
        }
    }
}
