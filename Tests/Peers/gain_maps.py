# SPDX-License-Identifier: Apache-2.0
"""Reads Ultra HDR files with libultrahdr (by pyvips): gain_maps.py FILE...

Prints for each file: width, height, largest gain, headroom, offset, ratio of image and map.
"""

import sys

import pyvips

for path in sys.argv[1:]:
    image = pyvips.Image.uhdrload(path)
    pyvips.Image.new_from_buffer(bytes(image.get("gainmap-data")), "").avg()
    print(
        image.width,
        image.height,
        image.get("gainmap-max-content-boost")[0],
        image.get("gainmap-hdr-capacity-max"),
        image.get("gainmap-offset-sdr")[0],
        image.get("gainmap-scale-factor"),
    )
