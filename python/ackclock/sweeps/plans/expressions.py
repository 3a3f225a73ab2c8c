"""Expressions over the columns of results: a small part of SQL, read here and not by an engine.

They are data of strangers: plans, scores of searches, filters of a served page. What is read here
names columns, numbers, texts, operators and the functions of a list, and nothing else: no file, no
query, no setting. Its size is bounded, as an engine's recursion is not. It means what it means in
DuckDB; where that depends on more than the expression (a text that is to be a number, a remainder
of zero), it is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from typing import Literal, NamedTuple, NoReturn

import polars as pl

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest

__all__ = ["Expression", "Question"]

#: The longest text, the most words, and the deepest nesting of an expression.
_MOST_LETTERS = 10_000
_MOST_WORDS = 1_000
_MOST_DEEP = 30

Kind = Literal["number", "text", "truth", "null"]


class _Word(NamedTuple):
    kind: str
    text: str
    at: int


@dataclass(frozen=True)
class _Node:
    """A part of an expression.

    ``number`` is the value of one that is written as numbers alone; ``rows`` is true if a column
    stands in it outside of what sums rows up.
    """

    expr: pl.Expr
    kind: Kind
    number: Decimal | int | None = None
    rows: bool = False


class Expression:
    """An expression that was read, for tables with columns of its names.

    Parameters
    ----------
    text
        The expression.
    of
        The place of it in messages, such as ``where``.

    Raises
    ------
    BadInput
        The expression cannot be read: the place, and what was expected.
    """

    def __init__(self, text: str, of: str) -> None:
        self.text, self._of = text, of
        self._words = list(_words(text, of))

    def over(self, schema: Mapping[str, pl.DataType], *, sums: bool = False) -> pl.Expr:
        """Return the expression over columns of these types; with ``sums`` one value of many rows.

        Raises
        ------
        BadInput
            It names no column of these, its kinds do not go together, or it has a value of each
            row where one of all is expected.
        """
        found = self._read(schema, sums=sums)
        if sums and found.rows:
            raise BadInput(
                f"{self._of}: `{self.text}` is a list in each cell, expected one value, such as "
                "SUM(...), AVG(...) or MAX(...)"
            )
        return found.expr

    def condition(self, schema: Mapping[str, pl.DataType]) -> pl.Expr:
        """Return the condition over columns of these types; refuse what is true or false of no row.

        Raises
        ------
        BadInput
            As :meth:`over`, or it is no condition.
        """
        found = self._read(schema, sums=False)
        if found.kind not in ("truth", "null"):
            raise BadInput(
                f'{self._of}: `{self.text}` is no condition, expected one such as "rate_bps" > 1e6'
            )
        return found.expr.cast(pl.Boolean) if found.kind == "null" else found.expr

    def counts(self, schema: Mapping[str, pl.DataType]) -> bool:
        """Return True if it has a value where there is no row: it counts, and sums nothing up."""
        self._read(schema, sums=True)
        called = {
            word.text.upper()
            for word, after in zip(self._words, self._words[1:], strict=False)
            if word.kind == "name" and after.text == "("
        }
        return "COUNT" in called and not called & (_SUMMING.keys() | {"FIRST", "LAST"})

    def _read(self, schema: Mapping[str, pl.DataType], *, sums: bool) -> _Node:
        reader = _Reader(self.text, self._of, self._words, schema, sums=sums)
        found = reader.expression()
        reader.expect_end()
        return found


@dataclass(frozen=True)
class Question:
    """A value of a plan: ``EXPRESSION [FROM TABLE [WHERE CONDITION]]``."""

    what: Expression
    table: str | None = None
    where: Expression | None = None

    @classmethod
    def read(cls, text: str, of: str) -> Question:
        """Read the text of a value.

        Raises
        ------
        BadInput
            It cannot be read.
        """
        words = list(_words(text, of))
        places = {
            word.text.upper(): n
            for n, word in reversed(list(enumerate(words)))
            if word.kind == "name" and word.text.upper() in ("FROM", "WHERE")
        }
        if "FROM" not in places:
            return cls(Expression(text, of))
        begin = words[places["FROM"]]
        table, *rest = words[places["FROM"] + 1 :]
        if table.kind != "name":
            _refuse(text, of, table, "the name of a table")
        what = Expression(text[: begin.at].strip(), of)
        if rest[0].kind == "end":
            return cls(what, table.text)
        if rest[0].text.upper() != "WHERE":
            _refuse(text, of, rest[0], "`WHERE` or the end")
        return cls(what, table.text, Expression(text[rest[1].at :].strip(), of))


_WORDS = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<text>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")+")
      | (?P<name>[^\W\d]\w*)
      | (?P<sign><=|>=|<>|!=|==|[-+*/=<>(),])
      | (?P<end>$)
      | (?P<other>.)
    )""",
    re.VERBOSE | re.DOTALL,
)


def _words(text: str, of: str) -> Iterator[_Word]:
    """Yield the words of an expression and its end; refuse what is none."""
    if len(text) > _MOST_LETTERS:
        raise BadInput(f"{of}: {len(text):,} characters, expected at most {_MOST_LETTERS:,}")
    at = count = 0
    while True:
        found = _WORDS.match(text, at)
        kind = str(found and found.lastgroup)
        assert found is not None  # noqa: S101 - the last of the kinds is any character
        word = _Word(kind, found[kind], found.start(kind))
        if kind == "other":
            _refuse(text, of, word, "a column, a number, a text in '...' or an operator")
        if word.text[:2] == "--" or (word.text == "-" and text[word.at :].startswith("--")):
            _refuse(text, of, word, "no comment")
        yield word
        if kind == "end":
            return
        at, count = found.end(), count + 1
        if count > _MOST_WORDS:
            raise BadInput(f"{of}: more than {_MOST_WORDS:,} words, expected at most so many")


def _refuse(text: str, of: str, word: _Word, expected: str) -> NoReturn:
    found = f"found `{word.text}`" if word.text else "it ends"
    shown = text if len(text) <= 80 else f"{text[:77]}..."
    raise BadInput(f"{of}: `{shown}`: {found} at character {word.at + 1}, expected {expected}")


def _float(expr: pl.Expr) -> pl.Expr:
    return expr.cast(pl.Float64)


#: Functions of numbers, each of one.
_OF_NUMBER: Mapping[str, Callable[[pl.Expr], pl.Expr]] = {
    "ABS": pl.Expr.abs,
    "FLOOR": pl.Expr.floor,
    "CEIL": pl.Expr.ceil,
    "ROUND": lambda it: _float(it).round(mode="half_away_from_zero"),
    "SQRT": lambda it: _float(it).sqrt(),
    "EXP": lambda it: _float(it).exp(),
    "LN": lambda it: _float(it).log(),
    "LOG10": lambda it: _float(it).log10(),
    "LOG2": lambda it: _float(it).log(2.0),
}
#: Functions of texts.
_OF_TEXT: Mapping[str, tuple[Callable[[pl.Expr], pl.Expr], Kind]] = {
    "LOWER": (lambda it: it.str.to_lowercase(), "text"),
    "UPPER": (lambda it: it.str.to_uppercase(), "text"),
    "LENGTH": (lambda it: it.str.len_chars().cast(pl.Int64), "number"),
}

_OF_TWO_TEXTS: Mapping[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "STARTS_WITH": lambda text, part: text.str.starts_with(part),
    "ENDS_WITH": lambda text, part: text.str.ends_with(part),
    "CONTAINS": lambda text, part: text.str.contains(part, literal=True),
}


def _unless_empty(of: Callable[[pl.Expr], pl.Expr]) -> Callable[[pl.Expr], pl.Expr]:
    """Return a sum that is null where there is no value, as in SQL."""
    return lambda it: pl.when(it.count() > 0).then(of(it))


#: Functions that sum rows up, of numbers.
_SUMMING: Mapping[str, Callable[[pl.Expr], pl.Expr]] = {
    "SUM": _unless_empty(pl.Expr.sum),
    "AVG": lambda it: _float(it).mean(),
    "MEAN": lambda it: _float(it).mean(),
    "MEDIAN": lambda it: _float(it).median(),
    "STDDEV": lambda it: _float(it).std(),
    "VARIANCE": lambda it: _float(it).var(),
    "MIN": pl.Expr.min,
    "MAX": pl.Expr.max,
}
#: Those that are also of texts.
_OF_ANY = ("MIN", "MAX")
_PICKING: Mapping[str, Callable[[pl.Expr], pl.Expr]] = {
    "FIRST": pl.Expr.first,
    "LAST": pl.Expr.last,
}
_MANY: Mapping[str, Callable[[list[pl.Expr]], pl.Expr]] = {
    "LEAST": pl.min_horizontal,
    "GREATEST": pl.max_horizontal,
    "COALESCE": pl.coalesce,
}
#: All functions, for the nearest word.
_FUNCTIONS = (
    *_OF_NUMBER, *_OF_TEXT, *_OF_TWO_TEXTS, *_SUMMING, *_PICKING, *_MANY,
    "COUNT", "POW", "POWER", "NULLIF", "QUANTILE_CONT",
)  # fmt: skip
_COMPARED: Mapping[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "=": lambda a, b: a == b,
    "==": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_SIGNS: Mapping[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: _float(a) / _float(b),
}
#: Words that are no names of columns.
_RESERVED = frozenset(
    (
        *("AND", "OR", "NOT", "IN", "BETWEEN", "IS", "LIKE", "CASE", "WHEN", "THEN", "ELSE", "END"),
        *("FROM", "WHERE", "SELECT", "TRUE", "FALSE", "NULL"),
    )
)
_CONSTANTS: Mapping[str, _Node] = {
    "TRUE": _Node(pl.lit(True), "truth"),
    "FALSE": _Node(pl.lit(False), "truth"),
    "NULL": _Node(pl.lit(None), "null"),
}


class _Reader:
    """A reader of one expression, a method for each level of precedence."""

    def __init__(
        self,
        text: str,
        of: str,
        words: Sequence[_Word],
        schema: Mapping[str, pl.DataType],
        *,
        sums: bool,
    ) -> None:
        self.text, self.of, self.words, self.schema = text, of, words, schema
        self.at = self.deep = 0
        #: True where what sums up may stand.
        self.may_sum = sums

    @property
    def word(self) -> _Word:
        return self.words[self.at]

    def is_word(self, *words: str) -> bool:
        return self.word.kind in ("name", "sign") and self.word.text.upper() in words

    def take(self, *words: str) -> str | None:
        """Take the next word if it is one of these; return it in capitals."""
        if not self.is_word(*words):
            return None
        self.at += 1
        return self.words[self.at - 1].text.upper()

    def expect(self, word: str) -> None:
        if self.take(word) is None:
            self.refuse(f"`{word}`")

    def expect_end(self) -> None:
        if self.word.kind != "end":
            self.refuse("an operator or the end")

    def refuse(self, expected: str) -> NoReturn:
        _refuse(self.text, self.of, self.word, expected)

    def expression(self) -> _Node:
        self.deep += 1
        if self.deep > _MOST_DEEP:
            self.refuse(f"at most {_MOST_DEEP} levels of brackets")
        found = self.chain("OR", lambda: self.chain("AND", self.negated))
        self.deep -= 1
        return found

    def chain(self, word: str, operand: Callable[[], _Node]) -> _Node:
        nodes = [operand()]
        while self.take(word):
            nodes.append(operand())
        if len(nodes) == 1:
            return nodes[0]
        truths = [self.of_kind(node, "truth", word) for node in nodes]
        of = pl.Expr.or_ if word == "OR" else pl.Expr.and_
        return _joined(_balanced(truths, of), "truth", nodes)

    def negated(self) -> _Node:
        times = 0
        while self.take("NOT"):
            times += 1
        found = self.compared()
        if times == 0:
            return found
        truth = self.of_kind(found, "truth", "NOT")
        return _joined(~truth if times % 2 else truth, "truth", [found])

    def compared(self) -> _Node:
        first = self.added()
        if sign := self.take(*_COMPARED):
            found = self.pair(sign, first, self.added())
            if self.is_word(*_COMPARED):
                self.refuse("no second comparison; AND brings two together")
            return found
        if self.take("IS"):
            negated = self.take("NOT")
            self.expect("NULL")
            expr = first.expr.is_not_null() if negated else first.expr.is_null()
            return _joined(expr, "truth", [first])
        negated = self.take("NOT")
        if self.take("IN"):
            found = self.among(first)
        elif self.take("BETWEEN"):
            least = self.added()
            self.expect("AND")
            most = self.added()
            both = [self.pair(">=", first, least), self.pair("<=", first, most)]
            found = _joined(both[0].expr & both[1].expr, "truth", both)
        elif self.take("LIKE"):
            found = self.like(first)
        elif negated:
            self.refuse("`IN`, `BETWEEN` or `LIKE`")
        else:
            return first
        return replace(found, expr=~found.expr) if negated else found

    def pair(self, sign: str, first: _Node, second: _Node) -> _Node:
        kinds = {first.kind, second.kind} - {"null"}
        if len(kinds) > 1:
            told = " and ".join(_TOLD[kind] for kind in (first.kind, second.kind))
            raise BadInput(f"{self.of}: `{self.text}`: `{sign}` between {told}, expected one kind")
        expr = _COMPARED[sign](*_levelled(first, second))
        return _joined(expr, "truth", [first, second])

    def among(self, first: _Node) -> _Node:
        self.expect("(")
        found = [self.pair("=", first, self.added())]
        while self.take(","):
            found.append(self.pair("=", first, self.added()))
        self.expect(")")
        return _joined(_balanced([node.expr for node in found], pl.Expr.or_), "truth", found)

    def like(self, first: _Node) -> _Node:
        text = self.of_kind(first, "text", "LIKE")
        if self.word.kind != "text":
            self.refuse("a text such as 'bbr%'")
        pattern = _unquoted(self.word.text)
        self.at += 1
        letters = {"%": ".*", "_": "."}
        regex = "".join(letters.get(letter, re.escape(letter)) for letter in pattern)
        return _joined(text.str.contains(f"(?s)^{regex}$"), "truth", [first])

    def added(self) -> _Node:
        found = self.multiplied()
        while sign := self.take("+", "-"):
            found = self.combined(sign, found, self.multiplied())
        return found

    def multiplied(self) -> _Node:
        found = self.signed()
        while sign := self.take("*", "/"):
            found = self.combined(sign, found, self.signed())
        return found

    def combined(self, sign: str, first: _Node, second: _Node) -> _Node:
        operands = [self.of_kind(node, "number", sign) for node in (first, second)]
        a, b = first.number, second.number
        if a is not None and b is not None and sign != "/":
            # Numbers are decimals in DuckDB: 0.1 + 0.2 is 0.3.
            return _number(a + b if sign == "+" else a - b if sign == "-" else a * b)
        return _joined(_SIGNS[sign](*operands), "number", [first, second])

    def signed(self) -> _Node:
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign == "-"
        found = self.primary()
        if not negative:
            return found
        if found.number is not None:
            return _number(-found.number)
        return _joined(-self.of_kind(found, "number", "-"), "number", [found])

    def primary(self) -> _Node:
        word = self.word
        if self.take("("):
            found = self.expression()
            self.expect(")")
            return found
        if word.kind in ("end", "sign") or (
            word.kind == "name" and word.text.upper() in _RESERVED - _CONSTANTS.keys() - {"CASE"}
        ):
            self.refuse("a column, a number or a text")
        if word.kind == "number" and not _fits(word.text):
            self.refuse("a number of 64 bits")
        self.at += 1
        if word.kind == "name":
            return self.named(word)
        if word.kind == "number":
            return _number(int(word.text) if word.text.isdigit() else Decimal(word.text))
        text = _unquoted(word.text)
        return self.column(text) if word.kind == "quoted" else _Node(pl.lit(text), "text")

    def named(self, word: _Word) -> _Node:
        name = word.text.upper()
        if name == "CASE":
            return self.case()
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        return self.call(name, word) if self.take("(") else self.column(word.text)

    def column(self, name: str) -> _Node:
        kind = self.schema.get(name)
        if kind is None:
            known = [each for each in self.schema if each and each != "cell"]
            raise BadInput(f"{self.of}: `{self.text}`: no column `{name}`{nearest(name, known)}")
        expr = pl.col(name)
        if kind.is_unsigned_integer():
            # A difference of two of them may be below zero.
            expr = expr.cast(pl.Int64)
        if kind.is_numeric():
            return _Node(expr, "number", rows=True)
        if kind == pl.Boolean:
            return _Node(expr, "truth", rows=True)
        if kind == pl.Null:
            return _Node(expr, "null", rows=True)
        if isinstance(kind, pl.String | pl.Categorical | pl.Enum):
            return _Node(expr.cast(pl.String), "text", rows=True)
        raise BadInput(f"{self.of}: `{self.text}`: the column `{name}` is a list, expected values")

    def case(self) -> _Node:
        """Read the branches of CASE, of whose conditions the first that is true counts."""
        conditions: list[_Node] = []
        values: list[_Node] = []
        while self.take("WHEN"):
            condition = self.expression()
            expr = self.of_kind(condition, "truth", "WHEN")
            conditions.append(replace(condition, expr=expr))
            self.expect("THEN")
            values.append(self.expression())
        if not conditions:
            self.refuse("`WHEN`")
        other = self.expression() if self.take("ELSE") else _Node(pl.lit(None), "null")
        self.expect("END")
        kind = self.one_kind("CASE", [*values, other])
        expr = other.expr
        for condition, value in zip(reversed(conditions), reversed(values), strict=True):
            expr = pl.when(condition.expr).then(value.expr).otherwise(expr)
        return _joined(expr, kind, [*conditions, *values, other])

    def call(self, name: str, word: _Word) -> _Node:
        if name not in _FUNCTIONS:
            near = nearest(name, _FUNCTIONS)
            raise BadInput(f"{self.of}: `{self.text}`: `{word.text}` is no function{near}")
        if name in ("COUNT", "QUANTILE_CONT", *_SUMMING, *_PICKING):
            return self.summed(name)
        given = [self.expression()]
        while self.take(","):
            given.append(self.expression())
        self.expect(")")
        if name in _OF_NUMBER or name in ("POW", "POWER"):
            return self.of_numbers(name, given)
        if name in _OF_TEXT or name in _OF_TWO_TEXTS:
            return self.of_texts(name, given)
        kind = self.one_kind(name, given)
        if name == "NULLIF":
            first, second = self.so_many(name, given, 2)
            same = self.pair("=", first, second).expr.fill_null(value=False)
            return _joined(pl.when(~same).then(_levelled(first, second)[0]), kind, given)
        each = [_float(node.expr) if kind == "number" else node.expr for node in given]
        expr = _MANY[name](each)
        if name == "GREATEST" and kind == "number":
            # NaN is the largest number there is.
            of_nan = pl.any_horizontal(one.is_nan().fill_null(value=False) for one in each)
            expr = pl.when(of_nan).then(math.nan).otherwise(expr)
        return _joined(expr, kind, given)

    def of_numbers(self, name: str, given: list[_Node]) -> _Node:
        count = 1 if name in _OF_NUMBER else 2
        numbers = [self.of_kind(node, "number", name) for node in self.so_many(name, given, count)]
        expr = (
            _OF_NUMBER[name](numbers[0])
            if count == 1
            else _float(numbers[0]).pow(_float(numbers[1]))
        )
        return _joined(expr, "number", given)

    def of_texts(self, name: str, given: list[_Node]) -> _Node:
        count = 1 if name in _OF_TEXT else 2
        texts = [self.of_kind(node, "text", name) for node in self.so_many(name, given, count)]
        if count == 1:
            of, kind = _OF_TEXT[name]
            return _joined(of(texts[0]), kind, given)
        return _joined(_OF_TWO_TEXTS[name](*texts), "truth", given)

    def summed(self, name: str) -> _Node:
        """Read what sums rows up, within which nothing else does."""
        if not self.may_sum:
            raise BadInput(
                f"{self.of}: `{self.text}`: {name} sums rows up, expected an expression of one row"
            )
        self.may_sum = False
        of_all = name == "COUNT" and self.take("*") is not None
        distinct = name == "COUNT" and not of_all and self.take("DISTINCT") is not None
        node = _number(1) if of_all else self.expression()
        at: Decimal | int | None = None
        if name == "QUANTILE_CONT":
            self.expect(",")
            at = self.signed().number
            if at is None or not 0 <= at <= 1:
                self.refuse("a share from 0 to 1")
        self.expect(")")
        chosen = self.filtered()
        self.may_sum = True
        if of_all:
            counted = pl.len() if chosen is None else chosen.sum()
            return _Node(counted.cast(pl.Int64), "number")
        if chosen is not None:
            node = replace(node, expr=node.expr.filter(chosen))
        if name == "COUNT":
            known = node.expr.drop_nulls()
            return _Node((known.n_unique() if distinct else known.len()).cast(pl.Int64), "number")
        return self.sum_of(name, node, at)

    def filtered(self) -> pl.Expr | None:
        """Return the condition of `FILTER (WHERE ...)`, which chooses the rows of one sum."""
        if not self.take("FILTER"):
            return None
        self.expect("(")
        self.expect("WHERE")
        found = self.of_kind(self.expression(), "truth", "FILTER")
        self.expect(")")
        return found

    def sum_of(self, name: str, node: _Node, at: Decimal | int | None) -> _Node:
        if name in _PICKING:
            return _Node(_PICKING[name](node.expr), node.kind)
        if name in _OF_ANY:
            # NaN is the largest number there is.
            is_max = name == "MAX" and node.kind == "number"
            expr = _float(node.expr).nan_max() if is_max and self.may_be_nan(node) else None
            return _Node(_SUMMING[name](node.expr) if expr is None else expr, node.kind)
        number = self.of_kind(node, "number", name)
        if at is not None:
            return _Node(_float(number).quantile(float(at), "linear"), "number")
        return _Node(_SUMMING[name](number), "number")

    def may_be_nan(self, node: _Node) -> bool:
        """Return True if a number need not be a whole one."""
        named = (self.schema[name] for name in node.expr.meta.root_names())
        return not all(kind.is_integer() for kind in named)

    def so_many(self, name: str, given: list[_Node], count: int) -> list[_Node]:
        if len(given) != count:
            raise BadInput(
                f"{self.of}: `{self.text}`: {name} of {len(given)}, expected {count} in brackets"
            )
        return given

    def of_kind(self, node: _Node, kind: Kind, of: str) -> pl.Expr:
        if node.kind not in (kind, "null"):
            told = f"`{of}` of {_TOLD[node.kind]}, expected {_TOLD[kind]}"
            raise BadInput(f"{self.of}: `{self.text}`: {told}")
        return node.expr.cast(_TYPES[kind]) if node.kind == "null" else node.expr

    def one_kind(self, name: str, nodes: Sequence[_Node]) -> Kind:
        kinds: list[Kind] = [node.kind for node in nodes if node.kind != "null"]
        if len(set(kinds)) > 1:
            told = " and ".join(sorted(_TOLD[kind] for kind in set(kinds)))
            raise BadInput(f"{self.of}: `{self.text}`: {name} of {told}, expected one kind")
        return kinds[0] if kinds else "null"


_TOLD: Mapping[Kind, str] = {
    "number": "a number", "text": "a text", "truth": "a condition", "null": "NULL",
}  # fmt: skip
_TYPES: Mapping[Kind, type[pl.DataType]] = {
    "number": pl.Float64, "text": pl.String, "truth": pl.Boolean, "null": pl.Null,
}  # fmt: skip


def _fits(text: str) -> bool:
    """Return True of a number that a column can hold: of a longer one it is not read what it is."""
    number = float(text)
    return abs(number) < 2.0**63 if text.isdigit() else math.isfinite(number)


def _number(value: Decimal | int) -> _Node:
    return _Node(pl.lit(value if isinstance(value, int) else float(value)), "number", value)


def _levelled(first: _Node, second: _Node) -> tuple[pl.Expr, pl.Expr]:
    """Return two parts with a NULL made one of the other's kind."""
    known = first.kind if first.kind != "null" else second.kind
    a, b = (
        node.expr.cast(_TYPES[known]) if node.kind == "null" and known != "null" else node.expr
        for node in (first, second)
    )
    return a, b


def _joined(expr: pl.Expr, kind: Kind, of: Sequence[_Node]) -> _Node:
    return _Node(expr, kind, rows=any(it.rows for it in of))


def _balanced(exprs: list[pl.Expr], of: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> pl.Expr:
    """Return expressions brought together by pairs, so that the tree is low."""
    while len(exprs) > 1:
        exprs = [reduce(of, exprs[n : n + 2]) for n in range(0, len(exprs), 2)]
    return exprs[0]


def _unquoted(text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0])
