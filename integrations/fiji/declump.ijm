// declump in Fiji and ImageJ: runs on the open image, then opens outlines and nuclei in the ROI Manager, and the table.
//
// Only setting: the Python in which declump is installed ("which python" in that environment).
// As an argument (batch mode) it can be followed by an image and a folder: PYTHON;IMAGE;FOLDER
python = "/path/to/environment/bin/python";

image = "";
folder = "";
given = getArgument();
if (given != "") {
    parts = split(given, ";");
    python = parts[0];
    if (parts.length > 1) image = parts[1];
    if (parts.length > 2) folder = parts[2];
}
if (!File.exists(python))
    exit("declump: there is no Python at " + python + "; set it in the first lines of this macro");
if (image != "")
    open(image);
if (nImages == 0)
    exit("declump: open an image first");
if (folder == "")
    folder = getDirectory("temp") + "declump-" + getTime();
File.makeDirectory(folder);

// A copy, so that what is open is what is segmented, saved or not; a TIFF of ImageJ tells its pixel size.
title = getTitle();
copy = folder + File.separator + "image.tif";
run("Duplicate...", "title=declump-copy");
saveAs("Tiff", copy);
close();
selectWindow(title);

results = folder + File.separator + "results";
print("declump: segmenting " + title + " ...");
print(exec(python, "-m", "declump.cli", "segment", copy, "-o", results, "--format", "imagej,csv"));
found = results + File.separator + "image" + File.separator;
if (!File.exists(found + "rois.zip"))
    exit("declump did not find any cells; the Log window has its words");

roiManager("reset");
roiManager("Open", found + "rois.zip");
roiManager("Show All without labels");
open(found + "cells.csv");
print("declump: " + roiManager("count") + " outlines of cells and nuclei, from " + found);
