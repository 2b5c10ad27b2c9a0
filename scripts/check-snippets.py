#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the Swift code blocks of the documentation with Snippets/, which `swift build` compiles.

Each block of README.md, Documentation/ and the DocC articles must be a part of the visible lines of a
snippet: those outside `// snippet.hide` and `// snippet.show`.
"""

import pathlib
import re
import sys


def visible(path):
    lines, is_visible = [], True
    for line in path.read_text().splitlines():
        if line.strip() in ("// snippet.hide", "// snippet.show"):
            is_visible = line.strip() == "// snippet.show"
        elif is_visible and not line.startswith(("//!", "// SPDX")):
            lines.append(line)
    return "\n".join(lines)


def main():
    snippets = [visible(path) for path in sorted(pathlib.Path("Snippets").rglob("*.swift"))]
    documents = [pathlib.Path("README.md"), *sorted(pathlib.Path("Documentation").rglob("*.md")),
                 *sorted(pathlib.Path("Sources").glob("*/*.docc/**/*.md"))]
    failed = False
    for document in documents:
        text = document.read_text()
        for block in re.finditer(r"^```swift\n(.*?)^```", text, re.S | re.M):
            if not any(f"\n{block[1]}" in f"\n{snippet}\n" for snippet in snippets):
                line = text[: block.start()].count("\n") + 1
                print(f"{document}:{line}: no file in Snippets/ contains this code", file=sys.stderr)
                failed = True
    sys.exit(failed)


main()
