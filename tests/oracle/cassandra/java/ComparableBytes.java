import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.ClusteringPrefix;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.ByteBufferAccessor;
import org.apache.cassandra.db.marshal.TypeParser;
import org.apache.cassandra.db.marshal.ValueAccessor;
import org.apache.cassandra.dht.IPartitioner;
import org.apache.cassandra.dht.LocalPartitioner;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.FBUtilities;
import org.apache.cassandra.utils.bytecomparable.ByteComparable;
import org.apache.cassandra.utils.bytecomparable.ByteSourceInverse;

/**
 * The byte-comparable forms (OSS50) that trie indexes are made of, for lines of stdin, fields between tabs:
 *
 *   clustering KIND TYPE VALUE TYPE VALUE ...    a clustering or a bound, in order of columns; VALUE: hex, or null
 *   key PARTITIONER HEX                          a partition key; PARTITIONER: a class, or LocalPartitioner(TYPE)
 *
 * Prints the form as hex, a line for each.
 */
public final class ComparableBytes
{
    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.clientInitialization();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder out = new StringBuilder();
        for (String line; (line = lines.readLine()) != null; )
        {
            out.append(answer(line.split("\t", -1))).append('\n');
        }
        System.out.print(out);
        System.exit(0);
    }

    private static String answer(String[] fields)
    {
        try
        {
            ByteComparable form = fields[0].equals("key") ? key(fields) : clustering(fields);
            byte[] bytes = ByteSourceInverse.readBytes(form.asComparableBytes(ByteComparable.Version.OSS50));
            return ByteBufferUtil.bytesToHex(ByteBuffer.wrap(bytes));
        }
        catch (RuntimeException | AssertionError e)
        {
            return "error: " + e;
        }
    }

    private static ByteComparable key(String[] fields)
    {
        IPartitioner partitioner;
        String name = fields[1];
        if (name.startsWith("LocalPartitioner("))
            partitioner = new LocalPartitioner(TypeParser.parse(name.substring(17, name.length() - 1)));
        else
            partitioner = FBUtilities.newPartitioner(name);
        return partitioner.decorateKey(ByteBufferUtil.hexToBytes(fields[2]));
    }

    private static ByteComparable clustering(String[] fields)
    {
        ClusteringPrefix.Kind kind = ClusteringPrefix.Kind.values()[Integer.parseInt(fields[1])];
        List<AbstractType<?>> types = new ArrayList<>();
        List<ByteBuffer> values = new ArrayList<>();
        for (int i = 2; i < fields.length; i += 2)
        {
            types.add(TypeParser.parse(fields[i]));
            if (!fields[i + 1].equals("missing"))
                values.add(fields[i + 1].equals("null") ? null : ByteBufferUtil.hexToBytes(fields[i + 1]));
        }
        ByteBuffer[] given = values.toArray(new ByteBuffer[0]);
        ValueAccessor.ObjectFactory<ByteBuffer> make = ByteBufferAccessor.instance.factory();
        ClusteringPrefix<ByteBuffer> prefix =
            kind == ClusteringPrefix.Kind.CLUSTERING ? make.clustering(given)
            : kind.isBoundary() ? make.boundary(kind, given)
            : make.bound(kind, given);
        return new ClusteringComparator(types).asByteComparable(prefix);
    }
}
