# SPDX-License-Identifier: Apache-2.0
"""File names that look alike, or are not UTF-8, in one folder."""

import json
import os
import shutil

from calotype_server import CORPUS, Server, quoted


# Names that are canonically equivalent, look alike, or differ only in case.
NAMES = [
    "\u00e9.png", "e\u0301.png",  # NFC and NFD, as written by Linux and macOS
    "\u212b.png", "\u00c5.png", "A\u030a.png",  # the angstrom sign, and both forms of the letter
    "\uac00.png", "\u1100\u1161.png",  # Hangul, composed and decomposed
    "\u1e69.png", "s\u0323\u0307.png", "s\u0307\u0323.png",  # marks in two orders
    "\ufb01.png", "fi.png",  # a ligature, equal only under compatibility normalization
    "a\u200db.png", "ab.png", "AB.png", "Ab.png",
    "\u0430b.png",  # Cyrillic
    "\u2126.png", "\u03a9.png", "K.png", "\u212a.png",
    "a b.png", "a+b.png", "a%20b.png", "\U0001f600.png", "1\u20442.png", "x\ny.png",
]
# Not UTF-8: may be omitted from listings.
BROKEN = [b"\xff\xfe.png", b"\xc3.png", b"e\xcc.png"]
FOLDERS = ["\u00fc", "u\u0308"]


def run(context):
    samples = sorted(CORPUS.glob("png/valid/*.png")) + sorted(CORPUS.glob("jpeg/valid/*.jpg"))
    folder, plain = context.place / "photos", context.place / "plain"
    fill(folder, plain, samples)
    with Server(context.program, plain, context.place / "plain-cache") as server, server.client() as client:
        references = [client.get(f"/32x32,png/{number}{sample.suffix}").body
                      for number, sample in images(samples)]
    failures, deaths = [], []
    server = Server(context.program, folder, context.place / "cache")
    try:
        for attempt in ("first", "second", "after a restart"):
            if attempt == "after a restart":
                server.stop()
                server.start()
            for what, check in CHECKS:
                try:
                    failures += [f"{attempt}, {what}: {text}" for text in check(server, references)]
                except OSError as error:
                    failures.append(f"{attempt}, {what}: {type(error).__name__}")
                    server.has_ended()
                if not server.is_alive():
                    deaths.append(f"{attempt}, {what}: {server.last_error()[-200:]}")
                    server.start()
    finally:
        server.stop()
    verdict = context.report.verdict
    verdict("names", "the host survives names that look alike", not deaths,
            f"{len(deaths)} deaths {deaths[:1]}" if deaths else f"{len(NAMES)} names", deaths=len(deaths))
    verdict("names", "listings, sprites and images distinguish names by their bytes", not failures,
            f"{len(failures)} failures {failures[:3]}" if failures else "")


def images(samples):
    return [(number, samples[number % len(samples)]) for number in range(len(NAMES))]


def fill(folder, plain, samples):
    """Copies one image to each name, and to a numbered file in another folder."""
    folder.mkdir()
    plain.mkdir()
    for number, sample in images(samples):
        shutil.copy(sample, folder / NAMES[number])
        shutil.copy(sample, plain / f"{number}{sample.suffix}")
    for name in BROKEN:
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(samples[0].read_bytes())
    for number, name in enumerate(FOLDERS):
        (folder / name).mkdir()
        shutil.copy(samples[number], folder / name / "1.png")


def listing(server, _):
    response = server.get("/-/listing/?limit=1000")
    if response.status != 200:
        return [f"{response.status}"]
    page = json.loads(response.body)
    missing = set(NAMES) - set(page["pictures"]["name"])
    lost = set(FOLDERS) - set(page["folders"]["name"])
    return [f"missing {name!a}" for name in sorted(missing | lost)]


def renditions(server, references):
    wrong = []
    with server.client() as client:
        for name, reference in zip(NAMES, references, strict=True):
            response = client.get(f"/32x32,png/{quoted(name)}")
            if response.body != reference:
                wrong.append(f"{name!a}: {response.status}, wrong image")
            response = client.get(f"/info/{quoted(name)}")
            if response.status != 200:
                wrong.append(f"/info of {name!a}: {response.status}")
    return wrong


def broken(server, _):
    with server.client() as client:
        answers = [client.get(f"/32x32/{quoted(name)}").status for name in BROKEN]
    return [f"{response}" for response in answers if response not in (200, 400, 404)]


def sprites(server, _):
    wrong = []
    with server.client(timeout=30) as client:
        for path in ("/sprite/32x32/", "/sprite/32x32,fill/?as=json", "/sprite/32x32/?arrangement=packed"):
            response = client.get(path)
            if response.status != 200:
                wrong.append(f"{path}: {response.status}")
            elif "as=json" in path:
                text = json.dumps(json.loads(response.body), ensure_ascii=False)
                wrong += [f"{name!a} not in {path}" for name in NAMES
                          if json.dumps(name, ensure_ascii=False) not in text]
        body = json.dumps(NAMES[:7]).encode()
        response = client.get("/sprite/32x32/", method="POST", body=body)
        if response.status != 200:
            wrong.append(f"POST of equal names: {response.status} {response.body[:80]!r}")
    return wrong


CHECKS = [("listing", listing), ("renditions", renditions), ("broken names", broken), ("sprite", sprites),
          ("listing again", listing)]
