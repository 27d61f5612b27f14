"""The numbers that the paper prints."""

from pathlib import Path
from typing import Any

from fadeout.study import claims_of, published

FOLDER = Path(__file__).parent

PUBLISHED = published(FOLDER)

CLAIMS = claims_of(PUBLISHED)

CASES: list[dict[str, Any]] = [case for case in PUBLISHED["case"] if case["block_s"] > 0]
"""The rows of the paper's table with a blockage, from the shortest on."""

LENGTHS = tuple(f"{case['block_s']:g} s" for case in CASES)

PERIOD_S: float = PUBLISHED["setup"]["stated"]["blockage_period_s"]

UNBLOCKED_MBPS: float = PUBLISHED["case"][0]["throughput_mbps"]
