# SPDX-License-Identifier: Apache-2.0
"""Makes the sample files of WebP, GIF and animated PNG again; needs Pillow."""

import io
import pathlib

from PIL import Image, ImageCms

here = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 37, 29


def sample(x, y, channel, maximum=255):
    value = (x * (channel * 3 + 5) + y * (11 - channel * 2)) % (2 * maximum + 1)
    return value if value <= maximum else 2 * maximum - value


def picture(mode, shift=0):
    channels = len(mode)
    pixels = bytes(
        sample(x + shift, y, c) for y in range(HEIGHT) for x in range(WIDTH) for c in range(channels)
    )
    return Image.frombytes(mode, (WIDTH, HEIGHT), pixels)


def moving(count, mode="RGBA"):
    """A square that moves over a picture, and leaves a hole in the last frame."""
    frames = []
    for index in range(count):
        frame = picture(mode)
        frame.paste((255, 40 * index, 0, 255)[: len(mode)], (3 * index, 5, 3 * index + 9, 17))
        if index == count - 1 and mode == "RGBA":
            frame.paste((0, 0, 0, 0), (20, 10, 33, 25))
        frames.append(frame)
    return frames


def folder(name):
    path = here / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def exif(orientation):
    block = Image.Exif()
    block[0x0112] = orientation
    return block.tobytes()


webp = folder("webp/valid")
picture("RGB").save(webp / "lossy.webp", quality=60)
picture("RGB").save(webp / "lossless.webp", lossless=True)
picture("RGBA").save(webp / "lossy-alpha.webp", quality=60)
picture("RGBA").save(webp / "lossless-alpha.webp", lossless=True)
picture("RGB").save(
    webp / "metadata.webp", quality=40, exif=exif(6), xmp=b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>",
    icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
)
frames = moving(5)
frames[0].save(
    webp / "animation.webp", save_all=True, append_images=frames[1:], lossless=True,
    duration=[40, 80, 0, 1000, 20], loop=3,
)

whole = (webp / "lossless.webp").read_bytes()
invalid = folder("webp/invalid")
(invalid / "no-picture.webp").write_bytes(b"RIFF\x04\0\0\0WEBP")
(invalid / "no-signature.webp").write_bytes(whole[:20] + b"\0" + whole[21:])
still = (webp / "lossy-alpha.webp").read_bytes()
(invalid / "other-canvas.webp").write_bytes(still[:24] + b"\x63" + still[25:])

gif = folder("gif/valid")
picture("RGB").quantize(64).save(gif / "palette.gif", interlace=0)
picture("RGB").quantize(64).save(gif / "interlaced.gif", interlace=1)
picture("L").save(gif / "gray.gif")
frames[0].save(
    gif / "animation.gif", save_all=True, append_images=frames[1:],
    duration=[40, 80, 10, 1000, 20], loop=2, disposal=[1, 2, 1, 3, 1],
)
whole = (gif / "palette.gif").read_bytes()
invalid = folder("gif/invalid")
(invalid / "no-picture.gif").write_bytes(whole[:13] + b";")
(invalid / "cut.gif").write_bytes(whole[:200])

apng = folder("png/animated")
# Pillow does not blend pixels that are half transparent as the specification says.
for frame in frames:
    frame.putalpha(frame.getchannel("A").point(lambda alpha: 255 if alpha > 100 else 0))
frames[0].save(
    apng / "over.png", save_all=True, append_images=frames[1:], blend=1,
    duration=[40, 80, 10, 1000, 20], loop=3, disposal=[0, 1, 0, 2, 0],
)
opaque = moving(4, "RGB")
opaque[0].save(
    apng / "default.png", save_all=True, default_image=True, append_images=opaque[1:],
    duration=50, loop=0,
)
