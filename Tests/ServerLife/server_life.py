# SPDX-License-Identifier: Apache-2.0
"""Tests the start, reload and stop of a server: server_life.py CALOTYPE [IMAGE].

Covers socket activation, TLS with HTTP/2, and the reload of a certificate. Needs curl and openssl; exits
with 0 if all checks pass.
"""

import contextlib
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "CalotypeServer"))

from calotype_server import CORPUS, CheckedServer


def start(program: str, folder: str, *options: str, listener: socket.socket | None = None):
    return CheckedServer(program, f"{folder}/photos", f"{folder}/cache", *options, listener=listener)


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.read()


def socket_activation(program: str, folder: str):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
        with start(program, folder, listener=listener) as server:
            assert server.url == f"http://127.0.0.1:{port}", server.url
            first = get(f"{server.url}/32x32/1.jpg")
        # Between two servers, clients wait instead of being refused.
        client = socket.create_connection(("127.0.0.1", port), 60)
        client.sendall(b"GET /32x32/1.jpg HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with start(program, folder, listener=listener):
            response = b"".join(iter(lambda: client.recv(65_536), b""))
        assert response.startswith(b"HTTP/1.1 200 "), response[:200]
        assert response.endswith(first), "the second server returned other bytes"


def make_certificate(folder: str, name: str) -> tuple[str, str]:
    paths = f"{folder}/{name}.pem", f"{folder}/{name}-key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return paths


def presented_certificate(url: str) -> str:
    """Returns the certificate that the server presents for a new connection."""
    host, port = url.split("/")[2].split(":")
    return ssl.get_server_certificate((host, int(port)))


def tls_and_certificate_reload(program: str, folder: str):
    first, first_key = make_certificate(folder, "first")
    second, second_key = make_certificate(folder, "second")
    used, used_key = pathlib.Path(folder, "used.pem"), pathlib.Path(folder, "used-key.pem")

    def use(chain: str, key: str):
        used.write_text(pathlib.Path(chain).read_text())
        used_key.write_text(pathlib.Path(key).read_text())

    use(first, first_key)
    options = ["--tls-certificate", str(used), "--tls-key", str(used_key), "--log-level", "info"]
    with start(program, folder, *options) as server:
        assert server.url.startswith("https://127.0.0.1:"), server.url

        def curl(*more: str) -> list[str]:
            # Twice over one connection: the second response comes from memory.
            url = f"{server.url}/32x32/1.jpg"
            done = subprocess.run(
                ["curl", "-sS", "--cacert", str(used), "-w", "%{http_version} %{http_code} %{size_download}\n",
                 *more, url, "-o", f"{folder}/a.jpg", url, "-o", f"{folder}/b.jpg"],
                capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stderr
            assert pathlib.Path(folder, "a.jpg").read_bytes() == pathlib.Path(folder, "b.jpg").read_bytes()
            return done.stdout.split("\n")[:2]

        new, old = curl("--http2"), curl("--http1.1")
        size = pathlib.Path(folder, "a.jpg").stat().st_size
        assert new == [f"2 200 {size}"] * 2, new
        assert old == [f"1.1 200 {size}"] * 2, old
        # Many concurrent streams, for images that are not cached.
        many = subprocess.run(
            ["curl", "-sS", "--cacert", str(used), "--http2", "-Z", "-w", "%{http_code}\n", "-o", "/dev/null",
             f"{server.url}/[10-109]x10/1.jpg"],
            capture_output=True, text=True, timeout=120)
        assert many.stdout.split() == ["200"] * 100, (many.stdout, many.stderr)

        assert presented_certificate(server.url) == pathlib.Path(first).read_text()
        # Neither a mismatched key nor an empty certificate replaces the working pair.
        for chain, key in [(second, first_key), ("/dev/null", second_key)]:
            use(chain, key)
            server.reload()
            assert presented_certificate(server.url) == pathlib.Path(first).read_text()
        use(second, second_key)
        server.reload()
        assert presented_certificate(server.url) == pathlib.Path(second).read_text()
        assert curl("--http2") == new

    use(second, first_key)
    check_refused(program, folder, ["--check-config", *options], 1, str(used_key))
    missing = ["--tls-certificate", f"{folder}/missing.pem", "--tls-key", str(used_key)]
    check_refused(program, folder, ["--check-config", *missing], 1, "missing.pem: No such file")
    check_refused(program, folder, options[:2], 64, "--tls-key")


def check_refused(program: str, folder: str, options: list[str], status: int, message: str):
    done = subprocess.run([program, "serve", f"{folder}/photos", *options], capture_output=True, text=True)
    assert done.returncode == status and message in done.stderr, done


def main():
    program = os.path.abspath(sys.argv[1])
    image = sys.argv[2] if len(sys.argv) > 2 else CORPUS / "jpeg/valid/baseline-420.jpg"
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/photos")
        pathlib.Path(folder, "photos/1.jpg").write_bytes(pathlib.Path(image).read_bytes())
        for step in (socket_activation, tls_and_certificate_reload):
            step(program, folder)
            print(f"ok: {step.__name__.replace('_', ' ')}")


main()
