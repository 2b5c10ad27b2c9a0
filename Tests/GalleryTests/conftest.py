# SPDX-License-Identifier: Apache-2.0
"""Options and fixtures of the gallery tests, which check the page of a running server in Chromium.

    pip install -r requirements.txt
    python -m pytest . --calotype ../../.build/release/calotype --photos ~/Pictures --artifacts /tmp/gallery

The folder needs some dozens of images; tests that its contents do not permit are skipped. Nothing in it
is changed. Every check is a pytest subtest: a failed check does not end its test.
"""

import os
import pathlib
import sys

import pytest
from _pytest.subtests import SubtestReport
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "CalotypeServer"))

from calotype_server import CheckedServer
from gallery_driver import ServedFolder


def pytest_addoption(parser):
    group = parser.getgroup("gallery")
    group.addoption("--server", help="URL of a running server; without it, one is started")
    group.addoption("--calotype", help="the program that is started")
    group.addoption("--photos", help="the folder that it serves")
    group.addoption("--artifacts", type=pathlib.Path, default=pathlib.Path("."), help="folder of screenshots")
    group.addoption("--chromium", default="/usr/bin/chromium", help="the browser's executable")
    group.addoption("--deep", action="store_true", help="include the tests of scale and pace")
    group.addoption("--only", nargs="+", default=[], help="names of tests, such as viewing")
    group.addoption("--quiet-machine", action="store_true", help="check times, which other programs would prolong")


def pytest_configure(config):
    config.addinivalue_line("markers", "deep: takes as long as all other tests together")


def pytest_collection_modifyitems(config, items):
    only = config.getoption("--only")
    if only:
        deselected = [item for item in items if item.name.removeprefix("test_") not in only]
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item not in deselected]
    elif not config.getoption("--deep"):
        for item in items:
            if item.get_closest_marker("deep"):
                item.add_marker(pytest.mark.skip(reason="make test-deep runs it"))


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report):
    # Each check has printed its line.
    if isinstance(report, SubtestReport) and report.passed:
        return "subtests passed", "", ""


@pytest.fixture(scope="session")
def server(request, tmp_path_factory):
    """The URL of the server."""
    if url := request.config.getoption("--server"):
        yield url.rstrip("/")
        return
    program, photos = (request.config.getoption(name) for name in ("--calotype", "--photos"))
    if not program or not photos:
        pytest.exit("--server, or --calotype and --photos, is required", returncode=4)
    with CheckedServer(program, photos, tmp_path_factory.mktemp("gallery") / "cache") as running:
        yield running.url


@pytest.fixture(scope="session")
def served_folder(server):
    return ServedFolder(server)


@pytest.fixture(scope="session")
def browser(request):
    # Chromium's sandbox does not support root, the usual user of containers.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=request.config.getoption("--chromium"), args=flags)
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def prepare_checks(request, subtests, browser, server, served_folder):
    """Sets what `GalleryChecks` use."""
    artifacts = request.config.getoption("--artifacts")
    artifacts.mkdir(parents=True, exist_ok=True)
    request.instance.prepare(
        subtests, browser, server, served_folder, artifacts, request.config.getoption("--quiet-machine"))
