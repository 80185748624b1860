import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.io.util.File;

/**
 * What a node does when it starts with the transactions that had not ended, for lines of stdin: the folders of a table,
 * between tabs. Files that are not live are deleted. Prints true, or false when the node would not start, a line for each.
 */
public final class Leftovers
{
    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.clientInitialization();
        Method remove = Class.forName("org.apache.cassandra.db.lifecycle.LogTransaction")
                             .getDeclaredMethod("removeUnfinishedLeftovers", List.class);
        remove.setAccessible(true);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; )
        {
            List<File> folders = new ArrayList<>();
            for (String path : line.split("\t"))
                folders.add(new File(path));
            System.out.println(remove.invoke(null, folders));
        }
        System.exit(0);
    }
}
