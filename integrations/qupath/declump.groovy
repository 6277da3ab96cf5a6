/*
 * declump in QuPath (0.5 and 0.6): finds whole overlapping cells in the selected annotations, or in the whole image
 * where none is selected, and adds them as cell objects with nucleus and measurements, in one call.
 *
 * Only setting: the Python in which declump is installed ("which python" in that environment; on Windows it ends on
 * python.exe). Nothing else needs to be installed in QuPath.
 */
def PYTHON = "/path/to/environment/bin/python"

import java.awt.geom.AffineTransform
import java.nio.file.Files
import java.util.zip.GZIPInputStream
import qupath.lib.io.PathIO
import qupath.lib.objects.PathObjectTools
import qupath.lib.regions.RegionRequest

def imageData = getCurrentImageData()
if (imageData == null) {
    println "declump: open an image first"
    return
}
if (!new File(PYTHON).canExecute()) {
    println "declump: there is no Python at " + PYTHON + "; set PYTHON in the first lines of this script"
    return
}
def server = imageData.getServer()
def chosen = getSelectedObjects().findAll { it.isAnnotation() && it.hasROI() && it.getROI().isArea() }
def places = chosen ?: [null]
def pixelSize = server.getPixelCalibration().getAveragedPixelSizeMicrons()
def folder = Files.createTempDirectory("declump").toFile()
def found = []

try {
    places.eachWithIndex { annotation, number ->
        def request = annotation == null ?
            RegionRequest.createInstance(server) :
            RegionRequest.createInstance(server.getPath(), 1.0, annotation.getROI())
        def image = new File(folder, "region${number}.tif")
        writeImageRegion(server, request, image.getAbsolutePath())
        def command = [PYTHON, "-m", "declump.cli", "segment", image.getAbsolutePath(),
                       "-o", new File(folder, "results${number}").getAbsolutePath(), "--format", "geojson.gz"]
        if (Double.isFinite(pixelSize))
            command += ["--pixel-size", String.valueOf(pixelSize)]
        def process = new ProcessBuilder(command.collect { it.toString() }).redirectErrorStream(true).start()
        process.getOutputStream().close()
        process.getInputStream().eachLine { println it }
        if (process.waitFor() != 0)
            throw new RuntimeException("declump ended with an error; see the lines above")

        def file = new File(folder, "results${number}/region${number}/cells.geojson.gz")
        def objects = new GZIPInputStream(new FileInputStream(file)).withCloseable { PathIO.readObjectsFromGeoJSON(it) }
        // Outlines are counted from the corner of the region; ids stay, nuclei and measurements go along.
        def shift = AffineTransform.getTranslateInstance(request.getX(), request.getY())
        objects = objects.collect { PathObjectTools.transformObject(it, shift, true) }
        if (annotation != null)
            objects = objects.findAll {
                annotation.getROI().contains(it.getROI().getCentroidX(), it.getROI().getCentroidY())
            }
        found.addAll(objects)
    }
    imageData.getHierarchy().addObjects(found)
    resolveHierarchy()
    println "declump: " + found.count { it.isCell() } + " cells"
} finally {
    folder.deleteDir()
}
