# SPDX-License-Identifier: Apache-2.0
"""The URLs that valid clients request from a folder of photographs."""

import shutil

# Small and large, cropped or not, in slow and fast formats.
OPTIONS = ["64x64", "160x160,fill", "200x200", "320x240", "512x512", "800x600,q60", "1024x1024",
           "1600x1600", "300x300,webp", "256x256,png"]


def renditions(names, options=OPTIONS):
    return [f"/{option}/{name}" for name in names for option in options]


def other_routes(names):
    """Returns the URLs of the same photographs on the other routes."""
    return [path for name in names for path in (
        f"/tiles/{name}_files/9/0_0.jpg", f"/tiles/{name}_files/8/0_0.jpg",
        f"/tiles/{name}_files/11/1_1.jpg",
        f"/iiif/3/{name}/square/200,/0/default.jpg", f"/iiif/3/{name}/full/400,/90/gray.png",
        f"/iiif/3/{name}/100,80,640,480/320,/0/default.jpg", f"/placeholder/{name}?format=json",
        f"/info/{name}")]


def fetch_all(client, paths):
    """Returns responses by URL, requested one after the other."""
    answers = {}
    for path in paths:
        response = client.get(path)
        if response.status != 200:
            raise AssertionError(f"{path}: {response.status} {response.body[:200]!r}")
        answers[path] = response
    return answers


PURGE_TOKEN = {"CALOTYPE_PURGE_TOKENS": "reference"}


def fetch_singly(server, paths, names):
    """Returns responses by URL, each after a purge of its photograph; the server must have been
    started with `PURGE_TOKEN`."""
    answers = {}
    with server.client() as client:
        for path in paths:
            for name in names:
                if name in path:
                    client.get(f"/{name}", {"Authorization": "Bearer reference"}, method="DELETE")
            answers.update(fetch_all(client, [path]))
    return answers


def copy_photographs(context, folder, count):
    """Copies the first photographs into a folder; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for number, photograph in enumerate(context.photographs()[:count]):
        name = f"{number}{photograph.suffix.lower()}"
        shutil.copy(photograph, folder / name)
        names.append(name)
    return names
