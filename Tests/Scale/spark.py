#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a job on Spark with one and with two workers, and img2dataset with the same images.

usage: spark.py CALOTYPE IMG2DATASET [--count N]; needs pyspark, Java, nginx and Pillow

Each worker of the standalone master is bound to a processor. Figures are medians of three jobs of one session, after a
job that is not measured: they exclude the start-up of Spark. Processor times are those of all processes of the cluster.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from cluster import await_response, get
from scale import check, linked, photograph, processor_seconds, report_missed

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORT = 18190
SIZE, QUALITY = 400, 80
ROUNDS = 3
PR_SET_CHILD_SUBREAPER = 36


def job(program, master, sources, outputs):
    """The driver: a job for each line of its input, first of some sources of a file, then of all; prints its seconds."""
    sys.path.insert(0, str(ROOT / "Python"))
    import pyspark.sql
    from calotype_workers import Outputs, spark

    session = pyspark.sql.SparkSession.builder.master(master).config("spark.ui.enabled", "false").config(
        "spark.executorEnv.CALOTYPE_PROGRAM", program).config(
        "spark.executorEnv.PYTHONPATH", str(ROOT / "Python")).config(
        "spark.sql.execution.arrow.maxRecordsPerBatch", "64").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # Names with a digest need the version of a URL.
    rows = [(line, "1") for line in pathlib.Path(sources).read_text().split()]
    # Executors register after the session exists: the first job, which is not measured, waits for them.
    for index, chosen in enumerate([rows[:64]] + [rows] * ROUNDS):
        sys.stdin.readline()
        start = time.monotonic()
        frame = session.createDataFrame(chosen, "source string, version string").repartition(8)
        options = Outputs(f"{outputs}/{index}/{{digest}}-{{name}}.jpg", s=f"{SIZE},q{QUALITY}")
        made = frame.mapInArrow(spark.run(options, ("--allow-network", "127.0.0.0/8")), spark.SCHEMA).collect()
        seconds = time.monotonic() - start
        if {row.status for row in made} != {"made"} or len(made) != len(chosen):
            raise SystemExit(
                f"{len(made)} of {len(chosen)} sources: {next((row for row in made if row.status != 'made'), None)}")
        print(seconds, flush=True)
    session.stop()


@contextlib.contextmanager
def cluster(work, worker_count):
    """A standalone master with workers of one processor each."""
    import pyspark

    home = pathlib.Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    master = f"spark://127.0.0.1:{PORT + 1}"
    program = str(home / "bin/spark-class")
    commands = [[program, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(PORT + 1),
                 "--webui-port", str(PORT + 2)]]
    commands += [
        ["taskset", "-c", str(number), program, "org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory",
         "2g", "--webui-port", str(PORT + 3 + number), "--work-dir", str(work / f"worker-{number}"), master]
        for number in range(worker_count)]
    with open(work / "spark.log", "a") as log, contextlib.ExitStack() as stack:
        for command in commands:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        await_response(PORT + 2, "/json/")
        while json.loads(get(PORT + 2, "/json/")[1])["aliveworkers"] < worker_count:
            time.sleep(0.2)
        yield master


def used_seconds():
    """Returns the processor time of all descendants of this process, including those that have ended."""
    parents, seconds = {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the program, in parentheses, may contain spaces.
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1])
        # utime, stime, and those of the children for which the process has waited.
        seconds[int(path.parent.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def is_descendant(process):
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    times = os.times()
    return times.children_user + times.children_system + sum(
        value for process, value in seconds.items() if process != os.getpid() and is_descendant(process))


def measure(program, sources, worker_count, outputs):
    """Prints the medians of the processor time of a job, of all processes of the cluster, and of its seconds."""
    work = pathlib.Path(outputs).parent
    # Executors that Spark kills leave processes behind, which become children of this one.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    used, seconds = [], []
    with cluster(work, int(worker_count)) as master, open(work / "driver.log", "a") as log:
        driver = subprocess.Popen(
            [sys.executable, __file__, program, "-", "--job", master, sources, outputs], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, stderr=log, env={**os.environ, "PYSPARK_PYTHON": sys.executable})
        for _ in range(1 + ROUNDS):
            before = used_seconds()
            driver.stdin.write("\n")
            driver.stdin.flush()
            line = driver.stdout.readline()
            if not line:
                break
            seconds.append(float(line))
            used.append(used_seconds() - before)
        driver.stdin.close()
        if driver.wait() != 0:
            raise SystemExit((work / "driver.log").read_text()[-2000:])
    # None of them runs beside the next measurement.
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    print(statistics.median(used[1:]), statistics.median(seconds[1:]))


def measured(program, work, sources, worker_count, name):
    """Returns the processor time of the whole cluster with a job, and the seconds of the job."""
    command = [sys.executable, __file__, program, "-", "--measure", str(sources), str(worker_count), f"{work}/{name}"]
    return map(float, subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split())


def bare_command(program, work, sources, processors):
    """Returns the medians of the processor time and of the seconds of `thumbnail` on some processors."""
    used, seconds = [], []
    for number in range(ROUNDS):
        folder = work / f"thumbnails-{processors}-{number}"
        folder.mkdir()
        start = time.monotonic()
        used.append(processor_seconds([
            "taskset", "-c", processors, program, "thumbnail", "--quiet", "--size", str(SIZE), "--quality",
            str(QUALITY), "-o", f"{folder}/{{name}}.jpg", *sources]))
        seconds.append(time.monotonic() - start)
    return statistics.median(used), statistics.median(seconds)


def spark_jobs(program, work, sources):
    paths = sources.read_text().split()
    results = {}
    for worker_count, processors in ((1, "0"), (2, "0-1")):
        bare = bare_command(program, work, paths, processors)
        spark = tuple(measured(program, work, sources, worker_count, f"all-{worker_count}"))
        results[worker_count] = (bare, spark)
        for name, (used, seconds) in (("thumbnail", bare), ("Spark", spark)):
            print(f"{worker_count} processors, {name}: {len(paths) / seconds:.1f} images a second, "
                  f"{1000 * used / len(paths):.1f} ms of processor time an image", flush=True)
    (bare, spark), (bare_two, spark_two) = results[1], results[2]
    print(f"times the images a second with two processors: thumbnail {bare[1] / bare_two[1]:.2f}, "
          f"Spark {spark[1] / spark_two[1]:.2f}")
    check("processor time of the job on two workers, relative to thumbnail", spark_two[0] / bare_two[0], 1.25)
    check("1.8 times the duration with two workers, of that with one", 1.8 * spark_two[1] / spark[1], 1)


def img2dataset(program, peer, work, names):
    """Compares the images a second with img2dataset; both load the same images from nginx."""
    (work / "temp").mkdir()
    (work / "nginx.conf").write_text(
        f"pid {work}/nginx.pid; error_log {work}/nginx.log; user root; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {work}/temp; "
        f"server {{ listen 127.0.0.1:{PORT}; root {work}; }} }}\n")
    nginx = subprocess.Popen(["nginx", "-p", str(work), "-c", str(work / "nginx.conf"), "-g", "daemon off;"])
    try:
        urls = work / "urls.txt"
        urls.write_text("\n".join(f"http://127.0.0.1:{PORT}/in/{name}" for name in names))
        await_response(PORT, f"/in/{names[0]}")
        _, own = measured(program, work, urls, 2, "urls")
        start = time.monotonic()
        subprocess.run(
            [peer, "--url_list", urls, "--output_folder", work / "dataset", "--image_size", str(SIZE), "--resize_mode",
             "keep_ratio_largest", "--encode_quality", str(QUALITY), "--processes_count", "2", "--thread_count", "16",
             "--number_sample_per_shard", "100", "--output_format", "files", "--resize_only_if_bigger", "True"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = time.monotonic() - start
    finally:
        nginx.terminate()
        nginx.wait()
    made = len(list((work / "dataset").glob("*/*.jpg")))
    if made != len(names):
        raise SystemExit(f"img2dataset made {made} of {len(names)} images")
    print(f"by URL: {made / own:.1f} images a second on Spark, {made / seconds:.1f} with img2dataset")
    check("3 times the duration on Spark, of that with img2dataset", 3 * own / seconds, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("img2dataset")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--job", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    if arguments.job:
        return job(program, *arguments.job)
    if arguments.measure:
        return measure(program, *arguments.measure)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        os.chmod(work, 0o755)
        photograph(work / "original.jpg", (4000, 3000))
        paths = linked(work / "in", work / "original.jpg", arguments.count)
        (work / "all.txt").write_text("\n".join(map(str, paths)))
        spark_jobs(program, work, work / "all.txt")
        img2dataset(program, arguments.img2dataset, work, [path.name for path in paths])
    report_missed()


if __name__ == "__main__":
    main()
