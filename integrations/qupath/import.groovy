/*
 * Adds the cells of a file that declump wrote to the open image: cells.geojson, or cells.geojson.gz, which QuPath by
 * itself does not open. Tested by its rules only, see docs/integrations.md.
 */
import java.util.zip.GZIPInputStream
import qupath.lib.gui.dialogs.Dialogs
import qupath.lib.io.PathIO

def given = args ? new File(args[0]) : Dialogs.promptForFile("Cells of declump", null, "GeoJSON", ".geojson", ".geojson.gz", ".gz")
if (given == null)
    return
def stream = new BufferedInputStream(new FileInputStream(given))
if (given.getName().toLowerCase().endsWith(".gz"))
    stream = new GZIPInputStream(stream)
def objects = stream.withCloseable { PathIO.readObjectsFromGeoJSON(it) }
getCurrentImageData().getHierarchy().addObjects(objects)
println "declump: " + objects.count { it.isCell() } + " cells from " + given.getName()
