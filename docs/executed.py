"""Sphinx directives that run the blocks of a page and show their output."""

import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fadeout import _native
from session import KINDS, Block, Session, prepare

LANGUAGES = {".toml": "toml", ".py": "python", ".txt": "text"}


class Executed(SphinxDirective):
    """A block that runs when its page is read."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {
        "exit": directives.nonnegative_int,
        "hide-output": directives.flag,
        "alt": directives.unchanged,
        "width": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Runs the block and returns its nodes."""
        argument = self.arguments[0] if self.arguments else ""
        body = "\n".join(self.content) + "\n"
        block = Block(self.name, argument, body, self.options.get("exit", 0))
        session = self._session()
        try:
            printed = session.run(block) if self.config.executed_runs else ""
        except Exception as error:
            raise self.error(f"{block.kind}: {type(error).__name__}: {error}") from error
        return getattr(self, f"_{block.kind}")(session, block, printed)

    def _session(self) -> Session:
        data = self.env.current_document
        session = data.get("session")
        if session is None:
            folder = Path(tempfile.mkdtemp(prefix="fadeout-docs-"))
            prepare(folder)
            session = data["session"] = Session(folder)
        # A page is stale when the program changed.
        self.env.note_dependency(_native.__file__)
        return session

    def _file(self, _session: Session, block: Block, _printed: str) -> list[nodes.Node]:
        suffix = Path(block.argument).suffix
        shown = self._literal(block.body, LANGUAGES.get(suffix, "text"))
        wrapper = nodes.container("", literal_block=True, classes=["literal-block-wrapper"])
        wrapper += [nodes.caption("", block.argument), shown]
        return [wrapper]

    def _console(self, _session: Session, block: Block, printed: str) -> list[nodes.Node]:
        return [self._literal(block.body, "console"), *self._printed(printed)]

    def _python(self, _session: Session, block: Block, printed: str) -> list[nodes.Node]:
        return [self._literal(block.body, "python"), *self._printed(printed)]

    def _claims(self, _session: Session, _block: Block, _printed: str) -> list[nodes.Node]:
        return []

    def _drawn(self, session: Session, block: Block, _printed: str) -> list[nodes.Node]:
        if not self.config.executed_runs:
            return []
        page = self.env.docname.replace("/", "-")
        name = f"{page}-{block.argument.replace('/', '-')}"
        target = Path(self.env.srcdir) / "generated" / "pages" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(session.folder / block.argument, target)
        caption, _ = self.state.inline_text(" ".join(self.content), self.lineno)
        image = nodes.image(uri=f"/generated/pages/{name}", alt=self.options.get("alt", ""))
        image["width"] = self.options.get("width", "560px")
        figure = nodes.figure("", image)
        if self.content:
            figure += nodes.caption("", "", *caption)
        return [figure]

    def _literal(self, text: str, language: str) -> nodes.literal_block:
        shown = nodes.literal_block(text.rstrip("\n"), text.rstrip("\n"), language=language)
        self.set_source_info(shown)
        return shown

    def _printed(self, text: str) -> list[nodes.Node]:
        if "hide-output" in self.options or not text.strip():
            return []
        lines = [line.rstrip() for line in text.splitlines()]
        box = nodes.container("", classes=["printed"])
        box += self._literal("\n".join(lines), "text")
        return [box]


def tidy(app: Sphinx, _doctree: nodes.document) -> None:
    """Removes the folder of the page that has been read."""
    session = app.env.current_document.get("session")
    if session is not None:
        shutil.rmtree(session.folder, ignore_errors=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the directives, and the setting that says whether they carry their blocks out."""
    app.add_config_value("executed_runs", True, "env")
    for kind in KINDS:
        app.add_directive(kind, Executed)
    app.connect("doctree-read", tidy)
    # Each page changes the working directory of its process.
    return {"parallel_read_safe": True, "parallel_write_safe": True}
