# SPDX-License-Identifier: Apache-2.0
"""Measures the peak memory that `calotype thumbnail` and `vipsthumbnail` need for huge images.

Reduces colour noise of 400 megapixels, as PNG and JPEG, each also in passes, to 1024 pixels.
The goal is 40 MB, independent of the file size; an interlaced PNG needs the sums of blocks as well.
"""

import os
import subprocess
import sys
import tempfile

import thumbnails

KINDS = {
    "PNG": "picture.png[compression=1]",
    "interlaced PNG": "laced.png[compression=1,interlace]",
    "JPEG": "picture.jpg[Q=50]",
    "progressive JPEG": "progressive.jpg[Q=50,interlace]",
}


def vips(*arguments):
    subprocess.run(["vips", *arguments], check=True)


def main():
    calotype = os.path.abspath(sys.argv[1])
    print("400 megapixels to 1024 pixels, peak memory of the whole process")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for band in "123":
            vips("gaussnoise", band + ".v", "2000", "2000",
                 "--mean", "128", "--sigma", "20", "--seed", band)
        vips("bandjoin", "1.v 2.v 3.v", "noise.v")
        vips("cast", "noise.v", "bytes.v", "uchar")
        vips("copy", "bytes.v", "tile.v", "--interpretation", "srgb")
        for name, target in KINDS.items():
            vips("replicate", "tile.v", target, "10", "10")
            file = target.split("[")[0]
            peaks = [
                thumbnails.measure([*command, "--size", "1024", "-o", "small.jpg", file])[1] * 1024
                for command in ([calotype, "thumbnail", "--quiet"], ["vipsthumbnail"])]
            print(f"{name:17} file {os.path.getsize(file) / 1e6:6.1f} MB   calotype "
                  f"{peaks[0] / 1e6:6.1f} MB   vipsthumbnail {peaks[1] / 1e6:7.1f} MB")
            os.remove(file)


if __name__ == "__main__":
    main()
