# SPDX-License-Identifier: Apache-2.0
"""Decodes JPEG files with Pillow at 1/SCALE, without conversion of colours: SCALE FILE...

For each file: a line "P7 WIDTH HEIGHT CHANNELS MODE" and the samples, or a line "refused REASON".
YCCK is the one coding that the library always converts; of CMYK only K is then as in the file.
"""

import sys

from PIL import Image, ImageFile

scale = int(sys.argv[1])
out = sys.stdout.buffer
for path in sys.argv[2:]:
    try:
        image = Image.open(path)
        tile = image.tile[0]
        # Like Image.draft(), which supports only scales that leave a side of one pixel.
        raw_mode = tile.args[0]
        # The precedence in libjpeg.
        if "jfif" in image.info:
            is_rgb_file = False
        elif "adobe_transform" in image.info:
            is_rgb_file = image.info["adobe_transform"] == 0
        else:
            is_rgb_file = bytes(row[0] for row in image.layer) == b"RGB"
        if raw_mode == "RGB" and not is_rgb_file:
            image._mode = raw_mode = "YCbCr"
        # "CMYK;I" would invert the inks.
        raw_mode = raw_mode.removesuffix(";I")
        size = tuple((side + scale - 1) // scale for side in image.size)
        image._size = size
        image.tile = [
            ImageFile._Tile(tile.codec_name, (0, 0, *size), tile.offset, (raw_mode, ""))
        ]
        image.decoderconfig = (scale, 0)
        samples = image.tobytes()
    except (OSError, SyntaxError, ValueError) as error:
        out.write(f"refused {error}\n".encode())
        continue
    channels = len(image.getbands())
    is_ycck = channels == 4 and image.info.get("adobe_transform") == 2
    mode = "YCCK" if is_ycck else image.mode
    out.write(f"P7 {size[0]} {size[1]} {channels} {mode}\n".encode())
    out.write(samples)
