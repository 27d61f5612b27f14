"""How much a TCP download loses when a 38 GHz link is blocked for moments."""

from pathlib import Path

from fadeout.studies.blockage.study import run
from fadeout.study import Study

STUDY = Study(
    name="blockage",
    summary="How much does TCP lose when a vehicle blocks a 38 GHz link every five seconds?",
    folder=Path(__file__).parent,
    run=run,
)
