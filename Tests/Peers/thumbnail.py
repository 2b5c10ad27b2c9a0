#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads stored thumbnails with Pillow, and computes where they belong, apart from Calotype.

thumbnail.py texts FILE        prints width, height and each text chunk, "KEYWORD=VALUE" a line
thumbnail.py name HEX          prints the URI and the file name of a path, given in hexadecimal digits
"""

import hashlib
import sys
import urllib.parse

from PIL import Image

if sys.argv[1] == "texts":
    with Image.open(sys.argv[2]) as image:
        image.load()
        print(f"width={image.width}")
        print(f"height={image.height}")
        for keyword, value in image.text.items():
            print(f"{keyword}={value}")
else:
    path = bytes.fromhex(sys.argv[2])
    uri = "file://" + urllib.parse.quote(path, safe="!$&'()*+,-./:=@_~")
    print(uri)
    print(hashlib.md5(uri.encode()).hexdigest() + ".png")
