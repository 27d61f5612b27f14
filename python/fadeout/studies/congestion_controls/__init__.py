"""Every congestion control on the same five links, alone and beside CUBIC."""

from pathlib import Path

from fadeout.studies.congestion_controls.study import run
from fadeout.study import Study

STUDY = Study(
    name="congestion-controls",
    summary="What throughput, delay and fairness does each congestion control get on what link?",
    folder=Path(__file__).parent,
    run=run,
)
