#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the worker: its cost, its memory, its survival, resumed runs and uneven sources.

usage: scale.py CALOTYPE [PART]... [--count N]; parts: cost, memory, survival, resume, skew

Needs Pillow. Prints the figures, and fails at the end if one exceeds its bound. The bounds are goals, not what was
measured before.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Python"))

import calotype_workers  # noqa: E402
from calotype_workers import Outputs, Worker  # noqa: E402

PIXELS = 12_000_000


def photograph(path, size, seed=1):
    """Writes an image with the entropy of a photograph: smooth areas with noise."""
    import PIL.Image  # Not in the process of the client, which is measured.

    noise = PIL.Image.frombytes("L", (250, 188), random.Random(seed).randbytes(250 * 188))
    channels = [noise.rotate(90 * turn).resize(size, PIL.Image.Resampling.BICUBIC) for turn in (0, 2, 0)]
    PIL.Image.merge("RGB", channels).save(path, quality=90)


def linked(folder, original, count):
    """Returns the paths of `count` links to an original."""
    folder.mkdir()
    paths = [folder / f"{index:06}.jpg" for index in range(count)]
    for path in paths:
        os.link(original, path)
    return paths


missed = []


def check(name, value, most, unit=""):
    """Prints a figure with its bound; `report_missed` lists those that exceed it."""
    text = f"{name}: {value:.3f}{unit} (at most {most}{unit})"
    print(text if value <= most else f"{text}: missed", flush=True)
    if value > most:
        missed.append(text)


def report_missed():
    """Fails if a figure has exceeded its bound."""
    if missed:
        raise SystemExit("\n".join(["bounds that are missed:", *missed]))


def processor_seconds(command):
    """Returns user and system time of a process and of all of its descendants."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def client(program, manifest, folder, mode):
    """The process that `cost` measures: all sources of a manifest by address or as bytes."""
    sources = pathlib.Path(manifest).read_text().splitlines()
    options = {"three": ["800", "400", "200x200,fill"], "largest": ["800"]}.get(mode, ["400"])
    outputs = Outputs(
        f"{folder}/{{digest}}-{{name}}.{{extension}}", **{f"s{index}": text for index, text in enumerate(options)})
    if mode == "bytes":
        rows = ({"source": path, "version": "1", "bytes": pathlib.Path(path).read_bytes()} for path in sources)
    else:
        rows = calotype_workers.rows(sources)
    with Worker(program) as worker:
        assert all(record["status"] == "made" for record in worker.run(rows, outputs))


def cost(program, work, count):
    photograph(work / "12mp.jpg", (4000, 3000))
    paths = [str(path) for path in linked(work / "cost", work / "12mp.jpg", count)]
    (work / "manifest").write_text("\n".join(paths))
    modes = ["thumbnail", "address", "bytes", "largest", "three"]
    seconds = {}
    rounds = 7
    for turn in range(rounds):
        # In both directions, because the speed of the machine changes in the course of a round.
        for mode in modes[:: 1 if turn % 2 == 0 else -1]:
            folder = work / f"{mode}-{turn}"
            if mode == "thumbnail":
                folder.mkdir()
                command = [program, "thumbnail", "--quiet", "--size", "400", "-o", f"{folder}/{{name}}.jpg", *paths]
            else:
                command = [sys.executable, __file__, program, "client", str(work / "manifest"), str(folder), mode]
            seconds.setdefault(mode, []).append(processor_seconds(command))
    # The fastest round: other programs on the machine and its other tenants only add processor time.
    least = {mode: min(values) * 1000 / count for mode, values in seconds.items()}
    for mode in modes:
        values = sorted(value * 1000 / count for value in seconds[mode])
        print(f"{mode}: {values[0]:.2f} ms of processor time a source in the fastest of {rounds} rounds, "
              f"median {statistics.median(values):.2f}, slowest {values[-1]:.2f}")
    check("by address, relative to thumbnail", least["address"] / least["thumbnail"], 1.05)
    check("as bytes, relative to thumbnail", least["bytes"] / least["thumbnail"], 1.15)
    check("three sizes, relative to the largest alone", least["three"] / least["largest"], 1.35)


def resident_bytes(process_id):
    """Returns the resident memory of a process and its descendants."""
    total = 0
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        except OSError:
            continue
        if str(process_id) in (fields["Pid"], fields["PPid"]):
            total += int(fields.get("VmRSS", "0 kB").split()[0]) * 1024
    return total


def memory(program, work, count):
    photograph(work / "small.jpg", (160, 120))
    outputs = Outputs(f"{work}/memory/{{digest}}.jpg", s="40")
    row = next(calotype_workers.rows([work / "small.jpg"]))
    total = max(count, 100_000)
    used = {}
    with Worker(program, arguments=["--replace"]) as worker:
        for index, _ in enumerate(worker.run((row for _ in range(total)), outputs), 1):
            if index in (total // 10, total):
                used[index] = resident_bytes(worker.process_id)
        assert worker.start_count == 1
    for index, value in used.items():
        print(f"after {index} requests: {value / 1e6:.1f} MB resident, with the sandbox")
    check("growth of memory", used[total] / used[total // 10], 1.1)


def survival(program, work, count):
    photograph(work / "survival.jpg", (4000, 3000), 2)
    paths = linked(work / "survival", work / "survival.jpg", count)
    for index, path in enumerate(paths[::100]):
        data = path.read_bytes()
        path.unlink()
        cut = [b"", data[:300], random.Random(index).randbytes(5000), data[:2] + bytes(100_000)][index % 4]
        path.write_bytes(cut)
    rows = list(calotype_workers.rows(paths))

    def files(folder):
        return {path.name: hashlib.sha256(path.read_bytes()).digest() for path in (work / folder).rglob("*.jpg")}

    def run(folder, kills):
        # The same digests in both folders: the path of an output is not a part of them.
        outputs = Outputs(f"{work}/{folder}/{{shard}}/{{digest}}.jpg", s="400")
        finished = threading.Event()
        with Worker(program) as worker:
            def kill():
                while not finished.wait(2):
                    if (process_id := worker.process_id) is not None:
                        os.kill(process_id, 9)
            killer = threading.Thread(target=kill)
            if kills:
                killer.start()
            records = list(worker.run(rows, outputs))
            finished.set()
            if kills:
                killer.join()
            return records, worker.start_count - 1

    calm, _ = run("calm", False)
    records, kill_count = run("disturbed", True)
    assert kill_count >= 2, f"only {kill_count} kills; use a larger --count"
    for record_list in (calm, records):
        assert sorted(record["source"] for record in record_list) == sorted(map(str, paths))
    results = [{record["source"]: (record["status"] == "failed", record["kind"]) for record in r} for r in (calm, records)]
    assert results[0] == results[1], "a source has another result"
    expected, found = files("calm"), files("disturbed")
    assert expected == found, "an output differs"
    failed = sum(record["status"] == "failed" for record in records)
    # A request that was in progress when the worker was killed; those that waited in the pipe were not begun.
    jobs = os.cpu_count() or 1
    temporary = sum(1 for path in (work / "disturbed").rglob("*") if path.is_file() and path.suffix != ".jpg")
    print(f"{len(records)} sources, {failed} failed alike, {len(found)} equal files, {kill_count} kills, "
          f"{sum(record['attempt'] > 1 for record in records)} requests sent twice, {temporary} temporary files left")
    check("work repeated", 100 * min(kill_count * jobs, len(records)) / len(records), 2, " %")


def resume(program, work, count):
    total = max(count, 1_000_000)
    photograph(work / "changed.jpg", (400, 300))
    paths = linked(work / "resume", work / "changed.jpg", 10)
    outputs = Outputs(f"{work}/resumed/{{digest}}.jpg", s="40")
    with open(work / "rows.jsonl", "w") as manifest, open(work / "report.jsonl", "w") as report:
        for index in range(total):
            changed = index % (total // 10) == 7
            source = str(paths[index // (total // 10)]) if changed else f"/photographs/{index % 1000}/{index}.jpg"
            manifest.write(json.dumps({"source": source, "version": "2" if changed else "1"}) + "\n")
            report.write(json.dumps({
                "source": source, "version": "1", "request": outputs.digest, "status": "made", "kind": None,
                "message": None, "retry": False, "format": "jpeg", "width": 400, "height": 300, "milliseconds": 12,
                "attempt": 1, "worker": "host:1", "outputs": [{
                    "name": "s", "path": f"/out/{index}.jpg", "skipped": False, "width": 40, "height": 30,
                    "byteCount": 1000, "sha256": hashlib.sha256(str(index).encode()).hexdigest()}]}) + "\n")
    start = time.monotonic()
    with open(work / "rows.jsonl") as manifest, Worker(program) as worker:
        rows = calotype_workers.pending(map(json.loads, manifest), [str(work / "report.jsonl")], outputs)
        records = list(worker.run(rows, outputs))
    seconds = time.monotonic() - start
    assert sorted(record["source"] for record in records) == sorted(map(str, paths))
    assert all(record["status"] == "made" for record in records)
    check(f"{len(records)} changed of {total} rows", seconds, 60, " s")
    try:
        calotype_workers.write(calotype_workers.read(str(work / "report.jsonl")), str(work / "report.parquet"))
    except ImportError:
        print("pyarrow is not installed: no report as Parquet")
    else:
        print(f"the report of {total} rows as Parquet: {(work / 'report.parquet').stat().st_size / 1e6:.1f} MB")


def skew(program, work, count):
    photograph(work / "tiny.jpg", (640, 480))
    paths = linked(work / "skew", work / "tiny.jpg", max(count, 2000))
    photograph(work / "large.jpg", (20_000, 20_000))
    for index in range(5):
        path = work / "skew" / f"large-{index}.jpg"
        os.link(work / "large.jpg", path)
        paths.insert(len(paths) // 2, path)
    rows = sorted(calotype_workers.rows(paths), key=lambda row: -row["byteCount"])
    outputs = Outputs(f"{work}/skewed/{{digest}}.jpg", s="400")
    with Worker(program) as worker:
        start = time.monotonic()
        records = list(worker.run(rows, outputs))
        seconds = time.monotonic() - start
        jobs = worker.jobs
    assert all(record["status"] == "made" for record in records)
    # The time for which the worker was busy with requests, evenly divided: no order is faster.
    bound = max(sum(record["milliseconds"] for record in records) / jobs,
                max(record["milliseconds"] for record in records)) / 1000
    # Milliseconds are rounded down: on average by half a millisecond.
    bound += 0.0005 * len(records) / jobs
    check("time relative to the bound", seconds / bound, 1.15)


PARTS = {"cost": (cost, 500), "memory": (memory, 100_000), "survival": (survival, 2000), "resume": (resume, 1_000_000),
         "skew": (skew, 10_000)}


def main():
    if sys.argv[2:3] == ["client"]:
        client(sys.argv[1], *sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--count", type=int)
    arguments = parser.parse_args()
    for name in arguments.parts or PARTS:
        run, count = PARTS[name]
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory() as work:
            run(os.path.abspath(arguments.program), pathlib.Path(work), arguments.count or count)
    report_missed()


if __name__ == "__main__":
    main()
