#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a job on Spark with one and with two workers, and img2dataset with the same images.

usage: spark.py CALOTYPE IMG2DATASET [--count N]; needs pyspark, Java, nginx and Pillow

Each worker of the standalone master is bound to a processor. The start-up of Spark, a job of two images, is subtracted.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from cluster import await_response, get
from scale import check, linked, photograph, processor_seconds, report_missed

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORT = 18190
SIZE, QUALITY = 400, 80
PR_SET_CHILD_SUBREAPER = 36


def job(program, master, sources, outputs):
    """The driver: makes the sources of a file, and prints the seconds of the job without those of the session."""
    sys.path.insert(0, str(ROOT / "Python"))
    import pyspark.sql
    from calotype_workers import Outputs, spark

    session = pyspark.sql.SparkSession.builder.master(master).config("spark.ui.enabled", "false").config(
        "spark.executorEnv.CALOTYPE_PROGRAM", program).config(
        "spark.executorEnv.PYTHONPATH", str(ROOT / "Python")).config(
        "spark.sql.execution.arrow.maxRecordsPerBatch", "64").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # Executors register after the session exists.
    frame = session.createDataFrame([("",)] * 64, "source string").repartition(8)
    frame.mapInArrow(lambda batches: batches, "source string").collect()
    # Names with a digest need the version of a URL.
    rows = [(line, "1") for line in pathlib.Path(sources).read_text().split()]
    start = time.monotonic()
    frame = session.createDataFrame(rows, "source string, version string").repartition(8)
    options = Outputs(f"{outputs}/{{digest}}-{{name}}.jpg", s=f"{SIZE},q{QUALITY}")
    made = frame.mapInArrow(spark.run(options, ("--allow-network", "127.0.0.0/8")), spark.SCHEMA).collect()
    print(time.monotonic() - start)
    if {row.status for row in made} != {"made"} or len(made) != len(rows):
        raise SystemExit(f"{len(made)} of {len(rows)} sources: {next(row for row in made if row.status != 'made')}")
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


def measure(program, sources, worker_count, outputs):
    """Prints the processor time of a cluster with a job, of all of its processes, and the seconds of the job."""
    work = pathlib.Path(outputs).parent
    # Executors that Spark kills leave processes behind, which become children of this one.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    with cluster(work, int(worker_count)) as master, open(work / "driver.log", "a") as log:
        driver = subprocess.run(
            [sys.executable, __file__, program, "-", "--job", master, sources, outputs], stdout=subprocess.PIPE,
            text=True, stderr=log, env={**os.environ, "PYSPARK_PYTHON": sys.executable})
        if driver.returncode != 0:
            raise SystemExit((work / "driver.log").read_text()[-2000:])
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    times = os.times()
    print(times.children_user + times.children_system, float(driver.stdout.split()[-1]))


def measured(program, work, sources, worker_count, name):
    """Returns the processor time of the whole cluster with a job, and the seconds of the job."""
    command = [sys.executable, __file__, program, "-", "--measure", str(sources), str(worker_count), f"{work}/{name}"]
    return map(float, subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split())


def spark_jobs(program, work, sources, few):
    count = len(sources.read_text().split())
    (work / "thumbnails").mkdir()
    bare = processor_seconds([
        program, "thumbnail", "--quiet", "--size", str(SIZE), "--quality", str(QUALITY), "-o",
        f"{work}/thumbnails/{{name}}.jpg", *sources.read_text().split()])
    used, seconds = {}, {}
    for worker_count in (1, 2):
        idle, _ = measured(program, work, few, worker_count, f"few-{worker_count}")
        busy, seconds[worker_count] = measured(program, work, sources, worker_count, f"all-{worker_count}")
        used[worker_count] = busy - idle
        print(f"{worker_count} workers: {count / seconds[worker_count]:.1f} images a second, "
              f"{1000 * used[worker_count] / count:.1f} ms of processor time an image, start-up of {idle:.1f} s apart",
              flush=True)
    print(f"thumbnail: {1000 * bare / count:.1f} ms of processor time an image")
    check("processor time of the job on two workers, relative to thumbnail", used[2] / bare, 1.25)
    check("1.8 times the duration with two workers, of that with one", 1.8 * seconds[2] / seconds[1], 1)


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
    parser.add_argument("--count", type=int, default=1000)
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
        for name, some in (("all.txt", paths), ("few.txt", paths[:2])):
            (work / name).write_text("\n".join(map(str, some)))
        spark_jobs(program, work, work / "all.txt", work / "few.txt")
        img2dataset(program, arguments.img2dataset, work, [path.name for path in paths])
    report_missed()


if __name__ == "__main__":
    main()
