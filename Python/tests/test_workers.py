# SPDX-License-Identifier: Apache-2.0
"""Contract tests of the adapters of calotype_workers: the same tests for each engine that is installed.

CALOTYPE_PROGRAM is the program `calotype`.
"""

import functools
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

import PIL.Image
import pytest

import calotype_workers
from calotype_workers import Outputs

PROGRAM = os.environ.get("CALOTYPE_PROGRAM")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="CALOTYPE_PROGRAM is not set")

# Stands between the client and the worker, and kills the worker on receipt of certain sources.
PROXY = """#!{python}
import pathlib, subprocess, sys
process = subprocess.Popen([{program!r}, *sys.argv[1:]], stdin=subprocess.PIPE)
for line in sys.stdin.buffer:
    once = pathlib.Path({folder!r}, "once")
    if b"/poison" in line or b"/once" in line and not once.exists():
        if b"/once" in line:
            once.touch()
        process.kill()
        sys.exit(1)
    process.stdin.write(line)
    process.stdin.flush()
process.stdin.close()
sys.exit(process.wait())
"""


def with_client(rows, outputs):
    with calotype_workers.Worker(jobs=2) as worker:
        return list(worker.run(calotype_workers.rows(rows), outputs))


def with_pool(rows, outputs):
    from calotype_workers import pool

    return list(pool.run(rows, outputs, processes=2, chunk_size=3))


@functools.cache
def dask_client():
    distributed = pytest.importorskip("distributed")
    return distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None)


def with_dask(rows, outputs):
    client = dask_client()
    from calotype_workers import dask

    return list(dask.run(client, rows, outputs, chunk_size=3))


def with_ray(rows, outputs):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    from calotype_workers.ray import Run

    if not ray.is_initialized():
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    dataset = ray.data.from_items([{"source": os.fspath(row)} for row in rows])
    return dataset.map_batches(
        Run, fn_constructor_args=[outputs], batch_format="pyarrow", batch_size=3, concurrency=1).take_all()


@functools.cache
def spark_session():
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    # The Python of the tasks is that of the driver.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
        "spark.sql.execution.arrow.maxRecordsPerBatch", "3").getOrCreate()


def with_spark(rows, outputs):
    session = spark_session()
    from calotype_workers import spark

    frame = session.createDataFrame([(os.fspath(row),) for row in rows], "source string").repartition(2)
    return [row.asDict(recursive=True) for row in frame.mapInArrow(spark.run(outputs), spark.SCHEMA).collect()]


@pytest.fixture(params=[with_client, with_pool, with_dask, with_ray, with_spark], ids=lambda run: run.__name__[5:])
def run(request):
    return request.param


@pytest.fixture(scope="module", autouse=True)
def program(tmp_path_factory):
    """The proxy, which the environment of all engines names."""
    folder = tmp_path_factory.mktemp("proxy")
    path = folder / "calotype"
    path.write_text(PROXY.format(python=sys.executable, program=PROGRAM, folder=str(folder)))
    path.chmod(0o755)
    os.environ["CALOTYPE_PROGRAM"] = str(path)
    yield folder
    os.environ["CALOTYPE_PROGRAM"] = PROGRAM


@pytest.fixture
def sources(tmp_path):
    paths = []
    for index in range(8):
        path = tmp_path / "in" / f"{index} ü,{{digest}}.jpg"
        path.parent.mkdir(exist_ok=True)
        PIL.Image.linear_gradient("L").resize((300 + index, 200)).convert("RGB").save(path)
        paths.append(path)
    return paths


@pytest.fixture
def outputs(tmp_path):
    path = f"{tmp_path}/out/{{shard}}/{{digest}}-{{name}}.{{extension}}"
    return Outputs(path, small="40,q70", square="30x30,fill,png")


def by_source(records):
    result = {record["source"]: record for record in records}
    assert len(result) == len(records)
    return result


def files(tmp_path):
    return sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())


def test_each_source_is_reported_once(run, sources, outputs):
    records = by_source(run(sources, outputs))
    assert set(records) == {str(path) for path in sources}
    assert {record["status"] for record in records.values()} == {"made"}
    assert records[str(sources[3])]["width"] == 303 and records[str(sources[3])]["format"] == "jpeg"


def test_files_are_those_of_the_records(run, sources, outputs, tmp_path):
    written = [output for record in run(sources, outputs) for output in record["outputs"]]
    assert sorted(output["path"] for output in written) == [str(path) for path in files(tmp_path)]
    for output in written:
        data = pathlib.Path(output["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (output["byteCount"], output["sha256"])
        with PIL.Image.open(output["path"]) as image:
            assert image.size == (output["width"], output["height"])
            assert image.format == {"small": "JPEG", "square": "PNG"}[output["name"]]


def test_bytes_are_those_of_the_command(run, sources, outputs, tmp_path):
    arguments = [f"{name}={options}" for name, options in outputs.options.items()]
    subprocess.run(
        [PROGRAM, "batch", "--quiet", tmp_path / "in", "-o", tmp_path / "expected", "--outputs", *arguments], check=True)
    for source, record in by_source(run(sources, outputs)).items():
        for output in record["outputs"]:
            extension = pathlib.Path(output["path"]).suffix
            expected = tmp_path / "expected" / output["name"] / (pathlib.Path(source).stem + extension)
            assert pathlib.Path(output["path"]).read_bytes() == expected.read_bytes()


def test_a_damaged_source_fails_alone(run, sources, outputs):
    sources[2].write_bytes(b"no image")
    records = by_source(run(sources, outputs))
    damaged = records.pop(str(sources[2]))
    assert (damaged["status"], damaged["kind"], damaged["retry"]) == ("failed", "damaged", False)
    assert {record["status"] for record in records.values()} == {"made"}


def test_a_missing_source_is_reported(run, sources, outputs):
    sources[5].unlink()
    records = by_source(run(sources, outputs))
    assert records[str(sources[5])]["kind"] == "unreachable"
    assert "No such file" in records[str(sources[5])]["message"]
    assert sum(record["status"] == "made" for record in records.values()) == 7


def test_a_second_run_makes_nothing(run, sources, outputs, tmp_path):
    run(sources, outputs)
    before = {path: path.stat().st_mtime_ns for path in files(tmp_path)}
    assert {record["status"] for record in run(sources, outputs)} == {"skipped"}
    assert {path: path.stat().st_mtime_ns for path in files(tmp_path)} == before


def test_a_changed_source_is_made_under_another_name(run, sources, outputs, tmp_path):
    run(sources, outputs)
    PIL.Image.new("RGB", (50, 50), "red").save(sources[0])
    records = by_source(run(sources, outputs))
    assert records.pop(str(sources[0]))["status"] == "made"
    assert {record["status"] for record in records.values()} == {"skipped"}
    assert len(files(tmp_path)) == 18


def test_other_options_give_other_names(run, sources, outputs, tmp_path):
    run(sources, outputs)
    other = Outputs(outputs.path, small="41,q70", square="30x30,fill,png")
    assert {record["status"] for record in run(sources, other)} == {"made"}
    assert len(files(tmp_path)) == 32 and other.digest != outputs.digest


def test_reports_resume_a_run(run, sources, outputs, tmp_path):
    records = run(sources[:5], outputs)
    report = str(tmp_path / "report.jsonl")
    calotype_workers.write(records, report)
    assert list(calotype_workers.read(report)) == records
    rows = list(calotype_workers.rows(sources))
    rest = list(calotype_workers.pending(rows, [report], outputs))
    assert [row["source"] for row in rest] == [str(path) for path in sources[5:]]
    summary = calotype_workers.summary(records + run(sources[5:], outputs))
    assert (summary["sources"], summary["files"], summary["statuses"]) == (8, 16, {"made": 8})


def test_a_source_that_ends_the_worker_fails_alone(run, sources, outputs, program):
    (program / "once").unlink(missing_ok=True)
    for name, statuses in [("poison.jpg", {"failed"}), ("once.jpg", {"made"})]:
        added = shutil.copy(sources[0], sources[0].with_name(name))
        records = by_source(run([*sources[:4], added, *sources[4:]], outputs))
        ended = records.pop(str(added))
        assert (ended["status"] in statuses, ended["attempt"]) == (True, 2)
        assert ended["kind"] == ("crashed" if name == "poison.jpg" else None)
        # A file that was written before its response is skipped the second time.
        assert {record["status"] for record in records.values()} <= {"made", "skipped"}


def test_reports_are_parquet_as_well(sources, outputs, tmp_path):
    pytest.importorskip("pyarrow")
    records = with_client(sources, outputs)
    report = str(tmp_path / "report.parquet")
    calotype_workers.write(records, report)
    assert list(calotype_workers.read(report)) == records
    assert not list(calotype_workers.pending(calotype_workers.rows(sources), [report], outputs))


def test_an_interrupted_report_is_complete_to_its_last_line(sources, outputs, tmp_path):
    report = tmp_path / "report.jsonl"
    records = list(calotype_workers.append(with_client(sources, outputs), str(report)))
    report.write_bytes(report.read_bytes()[:-3])
    assert list(calotype_workers.read(str(report))) == records[:-1]
    rows = list(calotype_workers.pending(calotype_workers.rows(sources), [str(report)], outputs))
    assert [row["source"] for row in rows] == [records[-1]["source"]]
    resumed = list(calotype_workers.append(with_client(rows, outputs), str(report)))
    assert list(calotype_workers.read(str(report))) == records[:-1] + resumed


def test_a_run_that_is_left_early_does_not_disturb_the_next(sources, outputs):
    with calotype_workers.Worker(jobs=2) as worker:
        rows = list(calotype_workers.rows(sources))
        for _ in worker.run(rows, outputs):
            break
        assert len(by_source(list(worker.run(rows, outputs)))) == len(rows)


def test_a_worker_that_is_terminated_within_a_request_writes_no_response_to_it(sources):
    data = sources[0].read_bytes()
    requests = [{"id": name, "byteCount": count, "outputs": [{"name": "s", "options": "40"}]}
                for name, count in [("1", len(data)), ("2", 4 << 20)]]
    worker = subprocess.Popen([PROGRAM, "worker", "--jobs", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with worker:
        # More than a pipe holds: the worker is reading the second source when the write ends.
        worker.stdin.write(json.dumps(requests[0]).encode() + b"\n" + data)
        worker.stdin.write(json.dumps(requests[1]).encode() + b"\n" + bytes(2 << 20))
        worker.stdin.flush()
        worker.terminate()
        hello, response, rest = worker.stdout.readline(), json.loads(worker.stdout.readline()), worker.stdout.read()
    assert b'"protocol":1' in hello
    assert (response["id"], response["status"], len(rest)) == ("1", "made", response["byteCount"])
    assert worker.returncode == 128 + signal.SIGTERM


def test_a_source_that_changes_is_not_an_error_of_the_destination(tmp_path):
    source = tmp_path / "large.jpg"
    PIL.Image.effect_noise((900, 600), 90).convert("RGB").save(source)
    outputs = Outputs(f"{tmp_path}/out/{{name}}-{{digest}}", first="900", second="899,webp,lossless")

    def change():
        while not list(tmp_path.glob("out/first-*")):
            pass
        os.utime(source)

    thread = threading.Thread(target=change)
    thread.start()
    record = with_client([source], outputs)[0]
    thread.join()
    assert [output["name"] for output in record["outputs"]] == ["first"]
    assert (record["kind"], record["retry"]) == ("unreachable", True)


@pytest.mark.parametrize("line", ["no response", "[]", '{"id":"9"}'])
def test_an_invalid_response_is_an_error(line, sources, outputs, tmp_path):
    program = tmp_path / "invalid"
    program.write_text(f"""#!/bin/sh\nprintf '{{"protocol":1,"jobs":1}}\\n%s\\n' '{line}'\nexec cat >/dev/null\n""")
    program.chmod(0o755)
    threads = threading.active_count()
    with calotype_workers.Worker(str(program)) as worker, pytest.raises(calotype_workers.WorkerError, match="response"):
        list(worker.run(calotype_workers.rows(sources), outputs))
    assert threading.active_count() == threads


def test_sources_are_loaded_over_http(sources, outputs, tmp_path):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    sources[0] = sources[0].rename(tmp_path / "in" / "1.jpg")
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(tmp_path / "in")))
    threading.Thread(target=server.serve_forever).start()
    base = f"http://127.0.0.1:{server.server_port}"
    rows = [{"source": f"{base}/1.jpg", "version": "1"}, {"source": f"{base}/none.jpg", "version": "1"},
            {"source": f"{base}/1.jpg?unversioned"}]
    try:
        with calotype_workers.Worker(jobs=2) as worker:
            refused = list(worker.run(rows[:1], outputs))
        with calotype_workers.Worker(jobs=2, arguments=["--allow-network", "127.0.0.0/8"]) as worker:
            records = by_source(list(worker.run(rows, outputs)))
    finally:
        server.shutdown()
        server.server_close()
    assert (refused[0]["status"], refused[0]["kind"]) == ("failed", "request")
    loaded, missing, unversioned = (records[row["source"]] for row in rows)
    local = with_client(sources[:1], outputs)[0]
    assert [output["sha256"] for output in loaded["outputs"]] == [output["sha256"] for output in local["outputs"]]
    assert (missing["kind"], missing["retry"]) == ("unreachable", False)
    assert (unversioned["kind"], "version" in unversioned["message"]) == ("request", True)


def test_invalid_outputs_and_programs_are_refused(tmp_path):
    for path, options in [("out/{digest}", {}), ("out/{name}", {"s": "40"}), ("{digest}", {"s": "40", "m": "80"})]:
        with pytest.raises(ValueError):
            Outputs(path, **options)
    for program in [str(tmp_path / "none"), "/bin/true"]:
        with pytest.raises(calotype_workers.WorkerError, match=program):
            list(calotype_workers.Worker(program).run([{"source": "1.jpg"}], Outputs("{digest}", s="40")))
