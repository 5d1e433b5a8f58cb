"""A studio in a process of its own, and browsers that look at it: Debian's Chromium, driven by Playwright."""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.studio.visitors import Visitor, launched

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Of a studio for all tests."""
    pytest.importorskip("nicegui")
    process, found = launched(folder=tmp_path_factory.mktemp("started"))
    try:
        yield found
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def chromium():
    """A browser for the tests of one file: its event loop has to be gone before other tests run."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The text of axe-core, from the npm registry."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm to fetch axe-core with")
    folder = tmp_path_factory.mktemp("axe")
    subprocess.run(["npm", "pack", "--silent", "axe-core@4"], cwd=folder, check=True, capture_output=True, timeout=300)
    (packed,) = folder.glob("*.tgz")
    with tarfile.open(packed) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


@pytest.fixture(scope="session")
def shots(tmp_path_factory):
    """Where screenshots go: a folder of your own by METRICDP_SHOTS."""
    folder = Path(os.environ.get("METRICDP_SHOTS") or tmp_path_factory.mktemp("shots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def visit(chromium, address, shots):
    """Makes visitors; at the end, nobody asked for anything beyond this machine, and no page failed."""
    here = []

    def arrive(**options):
        here.append(Visitor(chromium, address, shots, **options))
        return here[-1]

    yield arrive
    for visitor in here:
        visitor.context.close()
        origin = address[: address.index("/", len("http://"))]
        beyond = [url for url in visitor.requests if not url.startswith((origin + "/", "data:", "blob:"))]
        assert beyond == []
        assert all(url.startswith(origin.replace("http", "ws") + "/") for url in visitor.sockets)
        assert visitor.problems == []
