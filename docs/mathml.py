"""Mathematics as MathML, which browsers render themselves, without script and network."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

UPRIGHT = re.compile(r'(?:<mi mathvariant="normal">[^<]</mi>){2,}')
"""Letters of one upright word, which the converter would otherwise set one by one."""


SIZED = re.compile(r"\\[Bb]ig([lr])(?![a-z])")
"""Brackets of a given size. Few browsers draw them well, so they grow with their content."""


def mathml(text: str, display: str) -> str:
    """Returns LaTeX as a MathML element."""
    text = SIZED.sub(lambda size: r"\left" if size[1] == "l" else r"\right", text.strip())
    found = convert(text, display=display)
    return UPRIGHT.sub(lambda word: f"<mi>{re.sub('<[^>]*>', '', word[0])}</mi>", found)


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Writes a formula within a line."""
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Writes a formula on lines of its own, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})</span>')
    # Formulas that a wide space separates can wrap there on narrow screens.
    parts = re.split(r",\s*\\qquad\b", node.astext())
    for count, part in enumerate(parts, 1):
        self.body.append(mathml(part + "," * (count < len(parts)), "block"))
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
