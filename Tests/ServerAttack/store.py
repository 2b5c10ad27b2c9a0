# SPDX-License-Identifier: Apache-2.0
"""Damages rows and pages of the store between restarts: the server starts, and responses are correct."""

import contextlib
import http.client
import json
import random
import shutil
import sqlite3

from calotype_server import CORPUS, Server, ServerEnded
from photographs import copy_photographs, fetch_all

DAMAGES, BRIEF_DAMAGES = 150, 12
# One value of each SQLite type, and extreme numbers.
VALUES = [None, 0, 1, -1, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), 0.5, -1.0, 1e308, float("inf"),
          "", "text", "12", "-", "\u00e9" * 300, "\x00", b"", b"\xff\xfe", b"\x00" * 64, b"text"]


def run(context):
    rng = random.Random(context.seed)
    folder = context.place / "photos"
    names = copy_photographs(context, folder, 1)
    for number, sample in enumerate(sorted(CORPUS.glob("png/valid/*.png"))[:5]):
        shutil.copy(sample, folder / f"small{number}.png")
        names.append(f"small{number}.png")
    paths = [path for name in names for path in (
        f"/64x64/{name}", f"/100x100,webp/{name}", f"/placeholder/{name}?format=json", f"/info/{name}",
        f"/tiles/{name}.dzi")] + ["/sprite/32x32/"]
    whole = context.place / "whole"
    with Server(context.program, folder, whole) as server, server.client() as client:
        fetch_all(client, paths)
        # The second time, image information and placeholders are complete.
        references = {path: known(response) for path, response in fetch_all(client, paths).items()}
        listing = client.get("/-/listing/").body
    Run(context, rng, folder, whole, references, listing).run()


class Run:
    def __init__(self, context, rng, folder, whole, references, listing):
        self.context, self.rng, self.folder, self.whole = context, rng, folder, whole
        self.references, self.listing = references, listing
        self.deaths, self.refusals, self.wrong = [], [], []

    def run(self):
        count = self.context.count(DAMAGES, BRIEF_DAMAGES)
        done = {}
        for number in range(count):
            cache = self.context.place / f"cache{number}"
            shutil.copytree(self.whole, cache)
            damage = DAMAGE[number % len(DAMAGE)]
            what = damage(self.rng, cache / "renditions.sqlite")
            done[damage.__name__] = done.get(damage.__name__, 0) + 1
            # Twice: the first start recreates damaged data, the second one reads it.
            for attempt in ("first", "second"):
                if not self.visit(cache, f"damage {number} ({what}), {attempt} start"):
                    break
            shutil.rmtree(cache)
        verdict = self.context.report.verdict
        said = ", ".join(f"{made} {name.replace('_', ' ')}" for name, made in done.items())
        verdict("store", "the host survives a damaged store", not self.deaths,
                f"{len(self.deaths)} deaths of {said}; {self.deaths[:2]}", deaths=len(self.deaths))
        verdict("store", "the server starts with a damaged store, and exits with 0", not self.refusals,
                f"{len(self.refusals)} did not {self.refusals[:2]}", refusals=len(self.refusals))
        verdict("store", "every response is correct with a damaged store", not self.wrong,
                f"{len(self.wrong)} are not {self.wrong[:3]}", wrong=len(self.wrong))

    def visit(self, cache, what):
        try:
            server = Server(self.context.program, self.folder, cache)
        except ServerEnded as error:
            self.refusals.append(f"{what}: {error}")
            return False
        alive = True
        with server.client() as client:
            for path in ["/-/listing/", *self.references, "/-/listing/"]:
                try:
                    self.compare(what, path, client.get(path))
                except (OSError, http.client.HTTPException):
                    if server.has_ended():
                        self.deaths.append(f"{what}: {path} {server.last_error()}")
                        alive = False
                        break
                    self.wrong.append(f"{what}: {path} got no response")
        status = server.stop()
        if alive and status != 0:
            self.refusals.append(f"{what}: ended with {status}")
        return alive

    def compare(self, what, path, response):
        if path == "/-/listing/":
            right = response.status == 200 and facts(response.body) == facts(self.listing)
        elif path.startswith("/info/"):
            right = response.status == 200 and without_placeholder(response.body) == without_placeholder(
                self.references[path][0])
        elif path.startswith("/placeholder/"):
            # Recomputed from the first decoded image; the tag depends on its bytes.
            right = response.status == 200 and json.loads(response.body)["thumbhash"] in response.tag
        else:
            right = response.status == 200 and known(response) == self.references[path]
        if not right:
            self.wrong.append(f"{what}: {path} {response.status} {response.body[:60]!r}")


def known(response):
    """Returns the parts of a response that must be equal."""
    return response.body, response.tag, response.headers.get("Content-Type")


def facts(listing):
    pictures = json.loads(listing)["pictures"]
    return list(zip(pictures["name"], pictures["width"], pictures["height"], pictures["version"]))


def without_placeholder(body):
    fields = json.loads(body)
    fields.pop("placeholder", None)
    return fields


def damage_rows(rng, store):
    """Writes other values, or kinds of values, into one to four fields of the tables."""
    with contextlib.closing(sqlite3.connect(store)) as database:
        tables = dict(database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        relax(database, {name: sql.replace(" NOT NULL", "") for name, sql in tables.items()})
    done = []
    with contextlib.closing(sqlite3.connect(store)) as database:
        for name in list(tables):
            database.execute(f"SELECT count(*) FROM {name}")
        for _ in range(rng.choice((1, 1, 2, 4))):
            done.append(damage_field(rng, database, sorted(tables)))
        database.commit()
        relax(database, tables)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return ", ".join(done)


def relax(database, tables):
    """Rewrites the table definitions without constraints, so that values can violate them."""
    database.execute("PRAGMA writable_schema = ON")
    for name, sql in tables.items():
        database.execute("UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?", (sql, name))
    database.commit()
    database.execute("PRAGMA writable_schema = OFF")


def damage_field(rng, database, tables):
    table = rng.choice(tables)
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    column, value = rng.choice(columns), rng.choice(VALUES)
    # All rows half of the time, which includes the requested row.
    rows = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    some = "" if rng.random() < 0.5 else f" LIMIT 1 OFFSET {rng.randrange(max(rows, 1))}"
    key = {"original": "path"}.get(table, "rowid")
    try:
        if rng.random() < 0.1:
            database.execute(f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table}{some})")
            return f"{table} rows deleted"
        database.execute(
            f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {key} IN (SELECT {key} FROM {table}{some})",
            (value,))
    except (sqlite3.Error, OverflowError) as error:
        return f"{table}.{column}: {error}"
    return f"{table}.{column} = {str(value)[:12]!a}{' in all rows' if not some else ''}"


def damage_pages(rng, store):
    """Overwrites, truncates or clears pages of the file, or its log."""
    with contextlib.closing(sqlite3.connect(store)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(store.read_bytes())
    page = 4096
    kind = rng.choice(("bits", "bits", "bytes", "page", "swap", "cut", "header", "log", "nothing"))
    if kind == "bits":
        for _ in range(rng.choice((1, 8, 64))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "bytes":
        start = rng.randrange(len(data) - 64)
        data[start : start + 64] = rng.randbytes(64)
    elif kind == "page":
        start = rng.randrange(len(data) // page) * page
        data[start : start + page] = bytes(page) if rng.random() < 0.5 else rng.randbytes(page)
    elif kind == "swap":
        first, second = (rng.randrange(1, len(data) // page) * page for _ in range(2))
        data[first : first + page], data[second : second + page] = (
            data[second : second + page], data[first : first + page])
    elif kind == "cut":
        del data[rng.randrange(len(data)):]
    elif kind == "header":
        data[rng.randrange(100)] = rng.randrange(256)
    elif kind == "log":
        store.with_name(store.name + "-wal").write_bytes(rng.randbytes(rng.choice((10, 32, 5000))))
    else:
        data.clear()
    store.write_bytes(data)
    return kind


def damage_schema(rng, store):
    """Changes the tables, their version, or files beside the database."""
    kind = rng.choice(("version", "table", "trigger", "column", "added", "empty", "lock", "shared"))
    if kind in ("lock", "shared"):
        beside = store.with_suffix(".lock") if kind == "lock" else store.with_name(store.name + "-shm")
        beside.write_bytes(rng.randbytes(1000))
        return kind
    with contextlib.closing(sqlite3.connect(store)) as database:
        names = {form: [row[0] for row in database.execute(
            "SELECT name FROM sqlite_master WHERE type = ? ORDER BY name", (form,))]
            for form in ("table", "trigger")}
        table = rng.choice(names["table"])
        if kind == "version":
            database.execute(f"PRAGMA user_version = {rng.choice((0, 1, 2, 99, -1, 2**31 - 1))}")
        elif kind in ("table", "trigger") and names[kind]:
            kind = f"DROP {kind} {rng.choice(names[kind])}"
            database.execute(kind)
        elif kind == "column":
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            # Columns used by triggers and indices cannot be renamed.
            with contextlib.suppress(sqlite3.Error):
                kind = f"renamed {table}.{rng.choice(columns)}"
                database.execute(f"ALTER TABLE {table} RENAME COLUMN {kind.rpartition('.')[2]} TO other")
        elif kind == "added":
            database.execute(f"ALTER TABLE {table} ADD COLUMN other INTEGER NOT NULL DEFAULT 0")
        else:
            database.execute(f"DELETE FROM {table}")
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return f"{kind} {table}"


DAMAGE = [damage_rows, damage_pages, damage_schema]
