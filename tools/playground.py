"""Builds the page that simulates in the browser into a folder of static files.

The page is docs/playground, with the module of crates/browser, the examples and uPlot. The program
prints the size of the files as a web server sends them, and fails above the limit.
"""

import argparse
import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = "wasm32-unknown-unknown"
LIMIT = 5_000_000
"""Largest sum of the compressed sizes, bytes."""

EXAMPLES = ("blockage", "lte-download")
FILES = [
    *(ROOT / "docs/playground" / name for name in ("index.html", "playground.css")),
    *(ROOT / "docs/playground" / name for name in ("playground.js", "scenarios.js", "worker.js")),
    *(ROOT / "python/fadeout/scenarios" / f"{name}.toml" for name in EXAMPLES),
    *(
        ROOT / "python/fadeout/report/static" / f"uPlot.{name}"
        for name in ("iife.min.js", "min.css", "LICENSE")
    ),
]


def module() -> Path:
    """Builds the WebAssembly module, and returns its path."""
    subprocess.run(["rustup", "target", "add", TARGET], cwd=ROOT, check=True)
    command = ["cargo", "build", "--release", "--locked", "--package", "fadeout-browser"]
    # Line tables of debug information are larger than the code.
    environment = os.environ | {"CARGO_PROFILE_RELEASE_STRIP": "true"}
    subprocess.run([*command, "--target", TARGET], cwd=ROOT, env=environment, check=True)
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    return folder / TARGET / "release" / "fadeout_browser.wasm"


def main() -> None:
    """Builds the page, and checks its size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="Folder of the page. Its files are replaced.")
    out = parser.parse_args().out
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for file in FILES:
        shutil.copy(file, out)
    shutil.copy(module(), out / "fadeout.wasm")
    size = sum(len(gzip.compress(file.read_bytes())) for file in out.iterdir())
    print(f"{out}: {size / 1e6:.2f} MB compressed")
    if size > LIMIT:
        sys.exit(f"the page is larger than {LIMIT / 1e6:g} MB")


if __name__ == "__main__":
    main()
