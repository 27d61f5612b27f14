"""Checks that the prose of documentation and comments is plain English.

    python tools/prose.py                 check the tree against tools/prose-baseline.json
    python tools/prose.py FILE ...        print every finding in these files
    python tools/prose.py --counts        print the findings of the tree by file and rule
    python tools/prose.py --accept        record lower counts; no count ever rises
    python tools/prose.py --move OLD NEW ...  give counts that OLD needs no more to its new parts

Covers Markdown, comments and doc comments of Rust and Python, comments of the example scenarios,
and descriptions of JSON schemas. Code, tables, headings and `Standard:` paragraphs are not prose.
Counts of a file that is gone pass to new files, so a renamed file needs no option.
"""

import io
import json
import re
import subprocess
import sys
import textwrap
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "tools" / "prose-baseline.json"
PATTERNS = ("*.md", "*.rs", "*.py", "schemas/*.json", "python/fadeout/scenarios/*.toml")
MOST_WORDS = 25
MOST_JOINED = 15
MOST_COLUMNS = 100

Counts = dict[str, dict[str, int]]

RULES = {
    "opener": "opens with What, Of, By, That, Whether or How: begin with a verb or a noun",
    "pronoun": "a pronoun is the first subject: name the thing",
    "what": "a what-clause: use a noun",
    "of": "an 'of' without its noun, or three in a row: name the thing, or use a verb",
    "semicolon": f"a semicolon in over {MOST_JOINED} words: write two sentences",
    "long": f"over {MOST_WORDS} words: write two sentences",
    "width": f"a comment line over {MOST_COLUMNS} columns: wrap it",
}
VERB = (
    r"(?:is|are|was|were|has|have|had|do|does|did|can|may|must|will|would|should|could|needs?|"
    r"makes?|takes?|gives?|goes|comes?|holds?|means?|says?|ends?|begins?|starts?|stands?|keeps?)\b"
)
OPENER = re.compile(
    r"\W*(?:what|whatever|who|whoever|whose|of(?! course)|by(?! default| hand)|that|whether(?! to)|"
    r"how(?! to))\b",
    re.I,
)
PRONOUN = re.compile(
    r"\W*(?:(?:it|they|he|she|those)\b|the same(?:\W*$|,| (?:of|as|for|in|from|at|with)\b)|"
    rf"(?:this|these|one|both|some|others?|all|none|the (?:ones?|first|second|others?)) {VERB}|"
    r"(?:the )?ones? (?:that|which|who|with|without)\b)",
    re.I,
)
WHAT = re.compile(r"\b(?:what|whatever|whoever)\b", re.I)
OF = re.compile(
    r"\bof(?:[.,;:)]|$)|\bof (?:those|these)\b(?! \w)|\bof those\b|\bone's own\b|"
    r"\bof\b(?: [\w'-]+){1,4} of\b(?: [\w'-]+){1,4} of\b",
    re.I,
)
CITATION = re.compile(r"\((?:RFC|TS|TR|Linux|IEEE|ITU|section|clause|§)[^)]*\)")
# Inline code, formulas, images, targets of links, addresses and entities.
NO_WORDS = re.compile(
    r"(`+)[^`](?:.|\n)*?\1|\$\$?[^$]+\$\$?|!\[[^\]]*\]\([^)]*\)|(?<=\])(?:\([^)]*\)|\[[^\]]*\])|"
    r"https?://\S+|&#?\w+;"
)
# Several names in a row are as easy to read as one.
CODE_LIST = re.compile(r"Code(?:,? (?:and |or )?Code)+")
SENTENCE_END = re.compile(r"""[.!?][)\]"'*_]*\s+(?=\W*(?:[A-Z0-9]|fadeout\b))""")
ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|cf|figs?|eqs?|sec|vs|al|no|vol|pp?|(?-i:[A-Z]))\.\W*$", re.I
)
LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+|    \*{0,2}[\w`, *]+: (?=\w)")
FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
NO_PROSE = re.compile(
    r"\s*(?:#{1,6} |\||:{3,}|-{3,}|={3,}|:[\w-]+:|<|(?:Args|Returns|Raises|Yields|Attributes):\s*$)"
)


class Finding(NamedTuple):
    """A place that breaks a rule."""

    line: int
    rule: str
    text: str


class Line(NamedTuple):
    """A line of a page or of a comment, without the comment's marks."""

    number: int
    text: str


def rust_comments(text: str) -> Iterator[list[Line]]:
    """Yields each comment; neighbouring lines with the same marks are one."""
    block: list[Line] = []
    marks = ""
    for number, line in enumerate(text.splitlines(), 1):
        whole = re.match(r"\s*(//[/!]?)(?: (.*)|$)", line)
        if block and (whole is None or whole[1] != marks):
            yield block
            block = []
        if whole is not None:
            marks = whole[1]
            block.append(Line(number, whole[2] or ""))
        elif trailing := re.search(r"""[;,{(})]\s*// ([^"]*)$""", line):
            yield [Line(number, trailing[1])]
    yield block


def python_comments(text: str) -> Iterator[list[Line]]:
    """Yields each docstring and each comment; neighbouring lines of comments are one."""
    block: list[Line] = []
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        number = token.start[0]
        if token.type == tokenize.COMMENT:
            if block and block[-1].number + 1 != number:
                yield block
                block = []
            block.append(Line(number, token.string.lstrip("#: ")))
        elif token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT):
            quoted = re.sub(r"""^\w*("{3}|'{3}|"|')|("{3}|'{3}|"|')$""", "", token.string)
            first, _, rest = quoted.partition("\n")
            lines = [first, *textwrap.dedent(rest).splitlines()]
            yield [Line(number + i, line) for i, line in enumerate(lines)]
        if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.DEDENT):
            before = token.type
    yield block


def descriptions(text: str) -> Iterator[list[Line]]:
    """Yields each description of a schema once."""
    seen = set()
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*"description": (".*?"),?$', line)
        if match and match[1] not in seen:
            seen.add(match[1])
            yield [Line(number, part) for part in json.loads(match[1]).split("\n")]


def page(text: str) -> Iterator[list[Line]]:
    """Yields the lines of a page."""
    yield [Line(number, line) for number, line in enumerate(text.splitlines(), 1)]


def hash_comments(text: str) -> Iterator[list[Line]]:
    """Yields each comment of a scenario; neighbouring lines are one."""
    block: list[Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        whole = re.match(r"#(?: (.*)|$)", line)
        if whole is not None:
            block.append(Line(number, whole[1] or ""))
            continue
        yield block
        block = []
        if trailing := re.search(r"""\s# ([^"']*)$""", line):
            yield [Line(number, trailing[1])]
    yield block


READERS = {
    ".md": page,
    ".toml": hash_comments,
    ".rs": rust_comments,
    ".py": python_comments,
    ".json": descriptions,
}


def paragraphs(lines: list[Line]) -> Iterator[list[Line]]:
    """Yields the paragraphs and list items of Markdown, without code, tables and headings."""
    block: list[Line] = []
    is_code = is_list = False
    for line in lines:
        if FENCE.match(line.text):
            is_code = not is_code
        item = LIST_ITEM.match(line.text)
        ends = is_code or FENCE.match(line.text) or NO_PROSE.match(line.text) or item
        if block and (ends or not line.text.strip()):
            yield block
            block = []
        if item and not is_code:
            is_list = True
            block = [Line(line.number, line.text[item.end() :])]
        elif not ends and line.text.strip():
            is_indented = line.text.startswith("    ")
            is_list = is_list and line.text.startswith(" ")
            if block or is_list or not is_indented:
                block.append(line)
    yield block


def sentences(block: list[Line]) -> Iterator[Line]:
    """Yields the sentences of a paragraph, each with the number of its first line."""
    text = "\n".join(line.text for line in block)
    text = NO_WORDS.sub(lambda match: "Code" + "\n" * match[0].count("\n"), text)
    ends = [
        m.end() for m in SENTENCE_END.finditer(text) if not ABBREVIATION.search(text[: m.end()])
    ]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        yield Line(block[text.count("\n", 0, start)].number, " ".join(text[start:end].split()))


def broken_rules(sentence: str, is_first: bool) -> Iterator[str]:
    """Yields the rules that a sentence breaks."""
    is_question = sentence.rstrip(")*_\"'").endswith("?")
    if OPENER.match(sentence) and not is_question:
        yield "opener"
    elif WHAT.search(sentence) and not is_question:
        yield "what"
    if is_first and PRONOUN.match(sentence):
        yield "pronoun"
    if OF.search(sentence):
        yield "of"
    words = CODE_LIST.sub("Code", CITATION.sub("", sentence)).split()
    length = sum(any(c.isalnum() for c in word) for word in words)
    if ";" in sentence and length > MOST_JOINED:
        yield "semicolon"
    if length > MOST_WORDS:
        yield "long"


def findings(text: str, suffix: str) -> Iterator[Finding]:
    """Yields every finding in the text of a file with this suffix."""
    for comment in READERS[suffix](text):
        for block in paragraphs(comment):
            if block and not block[0].text.startswith(("Standard: ", "Try: ", "noqa: ")):
                for index, (number, sentence) in enumerate(sentences(block)):
                    for rule in broken_rules(sentence, is_first=index == 0):
                        yield Finding(number, rule, sentence)
    if suffix == ".rs":
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > MOST_COLUMNS and line.lstrip().startswith("//"):
                yield Finding(number, "width", line.strip())


def tree() -> dict[str, list[Finding]]:
    """Returns the findings of each file of the tree."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *PATTERNS]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = {name: ROOT / name for name in sorted(set(listed.splitlines()))}
    return {
        name: sorted(findings(path.read_text("utf-8"), path.suffix))
        for name, path in paths.items()
        if path.exists()
    }


def counts(found: dict[str, list[Finding]]) -> Counts:
    """Returns the number of findings by file and rule, without zeros."""
    return {
        name: dict(sorted(Counter(finding.rule for finding in list_).items()))
        for name, list_ in sorted(found.items())
        if list_
    }


def show(name: str, list_: list[Finding]) -> None:
    """Prints findings, each with its place."""
    for line, rule, text in list_:
        print(f"{name}:{line}: {rule}: {textwrap.shorten(text, 100)}")


def read_baseline() -> Counts:
    """Returns the recorded counts."""
    return json.loads(BASELINE.read_text("utf-8"))


def write_baseline(recorded: Counts) -> None:
    """Writes counts, one line a file, sorted."""
    lines = [
        f"  {json.dumps(name)}: {json.dumps(dict(sorted(rules.items())))}"
        for name, rules in sorted(recorded.items())
        if rules
    ]
    BASELINE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def allowed(recorded: Counts, now: Counts, files: Collection[str]) -> Counts:
    """Returns the record after the counts of files that are gone went to new files in need."""
    gone = [name for name in recorded if name not in files]
    spare = sum((Counter(recorded[name]) for name in gone), Counter())
    result = {name: rules for name, rules in recorded.items() if name in files}
    for name in sorted(now.keys() - recorded.keys()):
        taken = spare & Counter(now[name])
        spare -= taken
        result[name] = dict(taken)
    return result


def lowered(recorded: Counts, now: Counts) -> Counts:
    """Returns the smaller of both counts for each file and rule, without zeros."""
    least = {name: Counter(rules) & Counter(now.get(name, {})) for name, rules in recorded.items()}
    return {name: dict(sorted(rules.items())) for name, rules in sorted(least.items()) if rules}


def check(found: dict[str, list[Finding]]) -> int:
    """Compares the tree with the baseline and returns the exit status."""
    now = counts(found)
    recorded = read_baseline()
    limits = allowed(recorded, now, found)
    raised = 0
    for name, rules in now.items():
        for rule, number in rules.items():
            limit = limits.get(name, {}).get(rule, 0)
            if number > limit:
                raised += 1
                show(name, [finding for finding in found[name] if finding.rule == rule])
                print(f"{name}: {number} of {rule}, the baseline has {limit} ({RULES[rule]})")
    if raised:
        return 1
    if lowered(recorded, now) != recorded:
        print("prose: fewer findings than recorded: run `python tools/prose.py --accept`")
    return 0


def moved(recorded: Counts, now: Counts, old: str, new: list[str]) -> Counts:
    """Returns the record after the counts that `old` no longer needs go to files that need them."""
    result = {name: Counter(rules) for name, rules in recorded.items()}
    kept = Counter(now.get(old, {})) & result[old]
    spare = result[old] - kept
    result[old] = kept
    for name in new:
        taken = spare & (Counter(now.get(name, {})) - result.get(name, Counter()))
        result[name] = result.get(name, Counter()) + taken
        spare -= taken
    return {name: dict(rules) for name, rules in result.items()}


def main(arguments: list[str]) -> int:
    """Runs the command and returns its exit status."""
    match arguments:
        case []:
            return check(tree())
        case ["--counts"]:
            total: Counter[str] = Counter()
            for name, rules in counts(tree()).items():
                total.update(rules)
                print(f"{sum(rules.values()):5} {name} {rules}")
            print(f"{total.total():5} in all {dict(total)}")
        case ["--accept"]:
            found = tree()
            now = counts(found)
            record = allowed(read_baseline(), now, found) if BASELINE.exists() else now
            write_baseline(lowered(record, now))
        case ["--move", old, *new] if new:
            write_baseline(moved(read_baseline(), counts(tree()), old, new))
        case [*files] if not any(file.startswith("-") for file in files):
            for file in files:
                show(file, sorted(findings(Path(file).read_text("utf-8"), Path(file).suffix)))
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
