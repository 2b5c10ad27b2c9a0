# SPDX-License-Identifier: Apache-2.0
"""Starts, renews and stops a server as those who run one do: server_life.py CALOTYPE [PICTURE].

A socket that is handed on, TLS with HTTP/2, a certificate that is renewed. Needs curl and openssl;
ends with 0 if all is as it should be.
"""

import contextlib
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.request


class Server:
    """`calotype serve` with a folder of one picture; stopped at the end."""

    def __init__(self, program: str, folder: str, *options: str, listener: socket.socket | None = None):
        # As systemd does: the socket is descriptor 3, and the variable names the process itself.
        def hand_on():
            os.dup2(listener.fileno(), 3)
            # If it was that already, nothing has been done so far.
            os.set_inheritable(3, True)

        shell = 'LISTEN_PID=$$ exec "$@"' if listener else 'exec "$@"'
        self.process = subprocess.Popen(
            ["sh", "-c", shell, "sh", program, "serve", f"{folder}/photos",
             "--cache-directory", f"{folder}/cache", "--port", "0", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE if options else None, text=True,
            preexec_fn=hand_on if listener else None, close_fds=listener is None,
            env=dict(os.environ, LISTEN_FDS="1") if listener else None)
        said = self.process.stdout.readline()
        assert " at " in said, f"the server did not start: {said!r}"
        self.address = said.split(" at ")[-1].strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(20) == 0, f"the server ended with {self.process.returncode}"


def get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read()


def socket_that_is_handed_on(program: str, folder: str):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
        with Server(program, folder, listener=listener) as server:
            assert server.address == f"http://127.0.0.1:{port}/", server.address
            first = get(f"{server.address}32x32/1.jpg")
        # Between two servers, clients wait instead of being refused.
        client = socket.create_connection(("127.0.0.1", port), 60)
        client.sendall(b"GET /32x32/1.jpg HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with Server(program, folder, listener=listener):
            answer = b"".join(iter(lambda: client.recv(65_536), b""))
        assert answer.startswith(b"HTTP/1.1 200 "), answer[:200]
        assert answer.endswith(first), "another picture"


def certificate(folder: str, name: str) -> tuple[str, str]:
    paths = f"{folder}/{name}.pem", f"{folder}/{name}-key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return paths


def shown(address: str) -> str:
    """The certificate that a new connection is shown."""
    host, port = address.split("/")[2].split(":")
    return ssl.get_server_certificate((host, int(port)))


def encrypted(program: str, folder: str):
    first, first_key = certificate(folder, "first")
    second, second_key = certificate(folder, "second")
    used, used_key = pathlib.Path(folder, "used.pem"), pathlib.Path(folder, "used-key.pem")

    def use(chain: str, key: str):
        used.write_text(pathlib.Path(chain).read_text())
        used_key.write_text(pathlib.Path(key).read_text())

    use(first, first_key)
    options = ["--tls-certificate", str(used), "--tls-key", str(used_key), "--log-level", "info"]
    with Server(program, folder, *options) as server:
        assert server.address.startswith("https://127.0.0.1:"), server.address

        def curl(*more: str) -> list[str]:
            # Twice over one connection: the second answer is there already.
            path = f"{server.address}32x32/1.jpg"
            answer = subprocess.run(
                ["curl", "-sS", "--cacert", str(used), "-w", "%{http_version} %{http_code} %{size_download}\n",
                 *more, path, "-o", f"{folder}/a.jpg", path, "-o", f"{folder}/b.jpg"],
                capture_output=True, text=True, timeout=60)
            assert answer.returncode == 0, answer.stderr
            assert pathlib.Path(folder, "a.jpg").read_bytes() == pathlib.Path(folder, "b.jpg").read_bytes()
            return answer.stdout.split("\n")[:2]

        new, old = curl("--http2"), curl("--http1.1")
        size = pathlib.Path(folder, "a.jpg").stat().st_size
        assert new == [f"2 200 {size}"] * 2, new
        assert old == [f"1.1 200 {size}"] * 2, old
        # Many streams at once, of pictures that have to be made.
        many = subprocess.run(
            ["curl", "-sS", "--cacert", str(used), "--http2", "-Z", "-w", "%{http_code}\n", "-o", "/dev/null",
             f"{server.address}[10-109]x10/1.jpg"],
            capture_output=True, text=True, timeout=120)
        assert many.stdout.split() == ["200"] * 100, (many.stdout, many.stderr)

        assert shown(server.address) == pathlib.Path(first).read_text()
        # Neither half a renewal nor nonsense takes the place of what works.
        for chain, key in [(second, first_key), ("/dev/null", second_key)]:
            use(chain, key)
            renew(server)
            assert shown(server.address) == pathlib.Path(first).read_text()
        use(second, second_key)
        renew(server)
        assert shown(server.address) == pathlib.Path(second).read_text()
        assert curl("--http2") == new

    use(second, first_key)
    answer = subprocess.run(
        [program, "serve", f"{folder}/photos", "--check-config", *options], capture_output=True, text=True)
    assert answer.returncode == 1 and str(used_key) in answer.stderr, answer
    missing = ["--tls-certificate", f"{folder}/missing.pem", "--tls-key", str(used_key)]
    answer = subprocess.run(
        [program, "serve", f"{folder}/photos", "--check-config", *missing], capture_output=True, text=True)
    assert answer.returncode == 1 and "missing.pem: No such file" in answer.stderr, answer
    answer = subprocess.run(
        [program, "serve", f"{folder}/photos", *options[:2]], capture_output=True, text=True)
    assert answer.returncode == 64 and "--tls-key" in answer.stderr, answer


def renew(server: Server):
    """Has the server read its certificate again, and waits until it says that it has."""
    server.process.send_signal(signal.SIGHUP)
    for line in server.process.stderr:
        if "certificate" in line:
            return
    raise AssertionError("the server ended")


def main():
    program = os.path.abspath(sys.argv[1])
    here = pathlib.Path(__file__).resolve().parents[2]
    picture = sys.argv[2] if len(sys.argv) > 2 else here / "Corpus/jpeg/valid/baseline-420.jpg"
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/photos")
        pathlib.Path(folder, "photos/1.jpg").write_bytes(pathlib.Path(picture).read_bytes())
        for step in (socket_that_is_handed_on, encrypted):
            step(program, folder)
            print(f"{step.__name__.replace('_', ' ')}: as it should be")


main()
