# SPDX-License-Identifier: Apache-2.0
"""Measures a social card: a photograph of 12 megapixels, a gradient, a title that is broken into lines and
shrinks to fit, an avatar, a logo and a label, drawn at 1200x630 and encoded as JPEG of quality 85.

Compares cards-bench with Pillow, libvips (pyvips) and Skia (skia-python), if they are installed: the
fastest of several runs in alternation, in CPU time, with one thread each. Every program decodes the three
images from their files in each run, at a reduced size where it can; fonts are open. The peers shrink the
title by the same bisection.
Usage: cards.py CARDS-BENCH TEMPLATE [FOLDER], where FOLDER receives the cards.
"""

import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["VIPS_CONCURRENCY"] = "1"

from PIL import Image, ImageDraw, ImageFont

import images

try:
    import pyvips
except ImportError:
    pyvips = None
try:
    import skia
except ImportError:
    skia = None

ROUNDS = 3
TITLE = "Decoding only the coefficients that a thumbnail needs, and shrinking titles to fit"
BOLD = str(images.FONTS / "DejaVuSans-Bold.ttf")
REGULAR = str(images.FONTS / "DejaVuSans.ttf")
SHADE = ((0x22, 0.0), (0x33, 0.35), (0xD9, 1.0))


def lines_of(text, width, measure):
    """Breaks a text at words."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measure(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def fitted(text, measure_at):
    """Returns the lines at the largest size from 40 to 72 at which they are at most three."""
    low, high = 80, 145
    while high - low > 1:
        size = (low + high) // 2
        if len(lines_of(text, 1040, measure_at(size / 2))) <= 3:
            low = size
        else:
            high = size
    return low / 2, lines_of(text, 1040, measure_at(low / 2))


def shade():
    column = []
    for y in range(630):
        position = (y + 0.5) / 630
        for (first, start), (second, end) in zip(SHADE, SHADE[1:]):
            if position <= end:
                column.append(round(first + (second - first) * (position - start) / (end - start)))
                break
    return column


def pillow_card(photo, avatar, logo):
    def opened(path, size):
        image = Image.open(path)
        image.draft("RGB", size)
        return image.convert("RGB")

    def filled(image, size, top):
        scale = max(size[0] / image.width, size[1] / image.height)
        width, height = size[0] / scale, size[1] / scale
        left, upper = (image.width - width) / 2, (image.height - height) * top
        return image.resize(
            size, Image.LANCZOS, box=(left, upper, left + width, upper + height))

    card = filled(opened(photo, (1200, 630)), (1200, 630), 0.3)
    alpha = Image.new("L", (1, 630))
    alpha.putdata(shade())
    card.paste((0, 0, 0), (0, 0), alpha.resize((1200, 630)))
    draw = ImageDraw.Draw(card)
    label = ImageFont.truetype(BOLD, 26)
    width = label.getlength("Engineering")
    # ImageDraw has no antialiasing: shapes are drawn four times as large.
    mask = Image.new("L", (round(width + 40) * 4, 46 * 4))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, *mask.size), mask.height // 2, fill=255)
    card.paste((255, 213, 79), (80, 64), mask.resize((mask.width // 4, 46), Image.BOX))
    draw.text((100, 87), "Engineering", (16, 24, 32), label, anchor="lm")
    size, lines = fitted(TITLE, lambda size: ImageFont.truetype(BOLD, size).getlength)
    font = ImageFont.truetype(BOLD, size)
    for index, line in enumerate(lines):
        draw.text((80, 470 - (len(lines) - 1 - index) * size * 1.164), line, "white", font, "ls")
    mask = Image.new("L", (72 * 4, 72 * 4))
    ImageDraw.Draw(mask).ellipse((0, 0, 287, 287), fill=255)
    face = filled(opened(avatar, (72, 72)), (72, 72), 0.5)
    card.paste(face, (80, 510), mask.resize((72, 72), Image.BOX))
    ring = Image.new("L", (78 * 4, 78 * 4))
    ImageDraw.Draw(ring).ellipse((6, 6, 305, 305), outline=255, width=12)
    card.paste((255, 255, 255), (77, 507), ring.resize((78, 78), Image.BOX))
    draw.text((172, 546), "Ada Lovelace", (242, 242, 242), ImageFont.truetype(REGULAR, 30), "lm")
    mark = Image.open(logo).convert("RGBA")
    mark.thumbnail((140, 60), Image.LANCZOS)
    card.paste(mark, (1140 - mark.width, 580 - 30 - mark.height // 2), mark)
    output = io.BytesIO()
    card.save(output, "JPEG", quality=85)
    return output.getvalue()


def vips_card(photo, avatar, logo):
    def text(content, font, color, **options):
        mask = pyvips.Image.text(content, font=font, dpi=72, **options)
        flat = mask.new_from_image(color).copy(interpretation="srgb")
        return flat.bandjoin(mask)

    card = pyvips.Image.thumbnail(photo, 1200, height=630, size="both", crop="centre")
    column = pyvips.Image.new_from_memory(bytes(shade()), 1, 630, 1, "uchar")
    black = pyvips.Image.black(1200, 630, bands=3).copy(interpretation="srgb")
    layers, x, y = [black.bandjoin(column.resize(1200, vscale=1, kernel="nearest"))], [0], [0]

    def add(image, left, top):
        layers.append(image)
        x.append(round(left))
        y.append(round(top))

    label = text("Engineering", "DejaVu Sans Bold 26", [16, 24, 32])
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{label.width + 40}" height="46">'
           '<rect width="100%" height="46" rx="23" fill="#ffd54f"/></svg>')
    add(pyvips.Image.svgload_buffer(svg.encode()), 80, 64)
    add(label, 100, 87 - label.height / 2)
    # The fit of libvips takes any number of lines that the box holds.
    title = text(TITLE, "DejaVu Sans Bold 72", [255, 255, 255], width=1040, height=230)
    add(title, 80, 480 - title.height)
    face = pyvips.Image.thumbnail(avatar, 72, height=72, crop="centre")
    disc = ('<svg xmlns="http://www.w3.org/2000/svg" width="72" height="72">'
            '<circle cx="36" cy="36" r="36" fill="#fff"/></svg>')
    add(face[0:3].bandjoin(pyvips.Image.svgload_buffer(disc.encode())[3]), 80, 510)
    ring = ('<svg xmlns="http://www.w3.org/2000/svg" width="78" height="78">'
            '<circle cx="39" cy="39" r="36" fill="none" stroke="#fff" stroke-width="3"/></svg>')
    add(pyvips.Image.svgload_buffer(ring.encode()), 77, 507)
    name = text("Ada Lovelace", "DejaVu Sans 30", [242, 242, 242])
    add(name, 172, 546 - name.height / 2)
    mark = pyvips.Image.thumbnail(logo, 140, height=60)
    add(mark, 1140 - mark.width, 550 - mark.height / 2)
    card = card.composite(layers, "over", x=x, y=y).flatten()
    return card.jpegsave_buffer(Q=85)


def skia_card(photo, avatar, logo, fonts):
    def image(path):
        return skia.Image.open(path)

    sampling = skia.SamplingOptions(skia.FilterMode.kLinear, skia.MipmapMode.kLinear)
    surface = skia.Surface(1200, 630)
    canvas = surface.getCanvas()

    def fill(picture, box, top):
        scale = max(box.width() / picture.width(), box.height() / picture.height())
        width, height = box.width() / scale, box.height() / scale
        left, upper = (picture.width() - width) / 2, (picture.height() - height) * top
        canvas.drawImageRect(
            picture, skia.Rect.MakeXYWH(left, upper, width, height), box, sampling)

    fill(image(photo), skia.Rect.MakeWH(1200, 630), 0.3)
    gradient = skia.GradientShader.MakeLinear(
        [skia.Point(0, 0), skia.Point(0, 630)],
        [skia.Color(0, 0, 0, alpha) for alpha, _ in SHADE], [place for _, place in SHADE])
    canvas.drawPaint(skia.Paint(Shader=gradient))
    bold, regular = fonts
    label = skia.Font(bold, 26)
    smooth = skia.Paint(AntiAlias=True, Color=skia.Color(255, 213, 79))
    width = label.measureText("Engineering") + 40
    canvas.drawRRect(skia.RRect.MakeRectXY(skia.Rect.MakeXYWH(80, 64, width, 46), 23, 23), smooth)
    dark = skia.Paint(AntiAlias=True, Color=skia.Color(16, 24, 32))
    canvas.drawString("Engineering", 100, 96, label, dark)
    white = skia.Paint(AntiAlias=True, Color=skia.ColorWHITE)
    size, lines = fitted(TITLE, lambda size: skia.Font(bold, size).measureText)
    for index, line in enumerate(lines):
        canvas.drawString(
            line, 80, 470 - (len(lines) - 1 - index) * size * 1.164, skia.Font(bold, size), white)
    canvas.save()
    canvas.clipPath(skia.Path.Circle(116, 546, 36), doAntiAlias=True)
    fill(image(avatar), skia.Rect.MakeXYWH(80, 510, 72, 72), 0.5)
    canvas.restore()
    ring = skia.Paint(
        AntiAlias=True, Color=skia.ColorWHITE, Style=skia.Paint.kStroke_Style, StrokeWidth=3)
    canvas.drawCircle(116, 546, 36, ring)
    canvas.drawString("Ada Lovelace", 172, 557, skia.Font(regular, 30), white)
    mark = image(logo)
    scale = min(140 / mark.width(), 60 / mark.height())
    width, height = mark.width() * scale, mark.height() * scale
    canvas.drawImageRect(
        mark, skia.Rect.MakeWH(mark.width(), mark.height()),
        skia.Rect.MakeXYWH(1140 - width, 550 - height / 2, width, height), sampling)
    return bytes(surface.makeImageSnapshot().encodeToData(skia.kJPEG, 85))


def measured(work):
    best, result = float("inf"), b""
    for _ in range(5):
        start = time.process_time()
        result = work()
        best = min(best, (time.process_time() - start) * 1000)
    return best, result


def main():
    bench, template = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(sys.argv[3]) if len(sys.argv) > 3 else Path(folder)
        photo = images.photograph(Path(folder)).resize((4000, 3000))
        files = [f"{folder}/photo.jpg", f"{folder}/avatar.jpg", f"{folder}/logo.png"]
        photo.save(files[0], quality=90)
        photo.resize((800, 600)).save(files[1], quality=90)
        logo = Image.new("RGBA", (560, 240))
        ImageDraw.Draw(logo).rounded_rectangle((0, 0, 559, 239), 60, fill=(255, 255, 255, 200))
        logo.save(files[2])
        peers = {"Pillow": lambda: pillow_card(*files)}
        if pyvips:
            peers["libvips"] = lambda: vips_card(*files)
        if skia:
            fonts = [skia.Typeface.MakeFromFile(path) for path in (BOLD, REGULAR)]
            peers["Skia"] = lambda: skia_card(*files, fonts)

        def own(kind):
            output = subprocess.run(
                [bench, template, *files, TITLE, f"{target}/calotype-{kind}", kind], check=True,
                capture_output=True, text=True).stdout
            return float(output)

        best = {}
        for _ in range(ROUNDS):
            for kind in ("card", "decode", "encode", "text", "standard", "extended"):
                best[kind] = min(best.get(kind, float("inf")), own(kind))
            for name, work in peers.items():
                time_, card = measured(work)
                best[name] = min(best.get(name, float("inf")), time_)
                (target / f"{name}.jpg").write_bytes(card)
        print("1200x630 card with a photograph of 4000x3000; CPU in ms")
        for name, value in best.items():
            ratio = f"  calotype takes {best['card'] / value:.2f} of it" if name in peers else ""
            print(f"{name:9} {value:7.1f}{ratio}")
        print(f"extended range: {best['extended'] / best['standard']:.2f} of standard")


if __name__ == "__main__":
    main()
