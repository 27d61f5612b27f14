"""What a second path adds to a 28 GHz one."""

from pathlib import Path

from fadeout.studies.multipath.study import run
from fadeout.study import Study

STUDY = Study(
    name="multipath",
    summary="What does a second path over LTE or 73 GHz add to TCP over 28 GHz, by distance?",
    folder=Path(__file__).parent,
    run=run,
)
