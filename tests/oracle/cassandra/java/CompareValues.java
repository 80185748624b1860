import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.marshal.TypeParser;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * How values compare. A line of stdin is a type's class name and two values in hex, with a blank before each; the line
 * of stdout that answers it is -1, 0, 1 or an exception.
 */
public final class CompareValues
{
    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.clientInitialization();
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine())
        {
            String[] words = line.split(" ", -1);
            out.println(compare(words[0], ByteBufferUtil.hexToBytes(words[1]), ByteBufferUtil.hexToBytes(words[2])));
        }
    }

    private static String compare(String type, ByteBuffer a, ByteBuffer b)
    {
        try
        {
            return Integer.toString(Integer.signum(TypeParser.parse(type).compare(a, b)));
        }
        catch (Exception | AssertionError e)
        {
            return e.toString().replace('\n', ' ');
        }
    }
}
