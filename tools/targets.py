"""Checks that runs have the same fingerprints on other kinds of machines.

Each target builds the example `run` of the crate `fadeout`, and repeats the runs of
crates/sim/tests/fingerprints.csv: WebAssembly in Node, 64-bit ARM in qemu, and musl. A target whose
runner is missing is named and skipped. This is an error if FADEOUT_REQUIRE_TOOLS is set.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = "crates/sim/tests/fingerprints.csv"
SCENARIOS = "python/fadeout/scenarios"


@dataclass(frozen=True)
class Target:
    """A target of the compiler, and the program that runs its executables."""

    name: str
    runner: tuple[str, ...] = ()
    suffix: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    """Variables of the environment of cargo."""


def musl(name: str, *runner: str) -> Target:
    """Returns a target with musl. Rust has its C library, and its own linker links it.

    Zig compiles the C code of the library ring, which TLS needs.
    """
    variable, processor = name.replace("-", "_"), name.partition("-")[0]
    zig = f"{sys.executable} -m ziglang"
    settings = {
        f"CARGO_TARGET_{variable.upper()}_LINKER": "rust-lld",
        f"CC_{variable}": f"{zig} cc -target {processor}-linux-musl",
        f"AR_{variable}": f"{zig} ar",
    }
    if processor == "x86_64":
        # Cargo's `-march=x86-64` is no processor for zig, which takes the last of two.
        settings[f"CFLAGS_{variable}"] = "-march=x86_64"
    return Target(name, runner, settings=settings)


TARGETS = (
    Target("wasm32-wasip1", ("node", "--no-warnings", "tools/wasi.mjs"), ".wasm"),
    musl("aarch64-unknown-linux-musl", "qemu-aarch64-static"),
    musl("x86_64-unknown-linux-musl"),
)


def build(target: Target) -> Path:
    """Builds the example for a target, and returns its path."""
    subprocess.run(["rustup", "target", "add", target.name], cwd=ROOT, check=True)
    # The code is compiled as for users, without the costly optimisation across crates.
    environment = os.environ | target.settings | {"CARGO_PROFILE_RELEASE_LTO": "off"}
    command = ["cargo", "build", "--release", "--locked", "--package", "fadeout"]
    command += ["--example", "run", "--target", target.name]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    return folder / target.name / "release" / "examples" / f"run{target.suffix}"


def differences(target: Target, seed: str | None) -> list[str]:
    """Runs the table on a target. Returns the rows that differ from the pinned ones."""
    command = [*target.runner, str(build(target)), "--fingerprints", TABLE, SCENARIOS]
    began = time.monotonic()
    done = subprocess.run(
        command + ([seed] if seed else []), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    pinned = [row for row in rows((ROOT / TABLE).read_text()) if not seed or row[1] == seed]
    found = rows(done.stdout)
    print(f"{target.name}: {len(found)} runs in {time.monotonic() - began:.0f} s", flush=True)
    if len(pinned) != len(found):
        return [f"{target.name}: {len(found)} of {len(pinned)} runs"]
    return [
        f"{target.name}: {','.join(one)}; expected {pin[3]}"
        for one, pin in zip(found, pinned, strict=True)
        if one != pin
    ]


def rows(text: str) -> list[list[str]]:
    """Returns the rows of a table of fingerprints, without its heading."""
    return [line.split(",") for line in text.splitlines()[1:]]


def main() -> None:
    """Runs the table on each target."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [target.name for target in TARGETS]
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"Default: {', '.join(names)}")
    parser.add_argument("--seed", help="Run one seed only, 1 or 2.")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(names):
        parser.error(f"there is no target {min(unknown)}; expected one of {', '.join(names)}")
    wrong: list[str] = []
    for target in TARGETS:
        if arguments.targets and target.name not in arguments.targets:
            continue
        if target.runner and shutil.which(target.runner[0]) is None:
            print(f"{target.name}: skipped, {target.runner[0]} is missing")
            if "FADEOUT_REQUIRE_TOOLS" in os.environ:
                wrong.append(f"{target.name}: no {target.runner[0]}")
            continue
        wrong += differences(target, arguments.seed)
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
