"""Errors and their remedies."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """An error that users meet."""

    name: str
    pattern: str
    """Regular expression that the error's message matches, in lower case."""
    meaning: str
    remedy: str


FAULTS = [
    Fault("ScenarioError", r"^scenarioerror$|^(exit )?(status|code) 2$",
          "A mistake in a scenario, an override or an argument. `.errors` has each mistake with "
          "file, line, column, the expected values and the nearest name.",
          "`fadeout check FILE` finds mistakes without a run."),
    Fault("ResultError", r"^resulterror$|^(exit )?(status|code) 1$",
          "Results cannot be written or read, or a table was not recorded. `.path` is the "
              "file or folder.",
          "Give another --out, or --force to replace a run. To record a table, name it under "
          "[probe]."),
    Fault("CongestionControlError", r"^congestioncontrolerror$",
          "A method of your own congestion control raised an exception, which is `__cause__`. "
          "`.results` has the results until then.",
          "The message names the method and the simulated time."),
    Fault("HandoverPolicyError", r"^handoverpolicyerror$",
          "A method of your own handover policy raised an exception, which is `__cause__`. "
          "`.results` has the results until then.",
          "The message names the method and the simulated time."),
    Fault("EngineBug", r"^enginebug$|^(exit )?(status|code) 70$|bug in fadeout",
          "The engine broke one of its own invariants. This is not a mistake of your scenario.",
          "Please report it with the scenario and the command that the message names."),
    Fault("Interrupted", r"^interrupted$|^(exit )?(status|code) (129|130|143)$|stopped at",
          "A run was stopped by Ctrl-C, SIGTERM or SIGHUP. The results until then are in the "
          "run's folder. In Python the exception's `.results` has them.",
          "`fadeout.Results.open` reads it; `is_complete` is False."),
    Fault("without a unit", r"without a unit|unitless",
          "A quantity is a string of a number and a unit.",
          'Write rate = "20 Mbit/s", delay = "10 ms", limit = "100 packets".'),
    Fault("unknown unit", r"unknown unit|which is a",
          "The unit does not exist, or measures another quantity.",
          "The message lists the valid units. Rates are in bit/s, kbit/s, Mbit/s, and sizes in B, "
          "kB, KiB."),
    Fault("unknown key", r"unknown key|no such key|unknown table",
          "The scenario has a key that does not belong into this table.",
          "`fadeout explain TABLE` lists its keys, and `fadeout explain KEY` shows the table "
              "of a key."),
    Fault("exists already", r"exists( already)?[;,]|exists already|--force replaces",
          "The folder for the results is not empty.",
          "Give another --out. --force replaces a run, but no other folder."),
    Fault("not record", r"did not record|not recorded",
          "The run did not record that table.",
          "Name it under [probe], such as transport-blocks = true, and run again. `fadeout "
          "explain probe` lists all tables."),
    Fault("no cell", r"but no cell|a UE without a cell",
          "A UE needs a cell that serves it.",
          "Add a [cell.NAME] with radio, carrier and channel. `fadeout new NAME --from "
          "lte-download` writes a scenario with a cell."),
    Fault("utf-8", r"utf-?8",
          "A scenario is text in UTF-8. Other encodings, and files that are not text, are "
              "refused.",
          "Save the file as UTF-8. `iconv -f latin1 -t utf-8 FILE` converts it."),
    Fault("no route", r"no (way|route)|cannot reach",
          "No chain of links, bearers and cells connects the ends of a flow.",
          "Links connect the nodes of their `from` and `to`. The names must agree letter by "
              "letter."),
    Fault("left over", r"left over|partial",
          "A run writes into a hidden folder and renames it at its end. A killed run leaves this "
          "folder.",
          "Its tables cannot be read. Delete it if no run is in progress."),
]  # fmt: skip
"""Known errors, in the order in which they are compared with a text."""


def faults(text: str) -> list[Fault]:
    """Returns the errors that `text`, a name or a message, may mean."""
    lower = text.strip().lower().removeprefix("error:").strip()
    return [
        fault
        for fault in FAULTS
        if lower == fault.name.lower() or re.search(fault.pattern, lower) is not None
    ]
