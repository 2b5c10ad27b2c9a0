# SPDX-License-Identifier: Apache-2.0
"""The index of a synthetic library: the images of one folder by day, with marks and changes.

Tests change it with `GET /-/test/...`: `add/DATE/COUNT` adds images to a day, `remove/DATE` removes a day,
`reading/READ/FOUND/SECONDS` and `complete` set the progress.
"""

import base64
import datetime
import io
import itertools
import json
import math
import zipfile
from urllib.parse import parse_qs

from PIL import Image

MOST_FOUND = 10_000
LADDER = [64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096]
CAMERAS = ["Canon EOS 5D", "Canon EOS R6", "Nikon Z 6", "Fujifilm X-T4"]


def aspect_code(width, height):
    return round(128 + 32 * math.log2(width / height))


class Library:
    """Implements the routes below `/-/library`, for the images of a folder of the synthetic server."""

    def __init__(self, folder_name, folder):
        self.folder_name, self.folder = folder_name, folder
        self.days = {}
        for place in sorted(range(folder.count), key=lambda i: (-folder.modified[i], i)):
            self.days.setdefault(self.taken(place)[:10], []).append(place)
        self.changes = [list(self.days)]  # dates by generation
        self.progress = {"state": "complete", "found": folder.count, "read": folder.count}
        self.added = {}  # dates of added images
        self.favourites, self.ratings = set(), {}
        self.requests = []

    def taken(self, place):
        time = datetime.datetime.fromtimestamp(self.folder.modified[place], datetime.timezone.utc)
        return f"{time:%Y-%m-%dT%H:%M:%S}"

    def path(self, place):
        return f"{self.folder_name}/{self.folder.names[place]}"

    @property
    def generation(self):
        return str(len(self.changes))

    def respond(self, segments, query, body):
        """Returns a JSON value, bytes of an image or of an archive, or None."""
        parameters = {name: values[0] for name, values in parse_qs(query).items()}
        if segments[:2] == ["-", "test"]:
            return self.change(*segments[2:])
        self.requests.append(("/".join(segments), query))
        match segments[2:]:
            case ["status"]:
                return {"secondsLeft": None, "canMark": True} | self.progress | {"generation": self.generation}
            case ["timeline"]:
                return self.timeline(parameters.get("q", ""), parameters.get("since"))
            case ["images"]:
                return self.images(parameters)
            case ["completions"]:
                return {"completions": self.completions(parameters["q"])}
            case ["covers", *_]:
                return covers(int(parameters["limit"]), int(parameters["side"]))
            case ["marks"] if body:
                return self.mark(json.loads(body))
            case ["marks", *folder]:
                return self.marks_of("/".join(folder))
        return None

    def change(self, action, *values):
        match action:
            case "add":
                date, count = values[0], int(values[1])
                added = [(i * 31) % self.folder.count for i in range(count)]
                self.days[date] = added + self.days.get(date, [])
                self.days = dict(sorted(self.days.items(), reverse=True))
                self.changes.append([date])
            case "remove":
                del self.days[values[0]]
                self.changes.append([values[0]])
            case "reading":
                read, found, seconds = map(int, values)
                self.progress = {"state": "reading", "found": found, "read": read, "secondsLeft": seconds}
            case "complete":
                self.progress = {"state": "complete", "found": self.folder.count, "read": self.folder.count}
            case "requests":
                return self.requests
            case "marks":
                return {"favourites": sorted(self.favourites), "ratings": self.ratings}
        return {}

    def found(self, query):
        """Returns the days with the images that match all words of a query."""
        words = query.lower().split()
        if not words:
            return self.days, False
        days, count = {}, 0
        for date, places in self.days.items():
            matches = [place for place in places if all(self.matches(place, date, w) for w in words)]
            if not matches:
                continue
            days[date] = matches[: MOST_FOUND - count]
            count += len(days[date])
            if count == MOST_FOUND:
                return days, True
        return days, False

    def matches(self, place, date, word):
        if word == "is:favourite":
            return self.path(place) in self.favourites
        if word.startswith("rating:"):
            return self.ratings.get(self.path(place), 0) >= int(word[7:])
        if word.startswith("camera:"):
            return word[7:].strip('"') in CAMERAS[place % 4].lower()
        return date.startswith(word) or self.folder.names[place].lower().startswith(word)

    def timeline(self, query, since):
        days, is_cut = self.found(query)
        dates = list(days)
        if since is not None:
            changed = {date for dates in self.changes[int(since) :] for date in dates}
            dates = sorted(changed, reverse=True)
        sizes = zip(self.folder.widths, self.folder.heights)
        codes = [aspect_code(*size) for size in sizes] if not hasattr(self, "codes") else self.codes
        self.codes = codes
        aspects = bytes(codes[place] for date in dates for place in days.get(date, []))
        return {
            "ladder": LADDER,
            "generation": self.generation,
            "total": sum(map(len, days.values())),
            "isPartial": since is not None,
            "isCut": is_cut,
            "days": {"date": dates, "count": [len(days.get(date, [])) for date in dates]},
            "aspects": base64.b64encode(aspects).decode(),
        }

    def images(self, parameters):
        days, _ = self.found(parameters.get("q", ""))
        first, last = parameters.get("first", "9999"), parameters.get("last", "0000")
        if parameters.get("q"):
            inside = [(date, places) for date, places in days.items() if first >= date >= last]
        else:
            start = self.dates_between(first, last)
            inside = [(date, days[date]) for date in start]
        pairs = ((date, place) for date, places in inside for place in places)
        offset, limit = int(parameters["offset"]), min(500, int(parameters["limit"]))
        part = list(itertools.islice(pairs, offset, offset + limit))
        column = lambda values: [values[place] for _, place in part]
        marked = {i: True for i, (_, place) in enumerate(part) if self.path(place) in self.favourites}
        rated = {
            i: self.ratings[self.path(place)]
            for i, (_, place) in enumerate(part)
            if self.path(place) in self.ratings
        }
        pictures = {
            "folder": [self.folder_name] * len(part),
            "name": column(self.folder.names),
            "width": column(self.folder.widths),
            "height": column(self.folder.heights),
            "taken": [date + self.taken(place)[10:] for date, place in part],
            "modified": column(self.folder.modified),
            "version": [f"v{place}" for _, place in part],
            "error": {},
            "placeholder": {i: self.folder.placeholder(place) for i, (_, place) in enumerate(part)},
            "favourite": marked,
            "rating": rated,
        }
        return {"ladder": LADDER, "generation": self.generation, "pictures": pictures}

    def dates_between(self, first, last):
        return [date for date in self.days if first >= date >= last]

    def completions(self, prefix):
        word = prefix.lower().split()[-1] if prefix.split() else ""
        found = [
            {"text": f'camera:"{name}"', "label": name, "kind": "camera", "count": self.folder.count // 4}
            for name in CAMERAS
            if name.lower().startswith(word)
        ]
        years = sorted({date[:4] for date in self.days}, reverse=True)
        return found + [
            {"text": year, "label": year, "kind": "year", "count": 1}
            for year in years
            if year.startswith(word)
        ][:8]

    def mark(self, marks):
        for path in marks["images"]:
            if marks.get("favourite") is True:
                self.favourites.add(path)
            elif "favourite" in marks:
                self.favourites.discard(path)
            if "rating" in marks:
                self.ratings[path] = marks["rating"]
        paths = set(marks["images"])
        self.changes.append(
            [date for date, places in self.days.items() if any(self.path(place) in paths for place in places)])
        return b""

    def marks_of(self, folder):
        names = sorted(
            path.split("/")[1]
            for path in self.favourites | self.ratings.keys()
            if path.startswith(folder + "/")
        )
        paths = [f"{folder}/{name}" for name in names]
        return {
            "name": names,
            "favourite": {i: True for i, path in enumerate(paths) if path in self.favourites},
            "rating": {i: self.ratings[path] for i, path in enumerate(paths) if path in self.ratings},
        }

    def archive(self, paths, sidecars=False):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for path in paths:
                archive.writestr(path + ".xmp" * sidecars, path)
        return file.getvalue()


def covers(limit, side):
    """Returns a sheet of ten columns; every seventh cell is transparent."""
    sheet = Image.new("RGBA", (10 * side, -(-limit // 10) * side))
    for cell in range(limit):
        if cell % 7 == 6:
            continue
        color = (60 + cell * 37 % 160, 60 + cell * 91 % 160, 60 + cell * 13 % 160, 255)
        sheet.paste(color, (cell % 10 * side, cell // 10 * side, (cell % 10 + 1) * side, (cell // 10 + 1) * side))
    file = io.BytesIO()
    sheet.save(file, "PNG")
    return file.getvalue()
