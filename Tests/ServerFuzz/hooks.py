# SPDX-License-Identifier: Apache-2.0
"""Adds existing names to the description, so that not every request is for a missing image."""

import schemathesis

PICTURES = ["1.jpg", "2.png", "cut.jpg", "note.txt"]
KNOWN = {
    "picture": PICTURES,
    "folder": ["house"],
    "file": ["main.js", "gallery.css", "index.html"],
    "identifier": ["1.jpg", "house/1.jpg", "cut.jpg"],
    "source": ["1.jpg", "house/1.jpg@webp", "2.png@png"],
    "names": ["1.jpg", "1.jpg,2.png,cut.jpg"],
    "range": ["bytes=0-9", "bytes=-5", "bytes=99999999-", "bytes=0-1,3-4"],
    "size": ["20x20", "300x200@2x,fill,q70", "_x64,webp", "40x,blur3,gray"],
    "region": ["full", "square", "10,10,40,40", "pct:0,0,50,50"],
    "iiifSize": ["max", "40,", "^400,400", "!64,64"],
    "level": [0, 5, 8],
    "asset": ["Red Square"],
    "column": [0],
    "row": [0],
}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    parameters = raw_schema["components"]["parameters"]
    for name, values in KNOWN.items():
        parameter = parameters[name]
        # Each value is valid in the original schema as well.
        parameter["schema"] = {"anyOf": [{"enum": values}, parameter["schema"]]}
    names = raw_schema["components"]["schemas"]["Name"]
    for operations in raw_schema["paths"].values():
        for content in operations.get("post", {}).get("requestBody", {}).get("content", {}).values():
            properties = content["schema"].get("properties", {})
            for schema in [content["schema"], properties.get("images", {})]:
                if "array" in schema.get("type", ""):
                    schema["items"] = {"anyOf": [{"enum": PICTURES}, names]}
            if "folder" in properties:
                properties["folder"] = {"anyOf": [{"enum": KNOWN["folder"]}, properties["folder"]]}
