"""How long each control of "What does it mean?" takes to answer: from the move to the last change of the page.

python benchmarks/studio.py [--repeats 40]
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.studio.visitors import Visitor, launched

WATCH = """() => {
    window.changed = 0;
    new MutationObserver(() => { window.changed = performance.now(); })
        .observe(document.querySelector('.studio-page'), {subtree: true, childList: true, characterData: true});
}"""
MOVE = """async ([name, up, row]) => {
    const control = document.querySelector(`input[aria-label="${name}"]`)
        || document.querySelector(name === 'a drag' ? '.drawn' : 'none');
    const begin = performance.now();
    window.changed = 0;
    if (name === 'a drag') {
        const box = control.getBoundingClientRect();
        const at = {clientX: box.left + box.width * (0.3 + 0.01 * row), clientY: box.top + box.height * 0.6,
                    buttons: 1, bubbles: true, pointerId: 1};
        control.dispatchEvent(new PointerEvent('pointerdown', at));
    } else {
        control[up ? 'stepUp' : 'stepDown']();
        control.dispatchEvent(new Event('input', {bubbles: true}));
    }
    while (performance.now() - begin < 5000 && (!window.changed || performance.now() - window.changed < 60)) {
        await new Promise(done => setTimeout(done, 4));
    }
    return window.changed ? window.changed - begin : 5000;
}"""
SHARED = ["Factor", "at a distance of", "a drag"]
DOTS = ("First secret", "Second secret", "Released")
NUMBERS = [
    *SHARED,
    *DOTS,
    *(f"How likely: {12.5 * place:g}" for place in range(9)),
]
CORNERS = ("north-west", "north", "north-east", "west", "middle", "east", "south-west", "south", "south-east")
PLACES = [
    *SHARED,
    "Width of the map",
    *(
        f"{name}: {axis}"
        for name in ("First secret", "Second secret", "Released")
        for axis in ("latitude", "longitude")
    ),
    *(f"How likely: {name}" for name in CORNERS),
]


def measured(page, name, repeats):
    times = sorted(page.evaluate(MOVE, [name, row % 2 == 0, row]) for row in range(repeats))
    return times[len(times) // 2], times[min(len(times) - 1, int(0.95 * len(times)))]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--repeats", type=int, default=40)
    repeats = options.parse_args().repeats
    from playwright.sync_api import sync_playwright

    process, address = launched()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {repeats} moves of each control")
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            visitor = Visitor(browser, address, Path())
            page = visitor.goto()
            for kind, names in (("numbers", NUMBERS), ("places", PLACES)):
                if kind == "places":
                    page.get_by_role("button", name="Places on a map").click()
                    page.get_by_text("A factor 2 at 200 m").wait_for()
                    page.wait_for_function("window.socket && window.socket.connected")
                page.evaluate(WATCH)
                for name in names:
                    half, most = measured(page, name, repeats)
                    print(f"{kind:8} {name:30} median {half:5.0f} ms   p95 {most:5.0f} ms")
            browser.close()
    finally:
        process.kill()
        process.communicate()
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
