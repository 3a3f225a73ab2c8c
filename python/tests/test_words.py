"""The check of words, on comments and documents that break its rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from support import ROOT

Script = Callable[[str], ModuleType]


@pytest.mark.parametrize(
    "line",
    [
        "What waits although the window has room.",
        "Whether a block can be kept.",
        "Of each pass, its factors.",
        "Who goes next.",
        "Whose habits decide.",
        "So many hops.",
        "How often it is sent.",
        "Where it stands.",
        "The same as before, later.",
        "The same.",
        "The same, within a bound.",
        "The same of a datagram.",
    ],
)
def test_a_sentence_without_a_subject_is_seen(line: str, script: Script) -> None:
    module = script("check_words")
    rust = f"/// {line}\nfn f() {{}}\n"
    python = f'def f():\n    """{line}"""\n'
    assert list(module.rust_comments(rust)) == [(1, line)]
    assert module.BEGINNINGS.match(line)
    assert [text for _, text in module.python_comments(python)] == [line]


@pytest.mark.parametrize(
    "line",
    [
        "The queueing discipline: which packet is dequeued next.",
        "The same path as before.",
        "Offset of the field.",
        "True if a block can be kept.",
        "Howard's algorithm.",
        "Sockets of the host.",
    ],
)
def test_a_sentence_with_a_subject_is_not(line: str, script: Script) -> None:
    assert not script("check_words").BEGINNINGS.match(line)


def test_the_first_line_of_a_comment_counts(script: Script) -> None:
    text = """
        //! A module.
        //! What it is.

        /// A function, of
        /// which this is no sentence.
        ///
        /// Whether this is one does not matter.
        #[inline]
        /// How a comment goes on after an attribute.
        fn f() {} // Of no account.
        //// Whether four slashes are a comment: no.
    """
    found = [line for _, line in script("check_words").rust_comments(text)]
    assert found == ["A module.", "A function, of", "How a comment goes on after an attribute."]


def test_entries_and_constants_of_python_count(script: Script) -> None:
    text = '''
#: How many.
#: Whether this goes on.
N = 3


class C:
    """A class.

    Attributes
    ----------
    n
        How often.
    sender, receiver : str
        The ends.
        What follows is no entry.
    """
'''
    found = dict(script("check_words").python_comments(text))
    assert found == {2: "How many.", 8: "A class.", 13: "How often.", 15: "The ends."}


def test_a_long_line_is_seen_and_tables_and_links_are_free(script: Script) -> None:
    # 4 · 30 = 120 columns, and one more.
    lines = [
        *("abc " * 30 + "x", "abc " * 29 + "abcd", "| " + "abc " * 40 + "|"),
        "abc " * 20 + "[a decision](decisions/0031-one-writer-and-no-other-for-every-file.md)",
    ]
    assert list(script("check_words").long_lines("\n".join(lines))) == [(1, 121)]


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ("So it is.\n", [(1, "So it is.")]),
        ("It is\nlong. Whoever reads it\ntires.\n", [(2, "Whoever reads it tires.")]),
        ("(It is.) Of it, half.\n", [(1, "Of it, half.")]),
        (
            "* **What it is.** A thing.\n* Where it is full, it drops.\n",
            [(1, "What it is.** A thing."), (2, "Where it is full, it drops.")],
        ),
        (
            "| What | Why |\n| --- | --- |\n| Whose it is | Which a \\| b |\n",
            [(3, "Whose it is"), (3, "Which a \\| b")],
        ),
        # Questions, headings, titles of links, code; and the words within a sentence.
        ("# What is a profile?\n\n## How to cite\n", []),
        ("What is a profile? Who\nreads this? A set.\n", []),
        ("See [How to cite](cite.md). [What is new](log.md).\n", []),
        ("```text\nSo it is.\n```\nIt says what it is, so that all know.\n", []),
        ("1. If it is full, it drops.\n2. Sockets wait. Offset 3.\n", []),
    ],
)
def test_sentences_of_documents_have_subjects(
    document: str, found: list[tuple[int, str]], script: Script
) -> None:
    assert list(script("check_words").without_subject(document)) == found


def test_pages_that_are_generated_or_dated_are_not_read(tmp_path: Path, script: Script) -> None:
    for name in ("guides/a.md", "decisions/0001-a.md", "changes/0.1.0.md", "reference/scenario.md"):
        page = tmp_path / "docs" / name
        page.parent.mkdir(parents=True)
        page.write_text("It runs. So it ends.\n", encoding="utf-8")
    example = tmp_path / "python" / "ackclock" / "examples" / "a.toml"
    example.parent.mkdir(parents=True)
    example.write_text("# A file.\n# So it is.\nkey = 1 # Of it.\n", encoding="utf-8")
    said = "begins without a subject (CONTRIBUTING.md): So it"
    assert list(script("check_words").violations(tmp_path)) == [
        f"docs/guides/a.md:1: {said} ends.",
        f"python/ackclock/examples/a.toml:2: {said} is.",
    ]


def test_a_file_without_subjects_is_named(tmp_path: Path, script: Script) -> None:
    module = script("check_words")
    folder = tmp_path / "crates" / "x" / "src"
    folder.mkdir(parents=True)
    (folder / "lib.rs").write_text("/// What.\nfn f() {}\n/// How.\nfn g() {}\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("a " * 70, encoding="utf-8")
    says = "begins without a subject (CONTRIBUTING.md)"
    assert list(module.violations(tmp_path)) == [
        f"crates/x/src/lib.rs:1: {says}: What.",
        f"crates/x/src/lib.rs:3: {says}: How.",
        "README.md:1: 140 columns, at most 120",
    ]


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("Refuse rates below zero", None),
        ("Speed up the scoreboard", None),
        ("Merge branch 'one-with-a-name-that-is-longer-than-any-subject-should-be'", None),
        ("x" * 73, "73 characters, at most 72"),
        ("refuse rates", "does not begin with a capital letter"),
        ("Refuse rates.", "ends with a full stop"),
        ("Refused rates below zero", "begins with `Refused`, which is no imperative"),
        ("Refusing rates below zero", "begins with `Refusing`, which is no imperative"),
    ],
)
def test_the_subject_of_a_commit(subject: str, fault: str | None, script: Script) -> None:
    found = list(script("check_commits").faults(subject))
    assert found[:1] == ([] if fault is None else [fault])


def help_texts(script: Script) -> list[str]:
    reference = script("reference")
    root = reference.typer.main.get_command(reference.cli.app)
    found: list[str] = []
    for path, command in reference.commands("ackclock", root):
        said = [command.help, *(getattr(each, "help", None) for each in command.params)]
        found += [f"{path}: {text}" for text in said if text]
    return found


def test_a_help_text_begins_with_its_subject(script: Script) -> None:
    module = script("check_words")
    texts = help_texts(script)
    assert len(texts) > 100
    said = [text.partition(": ")[2] for text in texts]
    assert not [text for text in said if module.BEGINNINGS.match(text)]
    assert not [found for text in said for found in module.without_subject(text)]


#: Words in the order of another language.
FOREIGN = ("so-manieth", "whose the senders are", "whose the ends are", "live alone")


def test_nothing_is_said_in_a_foreign_order() -> None:
    places = [("docs", "*.md"), ("python/ackclock", "*.py"), ("crates", "*.rs")]
    for folder, names in places:
        for path in (ROOT / folder).rglob(names):
            text = path.read_text(encoding="utf-8")
            assert not [words for words in FOREIGN if words in text], path


def test_a_picture_that_is_too_large_is_seen(tmp_path: Path, script: Script) -> None:
    module = script("check_words")
    # 150,000 bytes are allowed.
    for name, size in (("a.svg", 150_000), ("b.svg", 150_001), (module.HEAVY[0], 900_000)):
        (tmp_path / name).write_bytes(b"x" * size)
    assert list(module.heavy_pictures(tmp_path)) == [("b.svg", 150_001)]
    # An exception that is no longer needed is not kept.
    images = ROOT / "docs/images"
    assert all((images / name).stat().st_size > module.MOST_BYTES for name in module.HEAVY)
