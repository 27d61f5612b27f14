"""What retransmissions on a 28 GHz link do for TCP."""

from pathlib import Path

from fadeout.studies.link_retransmission.study import run
from fadeout.study import Study

STUDY = Study(
    name="link-retransmission",
    summary="What do HARQ and RLC retransmissions on a 28 GHz link do for TCP, by distance?",
    folder=Path(__file__).parent,
    run=run,
)
