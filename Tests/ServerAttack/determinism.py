# SPDX-License-Identifier: Apache-2.0
"""Requests the same URLs from new servers in other orders and concurrently: bytes and tags are equal."""

import concurrent.futures
import random
import threading

from calotype_server import Server
from photographs import PURGE_TOKEN, copy_photographs, fetch_singly, other_routes, renditions

ROUNDS, BRIEF_ROUNDS = 12, 2
PHOTOGRAPHS, BRIEF_PHOTOGRAPHS = 4, 2
SIDES = [16, 40, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536]
BRIEF_SIDES = [64, 200, 256, 400, 512, 1024]


def run(context):
    rng = random.Random(context.seed)
    folder = context.place / "photos"
    names = copy_photographs(context, folder, BRIEF_PHOTOGRAPHS if context.brief else PHOTOGRAPHS)
    options = [f"{side}x{side}" for side in (BRIEF_SIDES if context.brief else SIDES)]
    paths = renditions(names, options + [f"{option},fill,png" for option in options[3:12:4]])
    paths += other_routes(names)
    different, tags, failed = {}, set(), []
    with Server(context.program, folder, context.place / "singly", environment=PURGE_TOKEN) as server:
        references = fetch_singly(server, paths, names)
    for number in range(context.count(ROUNDS, BRIEF_ROUNDS)):
        order, clients = ordered(rng, paths, number)
        with Server(context.program, folder, context.place / f"round{number}") as server:
            answers = at_once(server, order, clients)
        for path, response in answers:
            reference = references[path]
            if response is None or response.status == 503:
                failed.append(path)
            elif path.startswith(("/info/", "/placeholder/")):
                # The placeholder is computed from the first decoded image; the tag depends on its bytes.
                if (response.tag == reference.tag) != (response.body == reference.body):
                    tags.add(path)
            else:
                if response.body != reference.body:
                    different.setdefault(path, set()).add(number)
                if response.tag != reference.tag:
                    tags.add(path)
    context.report.verdict(
        "determinism", "the same URL has the same bytes, independently of other requests", not different,
        f"{len(different)} of {len(paths)} URLs differ {sorted(different)[:3]}",
        different=len(different), addresses=len(paths))
    context.report.verdict(
        "determinism", "the same URL has the same tag", not tags, f"{len(tags)} differ {sorted(tags)[:3]}")
    context.report.verdict(
        "determinism", "every request gets a response", not failed, f"{len(failed)} of all did not {failed[:3]}")


def ordered(rng, paths, number):
    """Returns the order of a round and its number of clients: all sizes of a photograph together,
    large sizes first, or random."""
    paths = list(paths)
    rng.shuffle(paths)
    if number % 3 == 0:
        paths.sort(key=lambda path: path.rsplit("/", 1)[1])
    elif number % 3 == 1:
        paths.sort(key=lambda path: (path.rsplit("/", 1)[1], -int(path[1:].split("x")[0])
                                     if path[1].isdigit() else 0))
    return paths, (16, 1, 32, 4)[number % 4]


def at_once(server, paths, clients):
    local = threading.local()

    def ask(path):
        if not hasattr(local, "client"):
            local.client = server.client(timeout=120)
        try:
            return path, local.client.get(path)
        except OSError:
            return path, None

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        return list(pool.map(ask, paths))
