from pathlib import Path

from fadeout.study import Study

STUDY = Study("blockage", "x", Path(__file__).parent, lambda b, o: None)
