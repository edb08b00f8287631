// Runs Kafka's command line tools one after the other in one JVM: a start of its own for each takes seconds.
//
// Each line of stdin is a command: the class and its arguments, separated by tabs. What it prints on stdout and stderr
// is printed when it has ended, then a line with the exit code behind a control character.

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import org.apache.kafka.common.utils.Exit;

public class ToolRuns {
    private static final class Ended extends RuntimeException {
        final int code;

        Ended(int code) {
            this.code = code;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Exit.setExitProcedure((code, message) -> {
            throw new Ended(code);
        });
        PrintStream out = System.out;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            PrintStream both = new PrintStream(said, true);
            System.setOut(both);
            System.setErr(both);
            int code = run(line.split("\t"));
            out.print(said + "\n\u0001" + code + "\n");
            out.flush();
        }
        System.exit(0);
    }

    private static int run(String[] words) throws Exception {
        String[] arguments = Arrays.copyOfRange(words, 1, words.length);
        try {
            Class.forName(words[0]).getMethod("main", String[].class).invoke(null, (Object) arguments);
            return 0;
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof Ended ended) {
                return ended.code;
            }
            throw thrown;
        }
    }
}
