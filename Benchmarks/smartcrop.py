# SPDX-License-Identifier: Apache-2.0
"""Compares the smart crop of the server with libvips' `smartcrop` by attention: PROGRAM PHOTOGRAPH...

Each photograph of at most 640 pixels is cropped to a square and to 9:16 or 16:9. Prints the intersection over union of
both crops, and that of the crop from the centre with libvips'. The position of the server's crop is found in its pixels.
"""

import http.client
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyvips


def originals(paths, folder):
    for number, path in enumerate(paths):
        try:
            image = pyvips.Image.thumbnail(path, 640, height=640).colourspace("srgb").copy_memory()
        except pyvips.Error:
            continue
        if image.bands == 3 and min(image.width, image.height) >= 200:
            name = f"{number}.png"
            image.pngsave(str(folder / name), keep="none")
            yield name, image


def position(part, whole):
    """Returns where the rows of a part are in an image, exactly."""
    for y in range(whole.shape[0] - part.shape[0] + 1):
        for x in range(whole.shape[1] - part.shape[1] + 1):
            if (whole[y, x:x + part.shape[1]] == part[0]).all() and \
                    (whole[y:y + part.shape[0], x:x + part.shape[1]] == part).all():
                return x, y
    raise ValueError("the crop is not a part of the image")


def overlap(one, other, width, height):
    both = max(0, width - abs(one[0] - other[0])) * max(0, height - abs(one[1] - other[1]))
    return both / (2 * width * height - both)


def main():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        images = list(originals(sys.argv[2:], folder))
        server = subprocess.Popen(
            [sys.argv[1], "serve", str(folder), "--port", str(port), "--sizes", "exact",
             "--cache-directory", str(folder / "store")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            compare(images, http.client.HTTPConnection("127.0.0.1", port, timeout=60))
        finally:
            server.terminate()
            server.wait()


def compare(images, connection):
    smart, centre = {}, {}
    for name, image in images:
        whole = image.numpy()
        side = min(image.width, image.height)
        narrow = side * 9 // 16
        shapes = {"square": (side, side)}
        shapes["9:16"] = (narrow, side) if image.width >= image.height else (side, narrow)
        for shape, (width, height) in shapes.items():
            connection.request("GET", f"/{width}x{height},fill,smart,png/{name}")
            response = connection.getresponse()
            body = response.read()
            assert response.status == 200, body[:200]
            part = pyvips.Image.new_from_buffer(body, "").extract_band(0, n=3).numpy()
            peer = image.smartcrop(width, height, interesting="attention")
            theirs = -peer.xoffset, -peer.yoffset
            middle = (image.width - width) / 2, (image.height - height) / 2
            smart.setdefault(shape, []).append(
                overlap(position(part, whole), theirs, width, height))
            centre.setdefault(shape, []).append(overlap(middle, theirs, width, height))
    for shape, values in smart.items():
        print(f"{shape}: {len(values)} photographs, intersection over union with libvips: mean "
              f"{np.mean(values):.2f}, median {np.median(values):.2f}; of the centre: mean "
              f"{np.mean(centre[shape]):.2f}")


if __name__ == "__main__":
    main()
