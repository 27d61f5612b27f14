"""Lines of text in which no name is broken, neither within a word nor at its hyphens."""

import textwrap


def wrap(text: str, width: int, hang: int = 0) -> list[str]:
    """Returns text in lines of at most `width` characters, unless a word is longer.

    Lines after the first begin with `hang` spaces.
    """
    return textwrap.wrap(
        text,
        max(width, 1),
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
