# SPDX-License-Identifier: Apache-2.0
"""Draws texts of several scripts with `calotype draw` and headless Chromium, and prints their SSIM.

text_sheets.py CALOTYPE CHROMIUM FOLDER

FOLDER receives both images of each text and a sheet of all, ours at the left. Texts whose font is not
installed are skipped. Both draw at four times the size, which is then reduced: cairo 1.16 places glyphs at
whole pixels, Chromium at quarters. FONTCONFIG_FILE applies to both programs. Exits with 1 if a text has an
SSIM of less than 0.95.
"""

import json
import os
import pathlib
import subprocess
import sys
from io import BytesIO

import numpy
from PIL import Image, ImageFont
from playwright.sync_api import sync_playwright

SIZE, WIDTH, HEIGHT, SCALE, LEAST = 28, 400, 240, 4, 0.95
SAMPLES = [
    ("en", "DejaVu Sans", "Sphinx of black quartz, judge my vow: “fi ffl AVAToday” — naïve café"),
    ("ar", "Noto Sans Arabic",
     "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق، وقد وهبوا 123 عقلًا"),
    ("he", "DejaVu Sans",
     "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם (abc 42) כולם חוננו"),
    ("hi", "Noto Sans Devanagari",
     "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है"),
    ("th", "Noto Sans Thai", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ"),
    ("ja", "Noto Sans CJK JP",
     "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"),
    ("zh-cn", "Noto Sans CJK SC",
     "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"),
    ("ko", "Noto Sans CJK KR",
     "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."),
    ("en-emoji", "Noto Color Emoji", "😀 👩‍👩‍👧‍👦 🇩🇪🇯🇵 👍🏽 ❤️ 🧑🏿‍🚀 🏳️‍🌈 1️⃣ 🥐"),
]


def font_file(family):
    """Returns the file and the index of a family that is installed, or None."""
    found = subprocess.run(
        ["fc-match", "-f", "%{family}\n%{file}\n%{index}", f"{family}:style=Regular"],
        check=True, capture_output=True, text=True).stdout.split("\n")
    return (found[1], int(found[2])) if family in found[0] else None


def line_height(file):
    """Returns the height of a line, ascent and descent, at SIZE."""
    path, index = file
    if "Emoji" in path:
        # A font of bitmaps has one size.
        metrics = ImageFont.truetype(path, 109, index=index).getmetrics()
        return sum(metrics) / 109 * SIZE
    return sum(ImageFont.truetype(path, 2048, index=index).getmetrics()) / 2048 * SIZE


def ours(calotype, folder, name, language, family, text, spacing):
    template = folder / f"{name}.json"
    template.write_text(json.dumps({
        "size": [WIDTH, HEIGHT], "background": "#ffffff",
        "layers": [{
            "type": "text", "text": text, "box": [0, 0, WIDTH, HEIGHT], "font": family, "size": SIZE,
            "language": language, "lineSpacing": spacing, "color": "#000000"}]}))
    target = folder / f"{name}-calotype.png"
    subprocess.run(
        [calotype, "draw", str(template), "--no-sandbox", "--scale", str(SCALE), "-o", str(target)],
        check=True, capture_output=True)
    return Image.open(target).convert("RGB")


def theirs(browser, language, family, text, pixels):
    page = browser.new_page(
        viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE)
    page.set_content(
        f'<body style="margin: 0"><div lang="{language}" dir="auto" style="width: {WIDTH}px; '
        f"font: {SIZE}px '{family}'; line-height: {pixels}px; text-rendering: geometricPrecision"
        f'">{text}</div>')
    image = Image.open(BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return image


def luma(image):
    return numpy.asarray(image.convert("L")).astype(float)


def means(plane):
    weights = numpy.exp(-0.5 * (numpy.arange(-5, 6) / 1.5) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        plane = numpy.lib.stride_tricks.sliding_window_view(plane, 11, axis=axis) @ weights
    return plane


def ssim(a, b):
    first, second = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    mean_a, mean_b = means(a), means(b)
    variances = means(a * a) - mean_a**2 + means(b * b) - mean_b**2
    structure = (2 * (means(a * b) - mean_a * mean_b) + second) / (variances + second)
    return ((2 * mean_a * mean_b + first) / (mean_a**2 + mean_b**2 + first) * structure).mean()


def moved(image, rows):
    """Returns the image, moved down; the half leading of CSS is above the first line."""
    result = Image.new("RGB", image.size, "white")
    result.paste(image, (0, rows))
    return result


def main():
    calotype, chromium, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    flags = ["--force-color-profile=srgb", "--font-render-hinting=none", "--disable-lcd-text"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    pairs, failures = [], 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        for name, family, text in SAMPLES:
            file = font_file(family)
            if not file:
                print(f"{name:9} {family}: not installed")
                continue
            language, height = name.removesuffix("-emoji"), line_height(file)
            pixels = round(height * 1.2)
            own = ours(calotype, folder, name, language, family, text, pixels / height)
            peer = theirs(browser, language, family, text, pixels)
            size = (WIDTH, HEIGHT)
            reduced = luma(peer.resize(size, Image.BOX))
            # Ascents are rounded differently: by up to three pixels of the page.
            leading = round((pixels - height) / 2 * SCALE)
            value, rows = max(
                (ssim(luma(moved(own, leading + move).resize(size, Image.BOX)), reduced),
                 leading + move) for move in range(-3 * SCALE, 3 * SCALE + 1))
            failures += value < LEAST
            print(f"{name:9} {family:22} SSIM {value:.4f}", flush=True)
            pairs.append((moved(own, rows), peer))
            peer.save(folder / f"{name}-chromium.png")
        browser.close()
    sheet = Image.new("RGB", (WIDTH * 4, HEIGHT * 2 * len(pairs)), "white")
    for index, pair in enumerate(pairs):
        for column, image in enumerate(pair):
            image = image.resize((WIDTH * 2, HEIGHT * 2), Image.BOX)
            sheet.paste(image, (column * WIDTH * 2, index * HEIGHT * 2))
    sheet.save(folder / "sheet.png")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
