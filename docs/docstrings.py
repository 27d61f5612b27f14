"""Extension for docstrings of this project, in which an indented block is an example."""

from sphinx.application import Sphinx
from sphinx.ext.napoleon import GoogleDocstring


def mark_examples(
    _app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]
) -> None:
    """Marks indented blocks after an empty line as literal."""
    marked: list[str] = []
    text = "."
    for line in lines:
        is_example = line.startswith("    ") and not text.startswith(" ")
        if is_example and marked and not marked[-1] and not text.endswith("::"):
            marked += ["::", ""]
        if line.strip():
            text = line
        marked.append(line)
    lines[:] = marked


def setup(app: Sphinx) -> dict[str, bool]:
    """Reads docstrings before napoleon does."""
    app.connect("autodoc-process-docstring", mark_examples, priority=400)
    # Types of attributes are in the code, so text before a colon in their docstrings is plain text.
    GoogleDocstring._parse_attribute_docstring = GoogleDocstring._consume_to_end
    return {"parallel_read_safe": True, "parallel_write_safe": True}
