"""Writes docs/standards.md, which lists the items that implement each clause of a standard.

The clause that an item implements is the last paragraph of its doc comment, before any heading:

    /// Standard: RFC 9438 §4.2, §4.3; TS 38.322 §5.2.3, Table 7.1.

Within a macro, whose doc comments are texts for users, clauses may be in brackets, and are listed
too.

Without arguments the page is written. `--fix` first moves clauses from the text into that form.
Such clauses are in brackets before a stop, before a colon at the beginning, or after one at the
end. `--check` changes nothing, and fails if the page or a clause would change.
"""

import argparse
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "standards.md"
NOTES = ROOT / "docs" / "standards.toml"
SOURCE = "https://github.com/fadeout-sim/fadeout/blob/main"
WIDTH = 100

DOCUMENT = r"(?:RFC \d+|T[SR] \d\d\.\d+(?:-\d+)?|ITU-R [A-Z]+\.\d+(?:-\d+)?|VIRTIO \d\.\d)"
FAMILIES = ("RFC", "TS", "TR", "ITU-R", "VIRTIO")
NUMBER = r"(?:[A-Z](?![A-Za-z])|\d+[a-z]?)(?:[.-]\d+[a-zA-Z]?)*"
NUMBERS = rf"{NUMBER}(?:(?:, and |, | and | to | or |-){NUMBER})*"
KIND = (
    r"(?:[Cc]lauses?|[Ss]ections?|[Tt]ables?|[Aa]ppendix|[Aa]nnex|[Ee]quations?|[Ff]igures?|rules?"
    r"|steps?|§)"
)
PLACE = rf"(?:{KIND} ?{NUMBERS}|\d+(?:\.\d+)+)"
CITATION = rf"{DOCUMENT}(?:,? {PLACE}(?:(?:, | and | ){PLACE})*)?"
CITATIONS = re.compile(rf"{CITATION}(?:(?:, and |; |, | and ){CITATION})*")
IN_BRACKETS = re.compile(r" \(([^()]*)\)(?=[.,:;]|$| and )")
NAMED = re.compile(rf"((?:(?!{DOCUMENT})[^;])+?)[,;] ({CITATIONS.pattern})")
AFTER_COLON = re.compile(rf": ({CITATIONS.pattern})\.$")
ALL_BUT = re.compile(r"^All\b(?:[^.;]|\.(?=\S))*")
BEFORE_COLON = re.compile(rf"({CITATIONS.pattern}): (?=\S)")

STANDARD = "Standard: "
STATED_PLACE = re.compile(rf"(?:§|(?:Table|Figure|equation|rule|step) ){NUMBER}(?: to {NUMBER})?")
ITEM = re.compile(
    r"\s*(?:pub(?:\([^)]*\))? )?(?:(?:async|unsafe|const|default) )*"
    r"(?:(?:fn|struct|enum|trait|union|type|static|const|mod|macro_rules!) (?:mut )?(?P<name>\w+)"
    r"|impl\b.*)"
)
OWNER = re.compile(r"(?:pub(?:\([^)]*\))? )?(?:impl|trait)\b")
MACRO = re.compile(r"\s*(?:\w+::)*\w+!\s*[({]\s*$")


@dataclass(frozen=True)
class Clause:
    """A document and a place in it. The place is empty for the whole document."""

    document: str
    place: str


@dataclass
class Comment:
    """A doc comment: its lines in the file, and the item that it documents."""

    first: int
    """Index of the first line."""
    lines: list[str]
    """Texts of the lines without the marker."""
    indent: str
    marker: str
    item: str
    """Path of the item, such as `CoDel::on_dequeue`. Empty for a module's own comment."""
    is_in_macro: bool = False


def comments(text: list[str]) -> Iterator[Comment]:
    """Yields the doc comments of items and modules, except those of tests."""
    at = 0
    closing = None
    is_in_macro = False
    owner = ""
    while at < len(text):
        line = text[at]
        if closing is not None and line.startswith(closing):
            closing, is_in_macro, owner = None, False, ""
            at += 1
            continue
        if closing is not None and not is_in_macro:
            at += 1
            continue
        if line.startswith("#[cfg(test)]") and at + 1 < len(text) and text[at + 1].endswith("{"):
            closing = "}"
        elif is_in_macro:
            # Links go to the type of a macro, as its fields cannot be linked.
            named = re.match(ITEM, line)
            owner = (named["name"] or owner) if named is not None else owner
        elif MACRO.fullmatch(line) and not line.lstrip().startswith("macro_rules!"):
            closing = line[: len(line) - len(line.lstrip())] + ("}" if "{" in line else ")")
            is_in_macro, owner = True, ""
        elif OWNER.match(line):
            owner = owner_of(line)
        elif line.startswith("}"):
            owner = ""
        found = re.match(r"(\s*)(///|//!)(?: |$)", line)
        if (closing is not None and not is_in_macro) or found is None:
            at += 1
            continue
        indent, marker = found.groups()
        first = at
        while at < len(text) and re.match(rf"{indent}{marker}(?: |$)", text[at]):
            at += 1
        lines = [text[n][len(indent) + 4 :] for n in range(first, at)]
        if marker == "//!":
            yield Comment(first, lines, indent, marker, "")
            continue
        item = re.match(ITEM, after_attributes(text, at))
        if is_in_macro:
            name = (item["name"] if item is not None else None) or owner
            yield Comment(first, lines, indent, marker, name, is_in_macro=True)
        elif item is not None:
            name = item["name"] or owner_of(text[at])
            path = f"{owner}::{name}" if owner and indent and item["name"] else name
            yield Comment(first, lines, indent, marker, path)


def after_attributes(text: list[str], at: int) -> str:
    """Returns the first line from `at` on that is not an attribute."""
    while at < len(text) and text[at].lstrip().startswith("#["):
        depth = 0
        while at < len(text):
            depth += text[at].count("[") - text[at].count("]")
            at += 1
            if depth <= 0:
                break
    return text[at] if at < len(text) else ""


def owner_of(line: str) -> str:
    """Returns the name of the type that an `impl` or `trait` belongs to."""
    if (trait := re.search(r"\btrait (\w+)", line)) is not None:
        return trait[1]
    rest = re.sub(r"^.*?\bimpl\b\s*", "", line)
    depth = 0
    for position, letter in enumerate(rest):
        depth += (letter == "<") - (letter == ">" and rest[position - 1] != "-")
        if position == 0 and letter != "<":
            break
        if depth == 0:
            rest = rest[position + 1 :].lstrip()
            break
    subject = rest.split(" for ")[-1]
    name = re.match(r"(?:&|dyn |mut |\w+::)*(\w+)", subject)
    return name[1] if name else ""


def clauses_of(citations: str) -> list[Clause]:
    """Returns the clauses in a citation such as `RFC 8033 sections 4.1 and 5.4`.

    In `TS 36.331 and TS 38.331 clause 6.3.2` the clause belongs to both documents.
    """
    found: list[Clause] = []
    for citation in reversed(list(re.finditer(CITATION, citations))):
        document = re.match(DOCUMENT, citation[0])
        assert document is not None
        places = re.findall(PLACE, citation[0][document.end() :])
        written = [one for place in places for one in written_places(place)]
        if not written and citations[citation.end() :].startswith(" and "):
            following = found[0].document
            written = [clause.place for clause in found if clause.document == following]
        found = [Clause(document[0], place) for place in written or [""]] + found
    return found


def written_places(place: str) -> list[str]:
    """Returns `sections 4.1 and 5.4` as `§4.1` and `§5.4`, and `Tables 1 and 2` as two tables."""
    kind = re.match(KIND, place)
    rest = place[kind.end() :].strip() if kind else place
    word = kind[0].lower().rstrip("s") if kind else "section"
    if word in ("clause", "section", "appendix", "annex", "§"):
        prefix = "§"
    else:
        prefix = {"table": "Table ", "figure": "Figure "}.get(word, f"{word} ")
    numbers = re.split(r", and |, | and | or ", rest)
    return [prefix + number for number in numbers]


def stated(lines: list[str]) -> tuple[list[Clause], range]:
    """Returns the clauses of a comment's `Standard:` paragraph, and the paragraph's lines."""
    starts = [n for n, line in enumerate(lines) if line.startswith(STANDARD)]
    if not starts:
        return [], range(0)
    end = start = starts[0]
    while end < len(lines) and lines[end]:
        end += 1
    text = " ".join(lines[start:end]).removeprefix(STANDARD)
    found = []
    for part in text.removesuffix(".").split("; "):
        document = re.match(DOCUMENT, part)
        if document is None or not text.endswith("."):
            raise ValueError(f"expected `{STANDARD}RFC 9438 §4.2; TS 38.322 §5.2.`, found {text!r}")
        places = [place for place in part[document.end() :].strip().split(", ") if place]
        for place in places:
            if not STATED_PLACE.fullmatch(place):
                raise ValueError(
                    f"expected `§5.2`, `Table 1`, `Figure 1`, `equation 1`, `rule 1` or `step 1`, "
                    f"parted by `, `, and `; ` before another document, found {place!r}"
                )
        found += [Clause(document[0], place) for place in places or [""]]
    return found, range(start, end)


def bracketed(lines: list[str]) -> list[Clause]:
    """Returns the clauses in brackets in a comment's text."""
    cited = []
    for inner in re.findall(r"\(([^()]*)\)", " ".join(lines)):
        named = NAMED.fullmatch(inner)
        citations = named[2] if named else inner
        if CITATIONS.fullmatch(citations):
            cited += [clause for clause in clauses_of(citations) if clause.place]
    return cited


def written(clauses: list[Clause]) -> str:
    """Returns the `Standard:` line of `clauses`."""
    places: dict[str, list[str]] = {}
    for clause in clauses:
        of_document = places.setdefault(clause.document, [])
        if clause.place and clause.place not in of_document:
            of_document.append(clause.place)
    parts = [" ".join((document, ", ".join(of))).strip() for document, of in places.items()]
    return f"{STANDARD}{'; '.join(parts)}."


def fixed(comment: Comment) -> list[str]:
    """Returns the lines of a comment with its clauses in the fixed form."""
    width = WIDTH - len(comment.indent) - len(comment.marker) - 1
    clauses, place = stated(comment.lines)
    lines = [line for n, line in enumerate(comment.lines) if n not in place]
    out: list[str] = []
    moved: list[Clause] = []
    for paragraph in paragraphs(lines):
        text, cited = without_citations(paragraph)
        moved += cited
        out += wrap(text, width) if cited else paragraph
    if not moved:
        return comment.lines
    while out and not out[-1]:
        out.pop()
    line = wrap(written(clauses + moved), width)
    heading = next((n for n, one in enumerate(out) if re.match(r"#+ |```", one)), len(out))
    before, after = out[:heading], out[heading:]
    while before and not before[-1]:
        before.pop()
    return [*before, "", *line, *([""] if after else []), *after]


def paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """Yields the lines of each paragraph. An empty line and a fenced block are paragraphs too."""
    current: list[str] = []
    is_fenced = False
    for line in lines:
        is_fence = line.startswith("```")
        if is_fenced or is_fence:
            yield from filter(None, [current])
            current = []
            yield [line]
            is_fenced ^= is_fence
        elif line:
            current.append(line)
        else:
            yield from filter(None, [current])
            current = []
            yield [""]
    yield from filter(None, [current])


def without_citations(paragraph: list[str]) -> tuple[str, list[Clause]]:
    """Returns a paragraph's text without its citations, and their clauses.

    Citations are in brackets, before a colon, or after the last one.
    """
    if any(re.match(r"\s|[-*#|>]|\d+\. |\[[^\]]*\]:|```", line) for line in paragraph):
        return "", []
    text = " ".join(paragraph)
    cited: list[Clause] = []

    def taken(found: re.Match[str]) -> str:
        named = NAMED.fullmatch(found[1])
        citations = named[2] if named else found[1]
        if not CITATIONS.fullmatch(citations):
            return found[0]
        cited.extend(clauses_of(citations))
        return f" ({named[1]})" if named else ""

    if (before := BEFORE_COLON.match(text)) is not None:
        cited += clauses_of(before[1])
        text = text[before.end() :]
        text = text[0].upper() + text[1:]
    text = IN_BRACKETS.sub(taken, text)
    if (after := AFTER_COLON.search(text)) is not None:
        cited += clauses_of(after[1])
        text = f"{text[: after.start()]}."
    return text, cited


def wrap(text: str, width: int) -> list[str]:
    """Returns the text in lines, without breaking inline code."""
    code = re.compile(r"`[^`]*`")
    whole = code.sub(lambda found: found[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def sources() -> list[Path]:
    """Returns the files whose comments are read."""
    return sorted((ROOT / "crates").glob("*/src/**/*.rs"))


def fix() -> list[Path]:
    """Puts clauses into the fixed form. Returns the changed files."""
    changed = []
    for path in sources():
        text = path.read_text(encoding="utf-8")
        new = fixed_text(text)
        if new != text:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    return changed


def fixed_text(text: str) -> str:
    """Returns a file with its clauses in the fixed form."""
    lines = text.split("\n")
    for comment in reversed([one for one in comments(lines) if not one.is_in_macro]):
        marker = comment.indent + comment.marker
        new = [f"{marker} {line}".rstrip() for line in fixed(comment)]
        lines[comment.first : comment.first + len(comment.lines)] = new
    return "\n".join(lines)


def module(path: Path) -> str:
    """Returns `radio::rlc::am` for `crates/radio/src/rlc/am/mod.rs`."""
    crate, _, *rest = path.relative_to(ROOT / "crates").with_suffix("").parts
    return "::".join([crate, *(part for part in rest if part not in ("mod", "lib"))])


def traced() -> dict[str, dict[str, list[str]]]:
    """Returns links to the items by document and place."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sources():
        for comment in comments(path.read_text(encoding="utf-8").split("\n")):
            try:
                clauses, _ = stated(comment.lines)
            except ValueError as error:
                raise SystemExit(f"{path.relative_to(ROOT)}:{comment.first + 1}: {error}") from None
            if comment.is_in_macro:
                clauses = clauses + bracketed(comment.lines)
            name = "::".join(filter(None, (module(path), comment.item)))
            link = f"[`{name}`]({SOURCE}/{path.relative_to(ROOT).as_posix()})"
            for clause in clauses:
                places = found.setdefault(clause.document, {})
                links = places.setdefault(clause.place, [])
                if link not in links:
                    links.append(link)
    return found


def named_documents() -> dict[str, str]:
    """Returns the documents that the source text names, each with one place. Tests are left out."""
    found: dict[str, str] = {}
    for path in sources():
        if "tests" in path.relative_to(ROOT).with_suffix("").parts:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")):
            if line.startswith("#[cfg(test)]"):
                break
            for document in re.findall(rf"\b(?<!UMTS ){DOCUMENT}", line):
                found.setdefault(document, f"{path.relative_to(ROOT)}:{number + 1}")
    return found


def left_out_and_listed(
    found: dict[str, dict[str, list[str]]], notes: dict[str, dict[str, str | bool]]
) -> Iterator[str]:
    """Yields clauses that a note calls left out, although the page lists them.

    Clauses after `All but …` are not left out.
    """
    for document, note in notes.items():
        for place in re.findall(PLACE, ALL_BUT.sub("", str(note.get("left-out", "")))):
            for one in written_places(place):
                if one in found.get(document, {}):
                    yield f"{document} {one}"


def natural(text: str) -> list[tuple[int, str]]:
    """Returns a sort key that orders numbers by their size."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]


def by_family(document: str) -> tuple[int, list[tuple[int, str]]]:
    """Returns a sort key that orders documents as on the page."""
    family = next(n for n, kind in enumerate(FAMILIES) if document.startswith(kind))
    return family, natural(document)


def page(found: dict[str, dict[str, list[str]]], notes: dict[str, dict[str, str | bool]]) -> str:
    """Returns the page of all documents."""
    parts = [
        "# Standards",
        "This page lists the implemented clauses of each standard, with their place in the source. "
        "`tools/standards.py` makes it from the lines `Standard:` in doc comments. The parts that "
        "are left out, with reasons, are from `docs/standards.toml`, which is written by hand. A "
        "clause that is not listed is not implemented as such.",
    ]
    for kind in FAMILIES:
        documents = sorted((d for d in found if d.startswith(kind)), key=natural)
        if documents:
            parts.append(f"## {kind}")
        for document in documents:
            note = notes[document]
            parts.append(f"### {document}: {note['title']}")
            parts.append(f"Left out: {note['left-out']}")
            if note.get("from-memory"):
                parts.append("This note was not checked against the document.")
            rows = ["| clause | where |", "| --- | --- |"]
            for place, links in sorted(found[document].items(), key=lambda row: natural(row[0])):
                rows.append(f"| {place or 'the whole'} | {', '.join(links)} |")
            parts.append("\n".join(rows))
    cited = sorted((d for d in notes if d not in found), key=by_family)
    parts.append("## Cited only")
    parts.append(
        "The source names these documents for a value, a word or their history. No function "
        "implements a clause from them."
    )
    rows = ["| document | use |", "| --- | --- |"]
    rows += [f"| {one}: {notes[one]['title']} | {notes[one]['cited']} |" for one in cited]
    parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def wrong_notes(
    found: dict[str, dict[str, list[str]]], notes: dict[str, dict[str, str | bool]]
) -> str | None:
    """Yields the mistakes in docs/standards.toml."""
    named = named_documents()
    if missing := sorted((set(found) | set(named)) - set(notes), key=natural):
        places = [f"{one} ({named[one]})" if one in named else one for one in missing]
        return f"docs/standards.toml has nothing on {', '.join(places)}"
    if unused := sorted(set(notes) - set(found) - set(named)):
        return f"docs/standards.toml is about what no source names: {', '.join(unused)}"
    for document, note in notes.items():
        expected = "left-out" if document in found else "cited"
        if expected not in note:
            return f"docs/standards.toml: {document} has no `{expected}`"
    if listed := list(left_out_and_listed(found, notes)):
        return f"docs/standards.toml leaves out what a doc comment has: {', '.join(listed)}"
    return None


def main() -> int:
    """Writes or checks the page."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--fix", action="store_true", help="put clauses into the fixed form first")
    mode.add_argument("--check", action="store_true", help="change nothing; fail where it would")
    arguments = parser.parse_args()
    if arguments.fix:
        for path in fix():
            print(f"fixed {path.relative_to(ROOT)}")
    found = traced()
    notes = tomllib.loads(NOTES.read_text(encoding="utf-8"))
    if said := wrong_notes(found, notes):
        sys.exit(said)
    text = page(found, notes)
    if not arguments.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    problems = []
    for path in sources():
        source = path.read_text(encoding="utf-8")
        if fixed_text(source) != source:
            problems.append(f"{path.relative_to(ROOT)}: clauses in running text")
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        problems.append("docs/standards.md is not current")
    if problems:
        print("\n".join(problems), "run: python tools/standards.py --fix", sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
