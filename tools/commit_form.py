"""Checks the form of commit messages: `area: imperative`, at most 72 characters, one change."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

FIRST = "695405a7"
"""Last commit from before the rule. Only later ones are checked."""

LONGEST = 72
"""Most characters of a subject, so that `git log --oneline` fits a terminal."""

SUBJECT = re.compile(r"(?P<area>[a-z0-9][a-z0-9_./, -]*): (?P<change>[a-z`0-9].*[^.])")
EXEMPT = re.compile(r"(Merge|Revert|fixup!|squash!|amend!) ?")
NOT_IMPERATIVE = re.compile(
    r"(added|adds|adding|fixed|fixes|fixing|removed|removes|changed|changes|updated|updates|made|makes"
    r"|moved|moves|wrote|writes|what|of|that|whether|the|a|an)\b"
)


def faults(message: str) -> list[str]:
    """Returns the faults of a message, a sentence each."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if EXEMPT.match(subject):
        return []
    found = []
    if len(subject) > LONGEST:
        found.append(f"The subject has {len(subject)} characters. At most {LONGEST} fit.")
    form = SUBJECT.fullmatch(subject)
    if form is None:
        found.append(
            "The subject has not the form `area: imperative`, in lower case, without a full stop."
        )
    elif NOT_IMPERATIVE.match(form["change"]):
        found.append(f"`{form['change'].split()[0]}` is no verb in the imperative.")
    if ";" in subject:
        found.append("The subject names two changes. Make a commit of each.")
    if len(lines) > 1 and lines[1].strip():
        found.append("The second line is not empty.")
    return found


def history() -> list[tuple[str, str]]:
    """Returns the commits since the rule, as pairs of hash and message."""
    has_first = subprocess.run(
        ["git", "cat-file", "-e", f"{FIRST}^{{commit}}"], capture_output=True, check=False
    )
    reach = [f"{FIRST}..HEAD"] if has_first.returncode == 0 else ["-1", "HEAD"]
    log = ["git", "log", "--format=%h%x1f%B%x1e", *reach]
    text = subprocess.run(log, capture_output=True, text=True, check=True).stdout
    entries = [entry.strip("\n") for entry in text.split("\x1e")]
    return [(sha, body) for sha, body in (entry.split("\x1f") for entry in entries if entry)]


def main(arguments: list[str] | None = None) -> int:
    """Returns 1 if a message has a fault, and prints each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "file", nargs="?", type=Path, help="file with a message, as git gives it to a hook"
    )
    parser.add_argument("--history", action="store_true", help="check the commits since the rule")
    chosen = parser.parse_args(arguments)
    if chosen.history:
        messages = history()
    elif chosen.file is not None:
        messages = [("this commit", chosen.file.read_text(encoding="utf-8"))]
    else:
        parser.error("expected a file or --history")
    bad = [(name, message, fault) for name, message in messages for fault in faults(message)]
    for name, message, fault in bad:
        print(
            f"{name}: {message.splitlines()[0] if message.strip() else ''}\n    {fault}",
            file=sys.stderr,
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
