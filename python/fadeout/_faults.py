"""Errors and what to do about them."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """An error that users meet."""

    name: str
    pattern: str
    """A regular expression that its message matches, in lower case."""
    meaning: str
    remedy: str


FAULTS = [
    Fault("ScenarioError", r"^scenarioerror$|^(exit )?(status|code) 2$",
          "A mistake in a scenario, an override or an argument. `.errors` has each mistake with "
          "file, line, column, what was expected and what was probably meant.",
          "`fadeout check FILE` finds them without running anything."),
    Fault("ResultError", r"^resulterror$|^(exit )?(status|code) 1$",
          "Results cannot be written or read, or were not recorded. `.path` is the file or folder.",
          "Give another --out, or --force to replace a run; record a table by naming it under "
          "[probe]."),
    Fault("CongestionControlError", r"^congestioncontrolerror$",
          "A method of your own congestion control raised. `__cause__` is its exception, "
          "`.results` what was recorded until then.",
          "The message names the method and the simulated time."),
    Fault("HandoverPolicyError", r"^handoverpolicyerror$",
          "A method of your own policy of handover raised. `__cause__` is its exception, "
          "`.results` what was recorded until then.",
          "The message names the method and the simulated time."),
    Fault("EngineBug", r"^enginebug$|^(exit )?(status|code) 70$|bug in fadeout",
          "The engine broke one of its own invariants. It is not your scenario.",
          "Please report it with the scenario and the command that the message names."),
    Fault("Interrupted", r"^interrupted$|^(exit )?(status|code) (129|130|143)$|stopped at",
          "A run was stopped by Ctrl-C, SIGTERM or SIGHUP. What was recorded until then is kept: "
          "in the run's folder, and in Python in the exception's `.results`.",
          "`fadeout.Results.open` reads it; `is_complete` is False."),
    Fault("without a unit", r"without a unit|unitless",
          "Quantities are strings of a number and a unit.",
          'Write rate = "20 Mbit/s", delay = "10 ms", limit = "100 packets".'),
    Fault("unknown unit", r"unknown unit|which is a",
          "The unit does not exist, or measures something else.",
          "The message lists the units that fit. Rates are in bit/s, kbit/s, Mbit/s; sizes in "
          "B, kB, KiB."),
    Fault("unknown key", r"unknown key|no such key|unknown table",
          "The scenario has a key that this table does not take.",
          "`fadeout explain TABLE` lists its keys; `fadeout explain KEY` says where one belongs."),
    Fault("exists already", r"exists( already)?[;,]|exists already|--force replaces",
          "The folder for the results holds something.",
          "Give another --out; --force replaces a run, and never anything that is not one."),
    Fault("not record", r"did not record|not recorded",
          "The run did not record that table.",
          "Name it under [probe], such as transport-blocks = true, and run again; `fadeout explain "
          "probe` lists what can be recorded."),
    Fault("no cell", r"but no cell",
          "A UE needs a cell that serves it.",
          'Add a [cell.NAME] with radio, carrier and channel; `fadeout new NAME --from '
          "lte-download` writes a scenario that has one."),
    Fault("utf-8", r"utf-?8",
          "A scenario is text in UTF-8. Another encoding, or a file that is no text, is refused.",
          "Save it as UTF-8; `iconv -f latin1 -t utf-8 FILE` converts."),
    Fault("no route", r"no (way|route)|cannot reach",
          "No chain of links, bearers and cells leads from one end of a flow to the other.",
          "Links join nodes by `from` and `to`; names must agree letter by letter."),
    Fault("left over", r"left over|partial",
          "A run writes into a hidden folder and renames it at its end. A process that was killed "
          "leaves it behind.",
          "Its tables cannot be read. Delete it when no run is going on."),
]  # fmt: skip
"""In the order in which they are looked through."""


def faults(text: str) -> list[Fault]:
    """The errors that `text`, a name or a message, may be about."""
    lower = text.strip().lower().removeprefix("error:").strip()
    return [
        fault
        for fault in FAULTS
        if lower == fault.name.lower() or re.search(fault.pattern, lower) is not None
    ]
