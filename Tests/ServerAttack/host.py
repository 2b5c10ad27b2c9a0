# SPDX-License-Identifier: Apache-2.0
"""A loopback server accepts only its own host names, and no page of another origin may read from it."""

import re
import socket

from calotype_server import Server
from photographs import copy_photographs


# Names with which a page may reach a loopback address by DNS rebinding.
REFUSED = ["evil.example", "evil.example:PORT", "127.0.0.1.evil.example", "localhost.evil.example",
           "evil.example.localhost.evil.example:PORT", "7f000001.c0a80001.rbndr.us", "notlocalhost",
           "localhost@evil.example", "evil.example#localhost", "xn--lcalhost-54a", "192.0.2.7",
           "[2001:db8::1]", "169.254.169.254", "127.0.0.1,evil.example", "evil.example:80:PORT"]
ACCEPTED = ["127.0.0.1:PORT", "localhost:PORT", "localhost", "127.0.0.1", "LOCALHOST:PORT"]
PATHS = ["/64x64/PICTURE", "/PICTURE", "/info/PICTURE", "/-/listing/", "/iiif/3/PICTURE/info.json",
         "/tiles/PICTURE.dzi", "/sprite/64x64/", "/placeholder/PICTURE?format=json", "/"]
ORIGINS = ["http://evil.example", "null", "http://localhost.evil.example"]


def run(context):
    folder = context.place / "photos"
    image = copy_photographs(context, folder, 1)[0]
    verdict = context.report.verdict
    paths = [path.replace("PICTURE", image) for path in PATHS]
    with Server(context.program, folder, context.place / "cache") as server:
        answered = [f"{host} {path}: {status}" for host in REFUSED for path in paths
                    if not 400 <= (status := asked(server, path, host)[0]) < 500]
        verdict("host", "other host names are refused on every route", not answered,
                f"{len(answered)} of {len(REFUSED) * len(paths)} answered {answered[:3]}",
                answered=len(answered))
        odd = odd_forms(server, f"/64x64/{image}")
        verdict("host", "other host names are refused in every form of a request", not odd, "; ".join(odd))
        refused = [f"{host} {path}: {status}" for host in ACCEPTED for path in paths
                   if (status := asked(server, path, host)[0]) != 200]
        verdict("host", "its own host names are accepted on every route", not refused,
                f"{len(refused)} refused {refused[:3]}" if refused else "")
        readable = [f"{method} {path} from {origin}" for path in paths for origin in ORIGINS
                    for method in ("GET", "OPTIONS")
                    if "access-control-allow-origin" in
                    asked(server, path, "127.0.0.1:PORT", f"Origin: {origin}\r\n", method)[1].lower()]
        verdict("host", "no other origin may read responses", not readable,
                f"{len(readable)} may {readable[:3]}" if readable else "", readable=len(readable))
    public = ["--public-address", "https://pictures.example"]
    with Server(context.program, folder, context.place / "public", *public) as server:
        path = f"/64x64/{image}"
        named = {host: asked(server, path, host)[0]
                 for host in ("pictures.example", "PICTURES.example", "localhost:PORT", "127.0.0.1:PORT")}
        verdict("host", "the host of --public-address is accepted", set(named.values()) == {200}, f"{named}")
        other = asked(server, path, "pictures.example.evil.example")[0]
        verdict("host", "other host names are refused with --public-address", 400 <= other < 500, f"{other}")


def asked(server, path, host, fields="", method="GET"):
    """Returns the status and head of the response to a request with this Host header."""
    host = host.replace("PORT", str(server.port))
    return exchange(server, f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n")


def exchange(server, request):
    with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
        connection.sendall(request.encode())
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    head = received.partition(b"\r\n\r\n")[0].decode("latin-1")
    status = re.match(r"HTTP/1\.1 (\d{3})", head)
    return (int(status[1]) if status else 400), head


def odd_forms(server, path):
    """Sends requests with two hosts, or with another host in the request line."""
    own = f"127.0.0.1:{server.port}"
    forms = {
        "in the request line": f"GET http://evil.example{path} HTTP/1.1\r\nHost: evil.example\r\n",
        "twice": f"GET {path} HTTP/1.1\r\nHost: evil.example\r\nHost: evil.example\r\n",
        "second": f"GET {path} HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n",
        "first": f"GET {path} HTTP/1.1\r\nHost: evil.example\r\nHost: {own}\r\n",
        "forwarded": f"GET {path} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: {own}\r\n",
    }
    return [f"{name}: {status}" for name, request in forms.items()
            if (status := exchange(server, request + "Connection: close\r\n\r\n")[0]) == 200]
