"""Counts the instructions of a scenario by layer, as callgrind measures between two instants.

    tools/layers.py SCENARIO [FROM TO]

FROM and TO are in seconds of simulated time. Building, and the time before FROM, are left out. A
row of the output is a crate. Inlined code counts for the file that it was written in. Code of
libraries counts for the function that it was inlined into. The tool needs valgrind and `cargo build
--release --bin whole_run`. See docs/speed-method.md.
"""

import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from whole_runs import TARGET

PROGRAM = TARGET / "release" / "whole_run"

LAYERS = {
    "core": "events, packets",
    "sim": "world: routes, flows, applications",
    "transport": "TCP, Multipath TCP",
    "link": "links",
    "layer2": "PDCP, RLC",
    "radio": "radio: MAC, HARQ, RRC, link evaluations",
    "phy": "block errors, rates",
    "channel": "fading, shadowing, path loss",
    "mobility": "places, buildings, vehicles",
    "traffic": "applications",
    "record": "tables",
    "libm": "libm",
    "memory": "allocator, copies",
}
Counts = collections.Counter[str]

NAME = re.compile(r"(fl|fi|fe|fn|cfn|cfi|cfl|ob|cob)=\((\d+)\)(?: (.*))?$")
COST = re.compile(r"[+\-*]?\d*(?: [+\-*]?\d+)* (\d+)$")


def count(scenario: Path, end_s: float) -> tuple[Counts, int]:
    """Returns the instructions by layer of a run that ends at this time, and its data packets."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", str(PROGRAM)]
        arguments = ["null", str(scenario), f'duration="{end_s} s"']
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            own = [line for line in done.stderr.splitlines() if not line.startswith("==")]
            sys.exit("\n".join(own))
        with profile.open(encoding="utf-8") as lines:
            return by_layer(lines), json.loads(done.stdout)["data_packets"]


def by_layer(lines: Iterable[str]) -> Counts:
    """Returns the instructions of each layer itself, from a profile in callgrind's format."""
    names: dict[tuple[str, str], str] = {}
    counts = Counts()
    file = function = ""
    is_call = False
    for line in lines:
        if named := NAME.match(line):
            kind, number, text = named.groups()
            # Callgrind numbers files and functions separately.
            space = "file" if kind in {"fl", "fi", "fe", "cfi", "cfl"} else kind[-2:]
            name = names.setdefault((space, number), text or "")
            if kind in {"fl", "fi", "fe"}:
                file = name
            elif kind == "fn":
                function = name
        elif line.startswith("calls="):
            is_call = True
        elif cost := COST.match(line):
            if not is_call:
                counts[layer_of(file, function)] += int(cost[1])
            is_call = False
    return counts


def layer_of(file: str, function: str) -> str:
    """Returns the layer of a line of the profile."""
    # The standard library has a folder with this name, too.
    if (own := re.search(r"crates/(\w+)/src", file)) and own[1] in LAYERS:
        return own[1]
    if "libm" in file or re.match(r"_*(exp|log|sin|cos|pow|atan)", function):
        return "libm"
    if owner := re.search(r"fadeout_(\w+?)::", function):
        return owner[1]
    return "memory" if re.search(r"alloc|free|mem|_int_|tcache", function) else "other"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Instructions of a scenario by layer.")
    parser.add_argument("scenario", type=Path)
    parser.add_argument("begin", type=float, nargs="?", default=1.0, metavar="FROM")
    parser.add_argument("end", type=float, nargs="?", default=2.0, metavar="TO")
    given = parser.parse_args()
    if not given.begin < given.end:
        parser.error(f"expected FROM before TO, found {given.begin:g} and {given.end:g}")
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is not there: cargo build --release --bin whole_run")
    (before, packets_before), (after, packets) = (
        count(given.scenario, end_s) for end_s in (given.begin, given.end)
    )
    after.subtract(before)
    packets -= packets_before
    total = sum(after.values())
    print(f"{packets} data packets, {total / 1e6:.1f} million instructions")
    print("\n| layer | instructions a packet | share |\n|---|---:|---:|")
    for layer, instructions in after.most_common():
        if instructions >= total / 200:
            name = f"`{layer}`: {LAYERS[layer]}" if layer in LAYERS else layer
            share = instructions / total
            print(f"| {name} | {instructions / max(packets, 1):,.0f} | {share:.0%} |")


if __name__ == "__main__":
    main()
