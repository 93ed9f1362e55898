// Oracle runs a list of Apache Kafka's command-line tools inside one JVM, because starting one for each takes seconds.
//
// It reads blocks from standard input: a line of arguments separated by the unit separator (0x1f), the first of them a
// class name, then lines for the tool's standard input, each beginning with '<'. It answers each with the lines that
// the tool wrote: "1|text" for standard output, "2|text" for standard error, and "=|N" for its exit code.
import java.io.*;
import java.lang.reflect.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Oracle {
    static final class Exited extends Error {
        Exited() { super("exit", null, false, false); }
    }

    static volatile int code;
    static volatile boolean exited;
    static ByteArrayOutputStream out, err;

    static void leave(int c) {
        if (!exited) {
            exited = true;
            code = c;
            System.out.flush();
            System.err.flush();
            System.setOut(new PrintStream(OutputStream.nullOutputStream()));
            System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        }
        throw new Exited();
    }

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = in.readLine();
        while (line != null) {
            String command = line;
            StringBuilder stdin = new StringBuilder();
            while ((line = in.readLine()) != null && line.startsWith("<")) stdin.append(line.substring(1)).append('\n');
            run(command.split("\u001f", -1), stdin.toString());
            show(answers, '1', out);
            show(answers, '2', err);
            answers.println("=|" + code);
            answers.flush();
        }
        answers.flush();
        Runtime.getRuntime().halt(0);
    }

    static void show(PrintStream to, char tag, ByteArrayOutputStream from) {
        String text = from.toString(StandardCharsets.UTF_8);
        if (text.isEmpty()) return;
        String[] lines = text.split("\n", -1);
        int n = lines.length;
        boolean whole = lines[n - 1].isEmpty();
        if (whole) n--;
        for (int i = 0; i < n; i++) to.println(tag + "|" + lines[i] + (i == n - 1 && !whole ? "\\" : ""));
    }

    static void run(String[] words, String stdin) throws Exception {
        out = new ByteArrayOutputStream();
        err = new ByteArrayOutputStream();
        code = 0;
        exited = false;
        System.setOut(new PrintStream(out, true, "UTF-8"));
        System.setErr(new PrintStream(err, true, "UTF-8"));
        System.setIn(new ByteArrayInputStream(stdin.getBytes(StandardCharsets.UTF_8)));
        org.apache.kafka.common.utils.internals.Exit.setExitProcedure((c, m) -> leave(c));
        org.apache.kafka.common.utils.internals.Exit.setHaltProcedure((c, m) -> leave(c));
        Thread t = new Thread(() -> call(words), "tool");
        t.start();
        t.join(90_000);
        if (t.isAlive()) {
            code = 124;
            t.interrupt();
        }
        System.out.flush();
        System.err.flush();
    }

    static void call(String[] words) {
        try {
            Method main = Class.forName(words[0]).getMethod("main", String[].class);
            main.invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
        } catch (InvocationTargetException e) {
            if (exited) return;
            e.getCause().printStackTrace();
            code = 1;
        } catch (Throwable e) {
            e.printStackTrace();
            code = 1;
        }
    }
}
