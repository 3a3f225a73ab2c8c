"""Expressions of plans and filters: a small part of SQL, with the meaning that it has in DuckDB."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ac
from ackclock.base.errors import BadInput
from ackclock.sweeps.plans.expressions import Expression, Question
from ackclock.sweeps.stores.asking import ask

ROWS = pl.DataFrame(
    {
        "cell": [0, 1, 2, 3, 4, 5],
        "rate_bps": [1e6, 5e6, math.nan, None, 2.5, -1e300],
        "seeds": pl.Series([3, 0, None, 7, 2, 2], dtype=pl.UInt32),
        "sender": ["cubic", "bbr", None, "it's", "", "a_b%"],
        "ok": [True, False, None, True, True, False],
        "link.rate": [1, 2, 3, 4, 5, 6],
    }
)
#: The kinds of what can stand in an expression, for a random one.
NUMBERS = ("rate_bps", "seeds", '"link.rate"', "1", "0", "2.5", "0.1", "1e6", "NULL")
TEXTS = ("sender", "'cubic'", "''", "'it''s'", "NULL")


def number(draw: random.Random, deep: int) -> str:
    """Return a random expression that is a number."""
    if deep == 0:
        return draw.choice(NUMBERS)
    one, two = (number(draw, deep - 1) for _ in range(2))
    return draw.choice(
        (
            f"{one} + {two}", f"({one}) - ({two})", f"({one}) * ({two})", f"({one}) / ({two})",
            f"-({one})", f"ABS({one})", f"POW({one}, 2)", f"SQRT({one})", f"LEAST({one}, {two})",
            f"GREATEST({one}, {two})", f"COALESCE({one}, {two})", f"NULLIF({one}, {two})",
            f"FLOOR({one})", f"LN({one})", f"EXP({one})",
            f"CASE WHEN {truth(draw, deep - 1)} THEN {one} ELSE {two} END",
            f"LENGTH({draw.choice(TEXTS)})",
        )
    )  # fmt: skip


def truth(draw: random.Random, deep: int) -> str:
    """Return a random condition."""
    one, two = (number(draw, max(0, deep - 1)) for _ in range(2))
    text = draw.choice(TEXTS)
    if deep == 0:
        return draw.choice(("ok", "TRUE", "FALSE", f"{one} > {two}", f"sender = {text}"))
    left, right = (truth(draw, deep - 1) for _ in range(2))
    return draw.choice(
        (
            f"({left}) AND ({right})", f"({left}) OR ({right})", f"NOT ({left})",
            f"{one} {draw.choice(('=', '<>', '<', '<=', '>', '>='))} {two}",
            f"{one} IN ({two}, 1, NULL)", f"{one} NOT IN ({two}, 3)", f"{one} BETWEEN {two} AND 5",
            f"sender IN ('cubic', {text})", f"sender {draw.choice(('<', '>='))} {text}",
            f"{one} IS NULL", f"({left}) IS NOT NULL", "sender LIKE '%b%'", "sender NOT LIKE 'a_b'",
            "STARTS_WITH(sender, 'c')", "CONTAINS(sender, '''')", f"LOWER(sender) = {text}",
        )
    )  # fmt: skip


def same(ours: Any, theirs: Any) -> bool:
    """Return True for equal values; numbers may differ in their last digits."""
    if isinstance(ours, float | int) and isinstance(theirs, float | int):
        one, two = float(ours), float(theirs)
        return (math.isnan(one) and math.isnan(two)) or math.isclose(one, two, rel_tol=1e-12)
    return ours == theirs and type(ours) is type(theirs)


#: Seeds of random expressions, of which each draws forty: 400, and 10,000 with the slow ones.
SEEDS = [n if n < 10 else pytest.param(n, marks=pytest.mark.slow) for n in range(250)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_expression_is_what_duckdb_says(seed: int) -> None:
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    base.register("rows", ROWS.to_arrow())
    draw = random.Random(seed)  # noqa: S311 - a test that can be drawn again
    for _ in range(40):
        text = draw.choice((number, truth))(draw, draw.randrange(4))
        expr = Expression(text, "where").over(ROWS.schema)
        ours = ROWS.select(expr.alias("value"))["value"].to_list()
        if len(ours) == 1:
            ours *= ROWS.height
        try:
            asked = f"SELECT {text} FROM rows ORDER BY cell"  # noqa: S608 - our own text
            rows = base.execute(asked).fetchall()
        except duckdb.OutOfRangeException:
            continue  # Whole numbers have bounds of their own there.
        theirs = [float(row[0]) if hasattr(row[0], "as_tuple") else row[0] for row in rows]
        assert all(map(same, ours, theirs)), f"{text}: {ours}, in DuckDB {theirs}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # 1 + 2 * 3 = 7; decimals add without a rest; NULL is not false.
        ("1 + 2 * 3", 7),
        ("0.1 + 0.2 = 0.3", True),
        ("-2 * -(3)", 6),
        ("NULL AND FALSE", False),
        ("NULL OR FALSE", None),
        ("2 IN (1, NULL)", None),
        ("NOT NOT TRUE", True),
        # A NULL is of the kind that its place asks for.
        ("FLOOR(NULLIF(NULL, 2.5))", None),
        ("CASE WHEN NULL THEN 1 ELSE 2 END", 2),
        ("'it''s' = 'it''s'", True),
        ("ROUND(2.5) + ROUND(-2.5)", 0),
        ("COUNT(*)", 6),
        # The column has 1e6, 5e6, NaN, NULL, 2.5 and -1e300: five numbers, NaN the largest.
        ("COUNT(rate_bps)", 5),
        ("MIN(rate_bps)", -1e300),
        # 3 + 0 + 7 + 2 + 2 over five.
        ("AVG(seeds)", 2.8),
        ("SUM(seeds) / COUNT(DISTINCT seeds)", 14 / 4),
        ("SUM(CASE WHEN ok THEN 1 ELSE 0 END)", 3),
        ("MEDIAN(seeds)", 2.0),
        # Sorted 0, 2, 2, 3, 7: a quarter of the way lies on the second.
        ("QUANTILE_CONT(seeds, 0.25)", 2.0),
        ("MIN(sender)", ""),
        # The true rows are 1, 4 and 5, with 3, 7 and 2 seeds.
        ("SUM(seeds) FILTER (WHERE ok)", 12),
        ("COUNT(*) FILTER (WHERE ok) + COUNT(sender) FILTER (WHERE NOT ok)", 3 + 2),
    ],
)
def test_an_expression_has_this_value(text: str, value: object) -> None:
    assert ROWS.select(Expression(text, "it").over(ROWS.schema, sums=True)).item() == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        # Functions that open files in an engine, as they passed a list of forbidden words.
        ("read_csv/**/('F') = 1", "no column `read_csv`"),
        ("rate_bps/**/ > 1", "found `*` at character 10, expected a column"),
        ("\"read_csv\"('F') = 1", "no column `read_csv`"),
        ("read_csv('F') = 1", "`read_csv` is no function"),
        ("`read_csv`('F')", "found ``` at character 1"),
        ("ok -- read", "found `-` at character 4, expected no comment"),
        ("(SELECT 1) = 1", "found `SELECT` at character 2"),
        ("rate_bps FROM 'F'", "found `FROM` at character 10, expected an operator or the end"),
        ("ok; DROP", "found `;` at character 3"),
        ("rate_bp > 1", "no column `rate_bp` (did you mean `rate_bps`?)"),
        ("sqr(rate_bps) > 1", "`sqr` is no function (did you mean `SQRT`?)"),
        ("sender > 1", "`>` between a text and a number, expected one kind"),
        ("ok + 1 > 0", "`+` of a condition, expected a number"),
        ("rate_bps AND ok", "`AND` of a number, expected a condition"),
        ("1 < seeds < 3", "found `<` at character 11, expected no second comparison"),
        ("seeds + 1", "is no condition"),
        ("SUM(seeds) > 1", "SUM sums rows up, expected an expression of one row"),
        ("POW(seeds) > 1", "POW of 1, expected 2 in brackets"),
        ("seeds >", "it ends at character 8, expected a column, a number or a text"),
        ("", "it ends at character 1"),
        ("(" * 40 + "ok" + ")" * 40, "at most 30 levels of brackets"),
        ("ok OR " * 8000 + "ok", "expected at most 10,000"),
        ("+".join(["1"] * 2000), "more than 1,000 words"),
        ("x" * 100, "no column"),
    ],
)
def test_what_is_no_expression_gets_one_line_with_its_place(text: str, says: str) -> None:
    with pytest.raises(ac.BadInput) as refused:
        Expression(text, "where").condition(ROWS.schema)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_long_chain_of_conditions_is_no_deep_tree() -> None:
    chain = " OR ".join(f"seeds = {n}" for n in range(240))
    assert ROWS.filter(Expression(chain, "where").condition(ROWS.schema)).height == 5


def test_a_value_names_its_table_and_its_rows() -> None:
    found = Question.read("SUM(a) FROM flows WHERE flow = 'from where'", "values.x")
    assert (found.what.text, found.table) == ("SUM(a)", "flows")
    assert found.where is not None
    assert found.where.text == "flow = 'from where'"
    assert Question.read("a / b", "values.x").table is None
    with pytest.raises(ac.BadInput, match="expected the name of a table"):
        Question.read("SUM(a) FROM 'F'", "values.x")
    with pytest.raises(ac.BadInput, match="expected `WHERE` or the end"):
        Question.read("SUM(a) FROM flows GROUP BY b", "values.x")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT * FROM read_csv('{file}')", "file system operations are disabled"),
        ("SELECT * FROM read_csv/**/('{file}')", "file system operations are disabled"),
        ("SELECT * FROM '{file}'", "file system operations are disabled"),
        ("SELECT 1; COPY cells TO '{file}'", "file system operations are disabled"),
        ("SELECT 1; SET enable_external_access = true", "configuration has been locked"),
        ("SELECT nope FROM cells", "nope"),
        ("COPY cells TO '{file}'", "expected a question"),
        ("", "expected a question"),
    ],
)
def test_a_question_in_sql_opens_no_file(query: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "file.csv"
    file.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(ac.BadInput, match=says) as refused:
        ask(query.replace("{file}", str(file)), {"cells": ROWS})
    assert "\n" not in str(refused.value)
    assert file.read_text(encoding="utf-8") == "a\n1\n"


def test_a_question_in_sql_is_answered() -> None:
    found = ask('SELECT sender, "link.rate" AS r FROM cells WHERE ok ORDER BY r', {"cells": ROWS})
    # The rows 1, 4 and 5 of six are true.
    assert found.to_dicts() == [
        {"sender": "cubic", "r": 1},
        {"sender": "it's", "r": 4},
        {"sender": "", "r": 5},
    ]


@pytest.mark.parametrize("number", ["9" * 19, "9" * 5000, "1e999999", "1e999999*1e999999"])
def test_a_number_that_no_column_holds_is_refused(number: str) -> None:
    with pytest.raises(BadInput, match="expected a number of 64 bits"):
        Expression(f"a > {number}", "where").condition({"a": pl.Int64()})


def test_a_condition_that_is_null_is_true_of_no_row() -> None:
    # DuckDB's `WHERE NULL` gives no row, too.
    frame = pl.DataFrame({"a": [1, 2]})
    assert frame.filter(Expression("NULL", "where").condition(frame.schema)).height == 0
