"""What TCP slow start gains from shorter LTE intervals and from more requests for the uplink."""

from pathlib import Path

from fadeout.studies.slow_start.study import run
from fadeout.study import Study

STUDY = Study(
    name="slow-start",
    summary="What do shorter LTE intervals and quicker uplink requests give TCP slow start?",
    folder=Path(__file__).parent,
    run=run,
)
