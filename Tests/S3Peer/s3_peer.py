# SPDX-License-Identifier: Apache-2.0
"""Serves pictures of a store that speaks S3 and checks signatures: moto's.

s3_peer.py CALOTYPE [PICTURE]; ends with 0 if all is as it should be.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

# Nothing must be signed until the store is told so.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "1000000"

import boto3
from moto.server import ThreadedMotoServer

KEYS = ["1.png", "summer holidays/2.png"]
# With these the store itself errs about signatures.
UNUSUAL_KEYS = ["a//b.png", "été & 100%41+.png", "(a), ~b!'=@:$.png"]


def fill(endpoint: str, picture: bytes) -> dict:
    """Makes a bucket with pictures, and a user who may read them."""

    def client(name: str):
        return boto3.client(
            name, endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="first",
            aws_secret_access_key="first")

    users, store = client("iam"), client("s3")
    users.create_user(UserName="calotype")
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::photos/*"}
        ],
    }
    users.put_user_policy(
        UserName="calotype", PolicyName="read", PolicyDocument=json.dumps(policy))
    store.create_bucket(Bucket="photos")
    for key in KEYS + UNUSUAL_KEYS:
        store.put_object(Bucket="photos", Key=key, Body=picture, ContentType="image/png")
    return users.create_access_key(UserName="calotype")["AccessKey"]


class Server:
    """A server that is asked for pictures of the store with a user's key."""

    def __init__(self, program: str, endpoint: str, key_id: str, secret: str):
        self.folder = tempfile.TemporaryDirectory()
        environment = dict(
            os.environ, AWS_ACCESS_KEY_ID=key_id, AWS_SECRET_ACCESS_KEY=secret)
        self.process = subprocess.Popen(
            [
                program, "serve", self.folder.name, "--port", "0", "--imgproxy",
                "--bucket", "photos", "--bucket", "others", "--s3-endpoint", endpoint,
                "--allow-network", "127.0.0.0/8",
                "--cache-directory", f"{self.folder.name}/cache", "--log-level", "error",
            ],
            stdout=subprocess.PIPE, text=True, env=environment)
        self.address = ""
        for line in self.process.stdout:
            if found := re.search(r"http://\S+", line):
                self.address = found[0].rstrip("/")
                break

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        if self.process.wait(30) != 0:
            raise SystemExit(f"the server ended with {self.process.returncode}")
        self.folder.cleanup()

    def status(self, source: str) -> int:
        path = urllib.parse.quote(source, safe=":/")
        try:
            with urllib.request.urlopen(f"{self.address}/_/w:20/plain/{path}@png") as answer:
                return answer.status if answer.read(4) == b"\x89PNG" else -1
        except urllib.error.HTTPError as error:
            return error.code


def main() -> int:
    program = sys.argv[1]
    picture = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "Corpus/png/valid/rgb-8.png")
    store = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    store.start()
    host, port = store.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    failures = []

    def expect(what: str, seen: int, wanted: int):
        print(f"{'ok' if seen == wanted else 'FAILED'}: {what}: {seen}")
        if seen != wanted:
            failures.append(what)

    try:
        key = fill(endpoint, picture.read_bytes())
        with Server(program, endpoint, "anybody", "anything") as server:
            for name in UNUSUAL_KEYS:
                expect(name, server.status(f"s3://photos/{name}"), 200)
        # From here on; as text, or the store takes it for a form.
        demand = urllib.request.Request(
            f"{endpoint}/moto-api/reset-auth", b"0", {"Content-Type": "text/plain"})
        urllib.request.urlopen(demand).close()
        with Server(program, endpoint, key["AccessKeyId"], key["SecretAccessKey"]) as server:
            for name in KEYS:
                expect(name, server.status(f"s3://photos/{name}"), 200)
            expect("the first again", server.status(f"s3://photos/{KEYS[0]}"), 200)
            expect("no object", server.status("s3://photos/none.png"), 404)
            expect("no right", server.status("s3://others/1.png"), 502)
            expect("no bucket of ours", server.status("s3://secrets/1.png"), 403)
        with Server(program, endpoint, key["AccessKeyId"], "wrong" * 8) as server:
            expect("a wrong secret", server.status(f"s3://photos/{KEYS[0]}"), 502)
    finally:
        store.stop()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
