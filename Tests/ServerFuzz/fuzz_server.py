# SPDX-License-Identifier: Apache-2.0
"""Compares the responses of a server with its OpenAPI description: fuzz_server.py CALOTYPE EXAMPLES SEED.

Sends valid and invalid requests, with Schemathesis and with imgproxy_urls.py. Runs in the Python
environment of requirements.txt.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "CalotypeServer"))

from calotype_server import CORPUS, CheckedServer

TEMPLATES = HERE.parent.parent / "Documentation" / "templates"
CATALOG = HERE.parent / "AssetPlugin/Sources/ShowAssets/Images.xcassets"
OPTIONS = ["--cards", str(TEMPLATES), "--imgproxy", "--metrics", "--client-hints", "--formats", "webp"]
KEY, SALT = "6b" * 32, "73616c74"


def fill(folder):
    """Two images, a folder, and two files that are no complete images."""
    (folder / "house").mkdir(parents=True)
    shutil.copy(CORPUS / "jpeg/valid/baseline-420.jpg", folder / "1.jpg")
    shutil.copy(CORPUS / "png/valid/gray-1.png", folder / "2.png")
    shutil.copy(CORPUS / "jpeg/valid/gray.jpg", folder / "house/1.jpg")
    (folder / "cut.jpg").write_bytes((folder / "1.jpg").read_bytes()[:300])
    (folder / "note.txt").write_text("not an image\n")


def run_schemathesis(url, examples, seed, work, *options, login=""):
    # It writes files into its working directory. It encodes the URLs of imgproxy in a different form.
    subprocess.run(
        [pathlib.Path(sys.executable).with_name("schemathesis"),
         "--config-file", HERE / "schemathesis.toml", "run", f"{url}/-/openapi.json",
         "--max-examples", str(examples), "--seed", str(seed), "--generation-database", "none",
         "--continue-on-failure", "--warnings", "off", "--request-timeout", "60", *options],
        cwd=work, check=True,
        env=dict(os.environ, SCHEMATHESIS_HOOKS="hooks", PYTHONPATH=str(HERE), CALOTYPE_LOGIN=login))


def run_imgproxy(url, examples, seed, *key):
    subprocess.run(
        [sys.executable, HERE / "imgproxy_urls.py", url, str(examples * 30), str(seed), *key], check=True)


def hashed(program, password):
    """The hash that `calotype password` makes of a password."""
    return subprocess.run(
        [program, "password"], input=f"{password}\n", stdout=subprocess.PIPE, text=True, check=True).stdout


def run_access(program, folder, work, examples, seed):
    """Logs in, and sends requests for links; more attempts to log in would exceed their rate."""
    file = pathlib.Path(work, "password")
    file.write_text(hashed(program, "secret"))
    with CheckedServer(program, folder, f"{work}/links", "--password", str(file)) as server:
        with server.client() as client:
            login = client.get("/-/login", method="POST", body=b"password=secret")
        cookie = login.headers["Set-Cookie"].split(";")[0]
        run_schemathesis(
            server.url, examples, seed, work, "--include-tag", "access", "--exclude-operation-id", "logIn",
            login=cookie.removeprefix("calotype="))


def main():
    program, examples, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as work:
        folder, cache = pathlib.Path(work, "photos"), f"{work}/cache"
        fill(folder)
        assets = f"{work}/images.assets"
        subprocess.run([program, "assets", "compile", CATALOG, "--output", assets], check=True)
        token = {"CALOTYPE_PURGE_TOKENS": "open-sesame"}
        with CheckedServer(program, folder, cache, "--assets", assets, *OPTIONS, environment=token) as server:
            run_schemathesis(
                server.url, examples, seed, work, "--exclude-tag", "imgproxy", "--exclude-tag", "access")
            run_imgproxy(server.url, examples, seed)
        run_access(program, folder, work, examples, seed)
        keys = token | {"CALOTYPE_IMGPROXY_KEYS": KEY, "CALOTYPE_IMGPROXY_SALT": SALT}
        with CheckedServer(program, folder, cache, *OPTIONS, environment=keys) as server:
            run_imgproxy(server.url, examples, seed, KEY, SALT)


try:
    main()
except subprocess.CalledProcessError as error:
    sys.exit(error.returncode)
