import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.TypeParser;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * Answers how values compare. Each line of stdin is a type's class name and two values in hex, `-` for an empty one;
 * each line of stdout is -1, 0, 1, or the exception.
 */
public final class CompareValues
{
    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.clientInitialization();
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine())
        {
            String[] words = line.split(" ");
            out.println(compared(words[0], bytes(words[1]), bytes(words[2])));
        }
        out.flush();
    }

    private static String compared(String type, ByteBuffer a, ByteBuffer b)
    {
        try
        {
            AbstractType<?> parsed = TypeParser.parse(type);
            return Integer.toString(Integer.signum(parsed.compare(a, b)));
        }
        catch (Throwable e)
        {
            return e.toString().replace('\n', ' ');
        }
    }

    private static ByteBuffer bytes(String hex)
    {
        return hex.equals("-") ? ByteBufferUtil.EMPTY_BYTE_BUFFER : ByteBufferUtil.hexToBytes(hex);
    }
}
