import pytest

import commit_form


@pytest.mark.parametrize(
    "subject",
    [
        "transport: test is_linux when setting is_fresh",
        "radio, sim: carry the place of a key in errors",
        "docs/speed: say which machine measured",
        "Merge branch 'main'",
    ],
)
def test_a_subject_of_the_form_is_taken(subject: str):
    assert commit_form.faults(f"{subject}\n\nWhy it was needed.\n") == []


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("Forty methods a world", "form"),
        ("radio: added a timer", "imperative"),
        ("radio: what is fresh is asked once", "imperative"),
        ("radio: mend a timer; drop a row", "two changes"),
        ("radio: " + "x" * 66, "73 characters"),
        ("radio: mend a timer.", "form"),
        ("radio: mend a timer\nIt was late.", "second line"),
        ("", "form"),
    ],
)
def test_another_subject_is_refused(message: str, fault: str):
    assert any(fault in found for found in commit_form.faults(message))


def test_a_comment_of_git_is_no_part_of_the_message():
    assert commit_form.faults("sim: mend a timer\n# Please enter the message") == []
