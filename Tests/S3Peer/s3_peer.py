# SPDX-License-Identifier: Apache-2.0
"""Serves images of an S3-compatible store that verifies signatures (moto), and shares renditions in it:
s3_peer.py CALOTYPE [IMAGE].

Exits with 0 if all checks pass.
"""

import json
import os
import pathlib
import sys
import shutil
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "CalotypeServer"))

# The store accepts unsigned requests until `reset-auth`.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "1000000"

import boto3
from calotype_server import CheckedServer
from moto.server import ThreadedMotoServer

KEYS = ["1.png", "summer holidays/2.png"]
# The store computes wrong signatures for these.
UNUSUAL_KEYS = ["a//b.png", "été & 100%41+.png", "(a), ~b!'=@:$.png"]


def fill(endpoint: str, image: bytes) -> dict:
    """Creates a bucket with images, and a user with read permission; returns the access key."""

    def client(name: str):
        return boto3.client(
            name, endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="first",
            aws_secret_access_key="first")

    users, store = client("iam"), client("s3")
    users.create_user(UserName="calotype")
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::photos/*"},
            {
                "Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"],
                "Resource": "arn:aws:s3:::results/*",
            },
        ],
    }
    users.put_user_policy(
        UserName="calotype", PolicyName="read", PolicyDocument=json.dumps(policy))
    for bucket in ["photos", "results"]:
        store.create_bucket(Bucket=bucket)
    for key in KEYS + UNUSUAL_KEYS:
        store.put_object(Bucket="photos", Key=key, Body=image, ContentType="image/png")
    return users.create_access_key(UserName="calotype")["AccessKey"]


class StoreServer(CheckedServer):
    """A server that serves images of the store with a user's key."""

    def __init__(self, program: str, endpoint: str, key_id: str, secret: str):
        self.folder = tempfile.TemporaryDirectory()
        super().__init__(
            program, self.folder.name, f"{self.folder.name}/cache", "--imgproxy",
            "--bucket", "photos", "--bucket", "others", "--s3-endpoint", endpoint,
            "--allow-network", "127.0.0.0/8", "--log-level", "error",
            environment={"AWS_ACCESS_KEY_ID": key_id, "AWS_SECRET_ACCESS_KEY": secret})

    def __exit__(self, *_):
        super().__exit__()
        self.folder.cleanup()

    def status(self, source: str) -> int:
        path = urllib.parse.quote(source, safe=":/")
        try:
            with urllib.request.urlopen(f"{self.url}/_/w:20/plain/{path}@png") as response:
                return response.status if response.read(4) == b"\x89PNG" else -1
        except urllib.error.HTTPError as error:
            return error.code


class SharingServer(CheckedServer):
    """A server with an empty cache that shares the renditions of a folder in the store."""

    def __init__(self, program: str, folder: str, endpoint: str, key_id: str, secret: str):
        self.empty = tempfile.TemporaryDirectory()
        super().__init__(
            program, folder, f"{self.empty.name}/cache", "--metrics", "--no-library",
            "--result-bucket", "results/renditions", "--s3-endpoint", endpoint, "--log-level", "error",
            environment={"AWS_ACCESS_KEY_ID": key_id, "AWS_SECRET_ACCESS_KEY": secret})

    def __exit__(self, *_):
        super().__exit__()
        self.empty.cleanup()

    def rendition(self) -> bytes:
        with urllib.request.urlopen(f"{self.url}/20x20/1.png") as response:
            return response.read()

    def metric(self, name: str) -> int:
        with urllib.request.urlopen(f"{self.url}/metrics") as response:
            lines = response.read().decode().splitlines()
        return sum(int(float(line.split()[-1])) for line in lines if line.startswith(f"calotype_{name}"))


def check_sharing(program: str, image: pathlib.Path, endpoint: str, key: dict, expect) -> None:
    """Servers with empty caches share the renditions of a folder."""
    names = key["AccessKeyId"], key["SecretAccessKey"]

    def made(server: SharingServer) -> tuple[int, int]:
        hits = server.metric("rendition_shared_hits_total")
        return hits, server.metric("image_decode_seconds_count")

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(image, f"{folder}/1.png")
        with SharingServer(program, folder, endpoint, *names) as server:
            first = server.rendition()
            end = time.monotonic() + 30
            while server.metric("result_bucket_writes_total") < 1 and time.monotonic() < end:
                time.sleep(0.05)
            expect("the first server decodes", made(server), (0, 1))
            expect("and writes one object", server.metric("result_bucket_writes_total"), 1)
        # On a busy machine a lookup may exceed its time limit; the rendition is made then.
        for _ in range(5):
            with SharingServer(program, folder, endpoint, *names) as server:
                expect("bytes of another server", server.rendition() == first, True)
                timeouts = server.metric("result_bucket_failures_total")
                if timeouts == 0:
                    expect("another server decodes nothing", made(server), (1, 0))
                    expect("its own store answers then", server.rendition() == first, True)
                    expect("without another lookup", server.metric("result_bucket_hits_total"), 1)
                    break
        expect("a lookup in time", timeouts, 0)
        with SharingServer(program, folder, endpoint, names[0], "wrong" * 8) as server:
            expect("bytes with a wrong secret", server.rendition() == first, True)
            expect("a wrong secret is counted", server.metric("result_bucket_failures_total") > 0, True)
        with SharingServer(program, folder, "http://127.0.0.1:1", *names) as server:
            expect("bytes without the store", server.rendition() == first, True)


def main() -> int:
    program = sys.argv[1]
    image = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "Corpus/png/valid/rgb-8.png")
    store = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    store.start()
    host, port = store.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    failures = []

    def expect(what: str, status: object, expected: object):
        print(f"{'ok' if status == expected else 'FAILED'}: {what}: {status}")
        if status != expected:
            failures.append(what)

    try:
        key = fill(endpoint, image.read_bytes())
        with StoreServer(program, endpoint, "any-key", "any-secret") as server:
            for name in UNUSUAL_KEYS:
                expect(name, server.status(f"s3://photos/{name}"), 200)
        # Enables verification; as text, because the store would parse the default type as a form.
        reset = urllib.request.Request(
            f"{endpoint}/moto-api/reset-auth", b"0", {"Content-Type": "text/plain"})
        urllib.request.urlopen(reset).close()
        with StoreServer(program, endpoint, key["AccessKeyId"], key["SecretAccessKey"]) as server:
            for name in KEYS:
                expect(name, server.status(f"s3://photos/{name}"), 200)
            expect("the first key again", server.status(f"s3://photos/{KEYS[0]}"), 200)
            expect("missing object", server.status("s3://photos/none.png"), 404)
            expect("missing permission", server.status("s3://others/1.png"), 502)
            expect("bucket that is not served", server.status("s3://secrets/1.png"), 403)
        with StoreServer(program, endpoint, key["AccessKeyId"], "wrong" * 8) as server:
            expect("wrong secret", server.status(f"s3://photos/{KEYS[0]}"), 502)
        check_sharing(program, image, endpoint, key, expect)
    finally:
        store.stop()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
