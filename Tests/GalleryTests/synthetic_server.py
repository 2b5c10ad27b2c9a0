# SPDX-License-Identifier: Apache-2.0
"""A server of synthetic images: any number, of any size.

Implements the routes that the page uses: its own files, listings, renditions, Deep Zoom tiles and
information, and the index of `synthetic_library.py` over the images of `#/many/`. `#/many/` has the given number of images, drawn from a thousand originals. `#/large/` has one
of 8000 x 6000 pixels whose pixels are known, and two small ones. `#/plain/` has images without tiles
or information, `#/tree/` 200 folders.
"""

import argparse
import asyncio
import base64
import functools
import io
import json
import pathlib
from urllib.parse import parse_qs, unquote, urlsplit

import numpy
from PIL import Image, ImageDraw
from synthetic_library import LADDER, Library
from thumbhash import _thumbhash as thumbhash

PAGE = pathlib.Path(__file__).parents[2] / "Sources/ServedFiles/Gallery"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types calotype-worker"
)
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
ORIGINALS = 1000
SIZES = [(4000, 3000), (6000, 4000), (3000, 4000), (4000, 4000), (5760, 3240)]
LARGE = (8000, 6000)
TILE_SIZE, OVERLAP = 254, 1
NOW = 1_790_000_000
DAY = 86_400


def known_pixels(left, top, right, bottom, scale=1):
    """Returns pixels of the large image, reduced by `scale`; the colour encodes the position."""
    x = (numpy.arange(left, right) * scale)[None, :]
    y = (numpy.arange(top, bottom) * scale)[:, None]
    red = x * 255 / LARGE[0] + y * 0
    green = y * 255 / LARGE[1] + x * 0
    blue = ((x // 500 + y // 500) % 2) * 160 + 40
    return Image.fromarray(numpy.stack([red, green, blue], 2).astype("uint8"))


@functools.cache
def original(number):
    """Returns one of the thousand originals, at 1/10 of the size in the listing."""
    width, height = (side // 10 for side in SIZES[number % len(SIZES)])
    x = numpy.linspace(0, 6 + number % 7, width)[None, :]
    y = numpy.linspace(0, 4 + number % 5, height)[:, None]
    waves = [numpy.sin(x + number) * numpy.cos(y * (i + 1) / 2 - number) for i in range(3)]
    image = Image.fromarray((numpy.stack(waves, 2) * 90 + 128).astype("uint8"))
    ImageDraw.Draw(image).text((20, 20), f"{number}", fill="white", font_size=height / 3)
    return image


@functools.cache
def placeholder(number):
    small = original(number).resize((64, 64 * SIZES[number % 5][1] // SIZES[number % 5][0]))
    pixels = small.convert("RGBA").tobytes()
    return base64.b64encode(bytes(thumbhash.rgba_to_thumb_hash(*small.size, pixels))).decode()


@functools.cache
def rendition(number, side):
    image = original(number)
    scale = side / max(image.size)
    size = tuple(max(1, round(length * scale)) for length in image.size)
    return jpeg(image.resize(size))


def jpeg(image):
    file = io.BytesIO()
    image.save(file, "JPEG", quality=85, subsampling=0)
    return file.getvalue()


class Folder:
    """A listing in columns, in the format of the server."""

    def __init__(self, count, sizes, names, folders=(), days=3650):
        self.count, self.names, self.folders = count, names, list(folders)
        shown = [sizes[i % len(sizes)] for i in range(count)]
        self.widths, self.heights = [size[0] for size in shown], [size[1] for size in shown]
        # Dates not in the order of the names.
        self.modified = [NOW - (i * 7919 % count) * days * DAY // count for i in range(count)]
        self.places = {name: i for i, name in enumerate(names)}

    @functools.cache
    def page(self, offset, limit):
        end = min(self.count, offset + limit)
        part = slice(offset, end)
        listing = {
            "ladder": LADDER,
            "total": self.count,
            "offset": offset,
            "next": end if end < self.count else None,
            "revision": "1",
            "pictures": {
                "name": self.names[part],
                "width": self.widths[part],
                "height": self.heights[part],
                "modified": self.modified[part],
                "version": [f"v{i}" for i in range(offset, end)],
                "error": {},
                "placeholder": {i - offset: self.placeholder(i) for i in range(offset, end)},
            },
        }
        if offset == 0:
            images = [i % 3 * 40 for i in range(len(self.folders))]
            listing["folders"] = {"name": self.folders, "pictures": images}
        return json.dumps(listing, separators=(",", ":")).encode()

    def placeholder(self, index):
        return placeholder(index % ORIGINALS)


def folders(count, days):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names = [f"{letters[i * 26 // count]}-{i:07}.jpg" for i in range(count)]
    inside = [f"folder {i:03}" for i in range(200)]
    return {
        "": Folder(0, SIZES, [], ["large", "many", "plain", "tree"]),
        "tree": Folder(0, SIZES, [], inside),
        "many": Folder(count, SIZES, names, days=days),
        "large": Folder(3, [LARGE, SIZES[0], SIZES[2]], ["large.jpg", "next.jpg", "third.jpg"]),
        "plain": Folder(2, [LARGE], ["one.jpg", "two.jpg"]),
    }


class Server:
    """Responds to GET requests, one after the other on each connection."""

    def __init__(self, count, days, delay, page):
        self.page = page
        self.folders, self.delay = folders(count, days), delay
        self.library = Library("many", self.folders["many"])
        self.archives = []

    async def serve(self, reader, writer):
        try:
            while line := await reader.readline():
                length = 0
                while field := (await reader.readline()).strip():
                    if field.lower().startswith(b"content-length:"):
                        length = int(field.split(b":")[1])
                sent = await reader.readexactly(length)
                status, media_type, body, caching = await self.respond(line.split()[1].decode(), sent)
                writer.write(
                    f"HTTP/1.1 {status} -\r\nContent-Type: {media_type}\r\n"
                    f"Content-Length: {len(body)}\r\nCache-Control: {caching}\r\n"
                    # Permits the service worker, which is not at the root, to serve the whole page.
                    f"Service-Worker-Allowed: /\r\n"
                    f"Content-Security-Policy: {POLICY}\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def respond(self, target, sent=b""):
        url = urlsplit(target)
        segments = [unquote(segment) for segment in url.path[1:].split("/")]
        if url.path == "/" or segments[:2] == ["-", "gallery"]:
            if segments[-1] == "gallery.js":
                # The real server joins the modules of the page.
                return 200, MEDIA_TYPES[".js"], b'import "./main.js";', "no-cache"
            file = self.page / (segments[-1] or "index.html")
            if not file.is_file():
                return self.missing()
            return 200, MEDIA_TYPES[file.suffix], file.read_bytes(), "no-cache"
        if segments[:2] == ["-", "listing"] and segments[2:][:1][0] in self.folders:
            query = parse_qs(url.query)
            page = self.folders[segments[2]].page(int(query["offset"][0]), int(query["limit"][0]))
            return 200, "application/json", page, "no-cache"
        if segments[:2] in (["-", "library"], ["-", "test"], ["-", "download"]):
            return self.indexed(segments, url.query, sent)
        body = self.image(segments)
        if body is None:
            return self.missing()
        await asyncio.sleep(self.delay)
        media_type = "application/json" if body.startswith(b"{") else "image/jpeg"
        return 200, media_type, body, "max-age=31536000, immutable"

    def indexed(self, segments, query, sent):
        if segments[1] == "download" and len(segments) == 2:
            self.archives.append(json.loads(sent))
            url = json.dumps({"url": f"/-/download/{len(self.archives) - 1}.zip"})
            return 200, "application/json", url.encode(), "no-store"
        if segments[1] == "download":
            order = self.archives[int(segments[2].removesuffix(".zip"))]
            archive = self.library.archive(order["images"], order.get("sidecars", False))
            return 200, "application/zip", archive, "no-store"
        answer = self.library.respond(segments, query, sent)
        if answer is None:
            return self.missing()
        if isinstance(answer, bytes):
            return (200, "image/png", answer, "no-cache") if answer else (204, "text/plain", b"", "no-store")
        body = json.dumps(answer, separators=(",", ":")).encode()
        return 200, "application/json", body, "no-cache"

    def missing(self):
        return 404, "application/json", b'{"error": "not found"}', "no-store"

    def image(self, segments):
        match segments:
            case ["tiles", "large", name] if name.endswith(".json"):
                return self.tile_facts(name.removesuffix(".json"))
            case ["tiles", "large", name, level, place] if name.endswith("_files"):
                column, row = map(int, place.removesuffix(".jpg").split("_"))
                return self.tile(name.removesuffix("_files"), int(level), column, row)
            case ["info", "large", "large.jpg"]:
                return json.dumps(INFORMATION).encode()
            case ["info" | "tiles", *_]:
                return None
            case [folder, box, name] if folder in self.folders and "x" in box:
                place = self.folders[folder].places.get(name)
                if place is None:
                    return None
                side = int(box.split("x")[0])
                if folder != "many" and self.folders[folder].widths[place] == LARGE[0]:
                    return large_rendition(side)
                return rendition(place % ORIGINALS, side)
        return None

    def tile_facts(self, name):
        if name != "large.jpg":
            return None
        width, height = LARGE
        facts = {"width": width, "height": height, "tileSize": TILE_SIZE, "overlap": OVERLAP}
        return json.dumps(facts | {"levels": 14, "format": "jpg"}).encode()

    def tile(self, name, level, column, row):
        scale = 2 ** (13 - level)
        width, height = (-(-side // scale) for side in LARGE)
        left, top = (max(0, place * TILE_SIZE - OVERLAP) for place in (column, row))
        right = min(width, (column + 1) * TILE_SIZE + OVERLAP)
        bottom = min(height, (row + 1) * TILE_SIZE + OVERLAP)
        if name != "large.jpg" or not 0 <= level <= 13 or left >= right or top >= bottom:
            return None
        return jpeg(known_pixels(left, top, right, bottom, scale))


@functools.cache
def large_rendition(side):
    height = side * LARGE[1] // LARGE[0]
    return jpeg(known_pixels(0, 0, side, height, LARGE[0] / side))


INFORMATION = {
    "name": "large.jpg",
    "width": LARGE[0],
    "height": LARGE[1],
    "format": "jpeg",
    "mediaType": "image/jpeg",
    "byteCount": 12_345_678,
    "modified": NOW,
    "camera": "Kamera <b>X</b>",
    "lens": "35 mm",
    "exposure": 0.004,
    "aperture": 2.8,
    "iso": 200,
    "focalLength": 35,
    "taken": "2026-09-21T12:00:00",
    "colorProfile": "Display P3",
}


async def run(count, days, port, delay, page):
    server = await asyncio.start_server(Server(count, days, delay, page).serve, "127.0.0.1", port)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="images in `many`")
    parser.add_argument("--days", type=int, default=3650, help="days of the images in `many`")
    parser.add_argument("--port", type=int, default=0, help="0 selects a free port")
    parser.add_argument("--delay", type=float, default=0, help="delay of each image in seconds")
    parser.add_argument("--page", type=pathlib.Path, default=PAGE, help="the folder of the page")
    asyncio.run(run(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
