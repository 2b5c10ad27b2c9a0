#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints each public declaration in Sources without a doc comment, and fails if there is one.

usage: check-documentation.py [FILE]..., all Swift files in Sources if no file is given

Every declaration with `public` or `open` (not `package`) needs `///` or `/** */` directly before it or its
attributes. Requirements of a public protocol need one too; cases need none, because the doc comment of
their enum covers them. Exempt are imports, extensions, overrides, `deinit`, and witnesses of protocols of
the standard library: `==`, `<`, `hash(into:)`, `description`, `init(from:)`, `encode(to:)`,
`makeAsyncIterator()`, `next()`, `rawValue`, `init(rawValue:)`, `id` and `allCases`. A member of a type or
extension with a conformance, or of an extension of a protocol in Sources, is exempt if a protocol in
Sources documents a requirement of its name.
"""

import pathlib
import re
import sys

MODIFIERS = (r"(?:final|static|class|mutating|nonmutating|consuming|borrowing|nonisolated(?:\(\w+\))?|lazy|weak|"
             r"indirect|override|required|convenience|isolated|unsafe|nonisolated\(nonsending\)|private\(set\)|"
             r"internal\(set\)|package\(set\)|fileprivate\(set\)|@\w+(?:\([^()]*\))?)")
PUBLIC = re.compile(
    rf"^\s*(?:{MODIFIERS}\s+)*(?:public|open)\s+(?:{MODIFIERS}\s+)*"
    r"(func|var|let|init|subscript|struct|class|enum|protocol|actor|typealias|associatedtype|macro|case|operator)"
    r"\b\s*([^\s(:<{=]*)")
REQUIREMENT = re.compile(
    rf"^\s*(?:{MODIFIERS}\s+)*(func|var|init|subscript|associatedtype)\b\s*([^\s(:<{{=]*)")
WITNESSES = {
    "==", "<", "hash", "description", "debugDescription", "encode", "makeAsyncIterator", "makeIterator", "next",
    "rawValue", "id", "allCases", "errorDescription", "AsyncIterator", "Element", "RawValue",
}
TYPE = re.compile(r"\b(struct|class|enum|protocol|actor|extension)\s+(\w[\w.]*)\s*(?:<[^{]*?>)?\s*(:?)")


def stripped(line, state):
    """The line without strings and comments; `state` is true inside a multi-line string or comment."""
    if state["block"]:
        end = line.find(state["block"])
        if end < 0:
            return ""
        line = line[end + len(state["block"]):]
        state["block"] = ""
    if line.count('"""') % 2 == 1:
        state["block"] = '"""'
        line = line[: line.rfind('"""')]
    line = re.sub(r'#?"(?:\\.|[^"\\])*"#?', '""', line)
    line = re.sub(r"/\*.*?\*/", "", line)
    if "/*" in line:
        state["block"], line = "*/", line[: line.index("/*")]
    return re.sub(r"//.*", "", line)


def scopes(lines, protocols=()):
    """Yields each line with its number and the declarations around it: (keyword, is public, conforms)."""
    state, stack, pending = {"block": ""}, [], ""
    for number, line in enumerate(lines):
        code = stripped(line, state)
        yield number, line, code, list(stack)
        for part in re.split(r"([{}])", code):
            if part == "{":
                found = TYPE.search(pending)
                if found and not re.search(r"\b(func|var|let|init|case|if|guard)\b", pending):
                    is_public = bool(re.search(r"\b(public|open)\b", pending))
                    is_default = found[1] == "extension" and found[2] in protocols
                    stack.append((found[1], is_public, bool(found[3]) or is_default))
                else:
                    stack.append(("", False, False))
                pending = ""
            elif part == "}":
                if stack:
                    stack.pop()
                pending = ""
            elif part.strip():
                pending = f"{pending} {part}"[-2000:]
        if code.strip().endswith((";",)) or (code.strip() and not TYPE.search(pending)):
            pending = ""


def is_documented(lines, number):
    """Whether a doc comment precedes the line, or the attributes and conditions before it."""
    while number > 0:
        number -= 1
        text = lines[number].strip()
        if text.startswith("///") or text.endswith("*/"):
            return True
        if not text.startswith(("@", "//", "#if", "#elseif", "#else", "#endif")):
            return False
    return False


def requirements(files):
    """The names that documented requirements of protocols have."""
    names = set()
    for lines in files.values():
        for number, line, code, stack in scopes(lines):
            if stack and stack[-1][0] == "protocol" and (found := REQUIREMENT.match(code)):
                if is_documented(lines, number):
                    names.add(found[2] or found[1])
    return names


def undocumented(lines, required, protocols):
    for number, line, code, stack in scopes(lines, protocols):
        inner = stack[-1] if stack else ("", False, False)
        found = PUBLIC.match(code)
        kind, name = (found[1], found[2]) if found else ("", "")
        if not found and inner[0] == "protocol" and inner[1] and (need := REQUIREMENT.match(code)):
            kind, name = need[1], need[2] or need[1]
        if not kind or re.search(r"\boverride\b", code):
            continue
        if inner[0] != "protocol" and (name in WITNESSES or re.search(
                r"\binit\??\((rawValue|from)\b", code)):
            continue
        if inner[2] and (name or kind) in required:
            continue
        if not is_documented(lines, number):
            yield number + 1, line.strip()


def main():
    paths = sorted(pathlib.Path("Sources").rglob("*.swift"))
    everything = {str(path): path.read_text().splitlines() for path in paths}
    required = requirements(everything)
    protocols = {found[1] for lines in everything.values() for line in lines
                 if (found := re.search(r"\bprotocol (\w+)", line))}
    chosen = [name for name in sys.argv[1:] if name in everything] if len(sys.argv) > 1 else everything
    count = 0
    for name in chosen:
        for number, line in undocumented(everything[name], required, protocols):
            count += 1
            print(f"{name}:{number}: {line}", file=sys.stderr)
    if count:
        sys.exit(f"{count} public declarations have no doc comment.")


main()
