# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/release in a temporary clone of this repository.

Exits with 0 if all checks pass. Needs git.
"""

import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Clone:
    """A clone with the script, the changelog, the changes and the version of the working tree."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "clone"
        subprocess.run(
            ["git", "clone", "--quiet", "--shared", "--no-tags", ROOT, self.folder], check=True)
        self.git("config", "user.name", "Test")
        self.git("config", "user.email", "test@example.org")
        version = next(ROOT.glob("Sources/*/Version.swift"))
        for path in self.folder.glob("Sources/*/Version.swift"):
            path.unlink()
        for path in (ROOT / "scripts/release", ROOT / "CHANGELOG.md", version):
            target = self.folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        self.version = target
        shutil.rmtree(self.folder / "changes.d", ignore_errors=True)
        (self.folder / "changes.d").mkdir()
        self.write("changes.d/.gitkeep", "")
        self.set_version("3.1.4")
        self.commit("the working tree")

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.folder, *arguments], check=True,
                              capture_output=True, text=True).stdout

    def commit(self, subject):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)

    def write(self, path, text):
        (self.folder / path).write_text(text)

    def read(self, path):
        return (self.folder / path).read_text()

    def set_version(self, version):
        self.version.write_text(f'package let calotypeVersion = "{version}"\n')

    def release(self, *arguments):
        return subprocess.run([self.folder / "scripts/release", *arguments],
                              capture_output=True, text=True)

    def refuses(self, reason, *arguments):
        """Checks that a release fails with a reason and changes nothing."""
        before = self.state()
        result = self.release(*arguments)
        assert result.returncode == 1, (arguments, result)
        assert result.stderr.startswith("release: ") and reason in result.stderr, result.stderr
        assert self.state() == before, arguments

    def state(self):
        return (self.git("rev-parse", "HEAD"), self.git("tag"), self.git("status", "--porcelain"),
                self.read("CHANGELOG.md"))


def refusals(clone):
    clone.refuses("no changes: changes.d is empty", "3.2.0")
    clone.write("changes.d/added-a.md", "A.\n")
    clone.refuses("the working tree is not clean", "3.2.0")
    assert "changes.d/added-a.md" in clone.release("3.2.0").stderr
    clone.commit("a change")
    for version in ("3.2", "v3.2.0", "3.2.0-beta", "03.2.0", ""):
        clone.refuses(f"invalid version: {version}; use MAJOR.MINOR.PATCH", version)
    clone.refuses("version 3.1.3 is lower than the current 3.1.4", "3.1.3")
    clone.git("tag", "3.2.0")
    clone.refuses("the tag 3.2.0 exists already", "3.2.0")
    clone.git("tag", "--delete", "3.2.0")
    for name, reason in (("removed-b.md", "invalid name"), ("added-b.txt", "invalid name"),
                         ("fixed-b.md", "changes.d/fixed-b.md is empty")):
        clone.write(f"changes.d/{name}", "\n")
        clone.commit("an invalid change")
        clone.refuses(reason, "3.2.0")
        clone.git("reset", "--quiet", "--hard", "HEAD~1")


def release(clone):
    """Changes become a section above the older ones."""
    clone.write("changes.d/fixed-c.md", "C\nover two lines.\n")
    clone.write("changes.d/added-b.md", "B.\n")
    clone.commit("more changes")
    before, changelog = clone.state(), clone.read("CHANGELOG.md")
    dry = clone.release("--dry-run", "--date", "2026-01-02", "3.2.0")
    assert dry.returncode == 0 and clone.state() == before
    new = "## 3.2.0 – 2026-01-02\n\n### Added\n\n- A.\n- B.\n\n### Fixed\n\n- C over two lines.\n"
    assert dry.stdout.startswith(new), dry.stdout

    done = clone.release("--date", "2026-01-02", "3.2.0")
    assert done.returncode == 0, done.stderr
    text = clone.read("CHANGELOG.md")
    assert text.count(new) == 1 and text.replace(new + "\n", "", 1) == changelog, text
    assert text.startswith("# Changelog\n") and text.index(new) < text.index("## 0.2.0")
    assert 'calotypeVersion = "3.2.0"' in clone.version.read_text()
    assert [path.name for path in (clone.folder / "changes.d").iterdir()] == [".gitkeep"]
    assert clone.git("status", "--porcelain") == ""
    assert clone.git("log", "-1", "--format=%s") == "release: version 3.2.0\n"
    assert clone.git("rev-parse", "3.2.0^{commit}") == clone.git("rev-parse", "HEAD")
    assert clone.git("cat-file", "-t", "3.2.0") == "tag\n"
    assert new in clone.git("for-each-ref", "--format=%(contents)", "refs/tags/3.2.0")
    clone.refuses("the tag 3.2.0 exists already", "3.2.0")
    clone.git("tag", "--delete", "3.2.0")
    clone.refuses("has a section 3.2.0 already, with a date", "3.2.0")


def written_by_hand(clone):
    """A section that is marked as unreleased receives the date, and the files in changes.d at its end."""
    older = clone.read("CHANGELOG.md")
    heading, rest = older.split("\n\n", 2)[0], older[older.index("## "):]
    clone.write("CHANGELOG.md", f"{heading}\n\n## 3.3.0 – unreleased\n\nD.\n\n{rest}")
    clone.write("changes.d/added-e.md", "E.\n")
    clone.commit("a section")
    done = clone.release("--date", "2026-02-03", "3.3.0")
    assert done.returncode == 0, done.stderr
    section = "## 3.3.0 – 2026-02-03\n\nD.\n\n### Added\n\n- E.\n"
    assert clone.read("CHANGELOG.md") == f"{heading}\n\n{section}\n{rest}"
    message = clone.git("for-each-ref", "--format=%(contents)", "refs/tags/3.3.0")
    assert message.strip() == section.strip(), message


def main():
    with tempfile.TemporaryDirectory() as folder:
        clone = Clone(folder)
        refusals(clone)
        release(clone)
        written_by_hand(clone)
    print("scripts/release: all checks passed")


main()
