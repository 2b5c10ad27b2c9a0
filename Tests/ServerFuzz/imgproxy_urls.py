# SPDX-License-Identifier: Apache-2.0
"""Sends thousands of imgproxy URLs, most of them malformed, to a running server.

usage: imgproxy_urls.py URL [COUNT [SEED [KEY SALT]]], the last two in hexadecimal

Schemathesis encodes the colons as %3A, which is another form. Valid URLs must return an image, others an
error with a reason; all responses must arrive within a second and match the OpenAPI description. With a
key, every second URL has an invalid signature and must not return an image.
"""

import base64
import collections
import hashlib
import hmac
import http.client
import json
import random
import string
import sys
import time
import urllib.parse

SECONDS = 1
PICTURES = ["1.jpg", "2.png", "house/1.jpg"]
FORMATS = ["png", "jpg", "jpeg", "webp"]
NAMES = [
    "rs", "resize", "s", "size", "w", "h", "rt", "dpr", "el", "g", "c", "rot", "fl", "mc", "bl", "q",
    "f", "pr", "exp", "cb", "sm", "ar", "wm", "raw", "bg", "trim", "nothing",
]  # fmt: skip
ARGUMENTS = [
    "", "0", "-0", "1", "-1", "+1", "8193", "2147483648", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "1.5", "1e308", "1e999", "nan", "-inf", "0x10",
    "45", "90", "\u0661", "fill", "fit", "force", "auto", "ce", "no:1:1", "t", "png", "exe", "%00",
    "%3A", "%2F", "..", "é", "{}", "'", '"', "a" * 300, ":" * 50,
]  # fmt: skip
SOURCES = [
    "missing.jpg", "cut.jpg", "note.txt", "house", "../1.jpg", "..%2F1.jpg", "%2e%2e%2f1.jpg",
    "%252e%252e%252f1.jpg", "/etc/passwd", "%2Fetc%2Fpasswd", "local:///../1.jpg", "file:///etc/passwd",
    "http://127.0.0.1/1.jpg", "http:%2F%2F[::1]%2F1.jpg", "https://example.com/1.jpg@png",
    "s3://bucket/1.jpg", "data:image/png;base64,AAAA", "1.jpg@exe", "1.jpg@", "@png", "", "%", "%2",
    "%zz", "%00", "1.jpg%00.png", "%ff", "%c0%ae%c0%ae%2f1.jpg", "1.jpg?v=1", "1.jpg?v=1&v=2", "//",
    ".", "1.jpg/", "house%5C1.jpg", "a" * 300, "a/" * 2000, "a" * 9000,
]  # fmt: skip


def right_option(rng):
    return rng.choice([
        lambda: f"rs:{rng.choice(['fit', 'fill', 'force'])}:{rng.randint(0, 200)}:{rng.randint(0, 200)}",
        lambda: f"w:{rng.randint(0, 300)}",
        lambda: f"h:{rng.randint(0, 300)}",
        lambda: f"s:{rng.randint(1, 100)}:{rng.randint(1, 100)}:{rng.randint(0, 1)}",
        lambda: f"g:{rng.choice(['ce', 'no', 'so', 'ea', 'we', 'noea', 'sowe'])}",
        lambda: f"rot:{rng.choice([0, 90, 180, 270, -90, 450])}",
        lambda: f"bl:{rng.choice([0, 0.5, 3])}",
        lambda: f"q:{rng.randint(0, 100)}",
        lambda: f"f:{rng.choice(FORMATS)}",
        lambda: f"dpr:{rng.choice([1, 1.5, 2])}",
        lambda: rng.choice(["mc:1", "fl:1", "el:0", "sm:1", "cb:abc", "exp:99999999999"]),
    ])()  # fmt: skip


def wrong_option(rng):
    arguments = [rng.choice(ARGUMENTS) for _ in range(rng.choice([0, 1, 1, 2, 4]))]
    return ":".join([rng.choice(NAMES), *arguments])


def coded(rng, source):
    text = base64.urlsafe_b64encode(source.encode()).decode().rstrip("=")
    step = rng.choice([4, 16, 100])
    return "/".join(text[start : start + step] for start in range(0, len(text), step))


def right_source(rng):
    name = rng.choice(PICTURES)
    name = rng.choice([name, "local:///" + name])
    ending = rng.choice(["", rng.choice(FORMATS)])
    if rng.random() < 0.4:
        return coded(rng, name) + ("." + ending if ending else "")
    written = rng.choice([name, name.replace("/", "%2F"), name.replace("1", "%31")])
    return "plain/" + written + ("@" + ending if ending else "")


def wrong_source(rng):
    source = rng.choice(SOURCES)
    if rng.random() < 0.7:
        return "plain/" + source
    text = coded(rng, source)
    return rng.choice([text, text + "=", text + ".exe", text[:-1], text + "*", ""])


def damaged(rng, path):
    place = rng.randrange(len(path))
    character = path[place]
    return rng.choice([
        lambda: path[:place] + path[place + 1 :],
        lambda: path[:place] + character * rng.choice([2, 50]) + path[place + 1 :],
        lambda: path[:place] + f"%{ord(character):02x}" + path[place + 1 :],
        lambda: path[:place] + f"%25{ord(character):02X}" + path[place + 1 :],
        lambda: path[:place] + rng.choice(["%", "%0", "%0a", "%0d%0a", "é", "\\", "/", ":", "@"]) + path[place:],
        lambda: path[:place],
        lambda: path + rng.choice(["/", "?", "?v=1", "&a=b", "%", "//"]),
    ])()  # fmt: skip


def example(rng):
    """Returns the path after a signature, and whether it is valid."""
    options = [right_option(rng) for _ in range(rng.choice([1, 1, 2, 3, 8]))]
    source = right_source(rng)
    kind = rng.random()
    if kind < 0.3:
        return "/".join(["", *options, source]), True
    if kind < 0.55:
        options.insert(rng.randrange(len(options) + 1), wrong_option(rng))
    elif kind < 0.75:
        source = wrong_source(rng)
    path = "/".join(["", *options, source])
    return (damaged(rng, path) if kind >= 0.75 else path), False


def signature(path, key, salt):
    code = hmac.new(key, salt + path.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(code).decode().rstrip("=")


def wrong_signature(rng, right):
    return rng.choice([
        "unsafe", "_", "", right[:-1], right + "A", right + "=", right.swapcase(), "%41" + right[1:],
        right[::-1], "A" * 43, "%C3%A9", "0" * 5000,
    ])  # fmt: skip


class Target:
    def __init__(self, url):
        self.host = urllib.parse.urlsplit(url).netloc
        self.connection = None
        _, _, body, _ = self.request("GET", "/-/openapi.json", {})
        operation = json.loads(body)["paths"]["/{imgproxySignature}/{imgproxyOptions}/plain/{source}"]
        self.statuses = {int(status) for status in operation["get"]["responses"]}

    def request(self, method, path, headers):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.host, timeout=60)
        start = time.monotonic()
        self.connection.request(method, path, headers=headers)
        response = self.connection.getresponse()
        body = response.read()
        if response.will_close:
            self.connection.close()
            self.connection = None
        return response.status, response.headers, body, time.monotonic() - start

    def problems(self, method, path, headers, is_right, is_signed):
        try:
            status, fields, body, seconds = self.request(method, path, headers)
        except (OSError, http.client.HTTPException) as error:
            self.connection = None
            return 0, [f"no answer: {error!r}"]
        found = []
        if status not in self.statuses:
            found.append("a status that the description lacks")
        if status >= 500:
            found.append("a server error")
        if is_right and is_signed and status not in (200, 304):
            found.append(f"expected an image: {body[:200]!r}")
        # A damaged URL may match another route, which needs no signature.
        if not is_signed and status < 400 and path.count("/") > 1:
            found.append("accepted without a valid signature")
        if seconds > SECONDS:
            found.append(f"{seconds:.2f} seconds")
        if fields["X-Content-Type-Options"] != "nosniff":
            found.append("no X-Content-Type-Options")
        if status == 200 and not fields["Content-Type"].startswith("image/"):
            found.append(f"an image of type {fields['Content-Type']}")
        if status >= 400:
            found += error_problems(method, fields, body)
        elif method == "HEAD" and body:
            found.append("a body")
        return status, found


def error_problems(method, fields, body):
    found = []
    if fields["Cache-Control"] != "no-store":
        found.append("an error that may be cached")
    if fields["Content-Type"] != "application/json":
        found.append("an error that is not JSON")
    if method == "HEAD":
        return found
    try:
        value = json.loads(body)
    except ValueError:
        return found + [f"an error that is not JSON: {body[:100]!r}"]
    if list(value) != ["error"] or not isinstance(value["error"], str) or not value["error"]:
        found.append(f"an error with an unexpected structure: {body[:100]!r}")
    if len(body) > 500 or "/tmp" in value.get("error", ""):
        found.append(f"an error that discloses too much: {body[:600]!r}")
    return found


def main():
    url = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    key, salt = (bytes.fromhex(text) for text in sys.argv[4:6]) if len(sys.argv) > 5 else (None, b"")
    rng = random.Random(seed)
    server = Target(url)
    counts = collections.Counter()
    wrong = []
    for number in range(count):
        path, is_right = example(rng)
        # Other bytes are not valid in HTTP, and are refused before routing.
        path = urllib.parse.quote(path, safe=string.punctuation)
        sign = signature(path, key, salt) if key else rng.choice(["_", "unsafe", "%C3%A9", "a" * 100])
        is_signed = not key or rng.random() < 0.5
        if not is_signed:
            sign = wrong_signature(rng, sign)
        headers = rng.choice([{}, {"Accept": "image/webp"}, {"If-None-Match": "*"}, {"DPR": "1e9"}])
        method = rng.choice(["GET", "GET", "GET", "HEAD"])
        status, found = server.problems(method, "/" + sign + path, headers, is_right, is_signed)
        counts[status] += 1
        wrong += [f"{number}: {method} /{sign}{path} {headers}: {status}: {text}" for text in found]
    answers = ", ".join(f"{count} of {status}" for status, count in sorted(counts.items()))
    print(f"imgproxy: {count} URLs, seed {seed}: {answers}")
    for line in wrong[:20]:
        print(line[:1000])
    if wrong:
        sys.exit(f"{len(wrong)} responses are wrong")


if __name__ == "__main__":
    main()
