# SPDX-License-Identifier: Apache-2.0
"""Writes what headless Chromium displays of a page to standard output, as PPM.

chromium.py CHROMIUM FOLDER WIDTH HEIGHT

FOLDER contains index.html and its images as NAME.ppm, which the page names NAME.png. The size is that of
the window in CSS pixels, one for each device pixel. Colours are those of sRGB, without conversion.
"""

import os
import pathlib
import sys
from io import BytesIO

from PIL import Image
from playwright.sync_api import sync_playwright

chromium, folder, width, height = sys.argv[1:]
folder = pathlib.Path(folder)
for file in folder.glob("*.ppm"):
    Image.open(file).save(file.with_suffix(".png"))
# SwiftShader, a GPU in software, computes with floats; Skia's code for the CPU interpolates in 8 bits, up
# to 3 levels off.
flags = ["--force-color-profile=srgb", "--enable-gpu-rasterization", "--ignore-gpu-blocklist",
         "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--font-render-hinting=none", "--disable-lcd-text"]
if os.geteuid() == 0:
    # Chromium's sandbox does not support root, the usual user of containers.
    flags.append("--no-sandbox")
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium, args=flags)
    page = browser.new_page(viewport={"width": int(width), "height": int(height)})
    page.goto((folder / "index.html").as_uri(), wait_until="load")
    page.wait_for_function("document.body.dataset.state !== 'loading'")
    screenshot = Image.open(BytesIO(page.screenshot())).convert("RGB")
    browser.close()
screenshot.save(sys.stdout.buffer, "ppm")
