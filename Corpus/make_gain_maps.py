# SPDX-License-Identifier: Apache-2.0
"""Makes the sample files of gainmap again: make_gain_maps.py CALOTYPE.

Needs pyvips-binary 8.18, which writes Ultra HDR with libultrahdr; the other containers are written by
CALOTYPE. The picture is a gradient with a light of six times the brightness of white.
"""

import pathlib
import subprocess
import sys

import numpy
import pyvips

folder = pathlib.Path(__file__).parent / "gainmap/valid"
y, x = numpy.mgrid[0:64, 0:96].astype(numpy.float32)
light = numpy.exp(-((x - 70) ** 2 + (y - 18) ** 2) / 80) * 5
channels = [
    0.2 + 0.6 * x / 96 + light,
    0.3 + 0.4 * y / 64 + light * 0.9,
    0.5 + 0.3 * numpy.sin(x / 9) + light * 0.7,
]
pixels = numpy.stack(channels, -1).astype(numpy.float32)
image = pyvips.Image.new_from_array(pixels).copy(interpretation="scrgb")
folder.mkdir(parents=True, exist_ok=True)
image.uhdrsave(str(folder / "ultra-hdr.jpg"), Q=80)
for name in ["tone-mapped.avif", "gain-map.jxl"]:
    subprocess.run([sys.argv[1], "convert", folder / "ultra-hdr.jpg", folder / name], check=True)
