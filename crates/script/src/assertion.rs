//! Assertion blocks: `assert` and `print` over `tcpi_*` names, and names that are given a value;
//! evaluated by a whitelist. What is not on it is refused by name; no Python is ever run.
//!
//! Statements end with the line or `;`. `NAME = ...` and `NAME += ...` (also `-=`, `*=`, `//=`) keep a
//! number, a text, `True`, `False` or `None` for the rest of the script. An expression is made of numbers, texts, `True`, `False`,
//! `None`, names of `tcp_info` and of its constants, `+ - * / // % << >> & | ^ ~`, comparisons
//! (chained as in Python, `in` and `not in` with them), `and`, `or`, `not`, parentheses, tuples and
//! lists, and the functions `abs`, `int`, `len`, `max`, `min` and `str`. `"%d" % x` formats.

mod evaluate;
mod token;

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::Block;
use crate::error::{Fault, Span, hint, shown};
use crate::info::TcpInfo;
use evaluate::{Scope, Value};
use token::{Kind, Token, tokens};

/// Constants that scripts compare fields with.
const CONSTANTS: [(&str, i64); 21] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_SYN_DATA", 32),
];

const FUNCTIONS: [&str; 6] = ["abs", "int", "len", "max", "min", "str"];

/// Parentheses in parentheses: deeper than anyone writes.
const DEEPEST: u32 = 40;

/// The longest text that a name may keep.
const LONGEST_TEXT: usize = 1000;

/// A block that was read.
#[derive(Clone, Debug)]
pub struct Program {
    statements: Vec<Statement>,
}

#[derive(Clone, Debug)]
enum Statement {
    Assert(Assertion),
    /// The name keeps the value of the expression.
    Assign(Span, String, Node),
}

/// The names that the blocks of a script give values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    values: BTreeMap<String, Value>,
}

impl Variables {
    fn keep(&mut self, span: Span, name: &str, value: Value) -> Result<(), Fault> {
        let small = match &value {
            Value::Text(text) => text.len() <= LONGEST_TEXT,
            Value::Tuple(_) => false,
            _ => true,
        };
        if !small {
            let message = format!("`{name}` can keep a number or a short text only");
            return Err(Fault::new(span, message));
        }
        self.values.insert(name.to_owned(), value);
        Ok(())
    }
}

#[derive(Clone, Debug)]
struct Assertion {
    span: Span,
    /// As it is written.
    text: String,
    condition: Node,
    message: Option<Node>,
    /// The fields that the condition looks at.
    fields: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Value(Value),
    Field(Span, String),
    Variable(Span, String),
    Not(Box<Node>),
    Unary(Span, char, Box<Node>),
    Binary(Span, &'static str, Box<Node>, Box<Node>),
    Compare(Span, Box<Node>, Vec<(&'static str, Node)>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Tuple(Vec<Node>),
    Apply(Span, &'static str, Vec<Node>),
}

impl Program {
    /// Reads a block; `known` are the names that the blocks before it gave values, and grows by its
    /// own.
    pub(crate) fn read(block: &Block, known: &mut BTreeSet<String>) -> Result<Self, Fault> {
        let shift = |fault: Fault| {
            let Span { line, column } = fault.span;
            let column = if line == 1 { column + block.span.column - 1 } else { column };
            Fault::new(Span { line: line + block.span.line - 1, column }, fault.message)
        };
        let tokens = tokens(&block.text).map_err(shift)?;
        let mut reader = Reader {
            text: &block.text,
            tokens: &tokens,
            at: 0,
            depth: 0,
            fields: Vec::new(),
            known,
        };
        let mut statements = reader.block().map_err(shift)?;
        for statement in &mut statements {
            let (Statement::Assert(Assertion { span, .. }) | Statement::Assign(span, ..)) =
                statement;
            *span = shift(Fault::new(*span, "")).span;
        }
        Ok(Self { statements })
    }

    /// The number of assertions.
    pub fn len(&self) -> usize {
        self.statements.iter().filter(|statement| matches!(statement, Statement::Assert(_))).count()
    }

    /// True if it asserts nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes the assertions of `info`; the first that fails, or that `info` cannot answer, is told.
    pub(crate) fn run(&self, info: &TcpInfo, variables: &mut Variables) -> Result<(), Fault> {
        for statement in &self.statements {
            let assertion = match statement {
                Statement::Assert(assertion) => assertion,
                Statement::Assign(span, name, node) => {
                    let scope = Scope { info, variables };
                    let value =
                        scope.value(node).map_err(|fault| Fault::new(*span, fault.message))?;
                    variables.keep(*span, name, value)?;
                    continue;
                }
            };
            let scope = Scope { info, variables };
            let fault = |message: String| Fault::new(assertion.span, message);
            let holds = scope.value(&assertion.condition).map_err(|f| fault(f.message))?;
            if holds.truth() {
                continue;
            }
            let mut message = format!("assertion failed: {}", assertion.text);
            let values: Vec<String> = assertion
                .fields
                .iter()
                .filter_map(|name| match info.get(name) {
                    crate::Lookup::Is(value) => Some(format!("{name} is {value}")),
                    _ => None,
                })
                .collect();
            if !values.is_empty() {
                message = format!("{message}; {}", values.join(", "));
            }
            if let Some(Ok(said)) = assertion.message.as_ref().map(|node| scope.value(node)) {
                message = format!("{message} (\"{said}\")");
            }
            return Err(fault(message));
        }
        Ok(())
    }
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    depth: u32,
    fields: Vec<String>,
    known: &'a mut BTreeSet<String>,
}

type Read<T> = Result<T, Fault>;

impl Reader<'_> {
    fn token(&self) -> &Token {
        // The last token is the end, and nothing steps over it.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(&self.token().kind, Kind::Symbol(s) if *s == symbol)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let here = self.is(symbol);
        if here {
            self.advance();
        }
        here
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let here = matches!(&self.token().kind, Kind::Name(name) if name == word);
        if here {
            self.advance();
        }
        here
    }

    fn fault(&self, expected: &str) -> Fault {
        let token = self.token();
        let found = match token.kind {
            Kind::End => "the end of the block".to_owned(),
            Kind::Line => "the end of the statement".to_owned(),
            _ => format!("`{}`", shown(&self.text[token.from..token.to])),
        };
        Fault::new(token.span, format!("expected {expected}, found {found}"))
    }

    fn ends(&self) -> bool {
        matches!(self.token().kind, Kind::Line | Kind::End)
    }

    fn block(&mut self) -> Read<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while matches!(self.token().kind, Kind::Line) {
                self.advance();
            }
            let span = self.token().span;
            if matches!(self.token().kind, Kind::End) {
                return Ok(statements);
            }
            if self.eat_word("assert") {
                statements.push(Statement::Assert(self.assertion(span)?));
            } else if self.eat_word("print") {
                while !self.ends() {
                    self.advance();
                }
            } else if let Some(assignment) = self.assignment(span)? {
                statements.push(assignment);
            } else if !self.eat_word("pass") {
                let token = self.token();
                let word = shown(&self.text[token.from..token.to]);
                let near = hint(&word, ["assert", "print"]);
                let message = format!(
                    "`{word}` is refused{near}: a block may `assert`, `print` and keep values"
                );
                return Err(Fault::new(span, message));
            }
            if !self.ends() {
                return Err(self.fault("the end of the statement"));
            }
        }
    }

    /// `NAME = ...` or `NAME += ...`, if that is what stands here.
    fn assignment(&mut self, span: Span) -> Read<Option<Statement>> {
        let Kind::Name(name) = &self.token().kind else { return Ok(None) };
        let Some(Token { kind: Kind::Symbol(symbol), .. }) = self.tokens.get(self.at + 1) else {
            return Ok(None);
        };
        let operator = match *symbol {
            "=" => None,
            "+=" => Some("+"),
            "-=" => Some("-"),
            "*=" => Some("*"),
            "//=" => Some("//"),
            _ => return Ok(None),
        };
        let name = name.clone();
        let taken = TcpInfo::NAMES.contains(&name.as_str())
            || CONSTANTS.iter().any(|(known, _)| *known == name)
            || FUNCTIONS.contains(&name.as_str());
        if taken {
            return Err(Fault::new(span, format!("`{name}` has a meaning and cannot be set")));
        }
        if operator.is_some() && !self.known.contains(&name) {
            let near = hint(&name, self.known.iter().map(String::as_str));
            return Err(Fault::new(span, format!("unknown name `{}`{near}", shown(&name))));
        }
        self.advance();
        self.advance();
        self.fields.clear();
        let value = self.expression()?;
        let value = match operator {
            None => value,
            Some(operator) => Node::Binary(
                span,
                operator,
                Box::new(Node::Variable(span, name.clone())),
                Box::new(value),
            ),
        };
        self.known.insert(name.clone());
        Ok(Some(Statement::Assign(span, name, value)))
    }

    fn assertion(&mut self, span: Span) -> Read<Assertion> {
        self.fields.clear();
        let from = self.token().from;
        let condition = self.expression()?;
        let to = self.tokens[self.at - 1].to;
        let mut fields = std::mem::take(&mut self.fields);
        fields.sort();
        fields.dedup();
        let message = if self.eat(",") { Some(self.expression()?) } else { None };
        let text = self.text[from..to].split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Assertion { span, text, condition, message, fields })
    }

    fn expression(&mut self) -> Read<Node> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::new(self.token().span, "expressions are nested too deeply"));
        }
        let first = self.conjunction()?;
        let mut all = vec![first];
        while self.eat_word("or") {
            all.push(self.conjunction()?);
        }
        self.depth -= 1;
        if self.eat_word("if") {
            return Err(Fault::new(self.tokens[self.at - 1].span, "`if` is refused"));
        }
        Ok(single(all, Node::Or))
    }

    fn conjunction(&mut self) -> Read<Node> {
        let mut all = vec![self.negation()?];
        while self.eat_word("and") {
            all.push(self.negation()?);
        }
        Ok(single(all, Node::And))
    }

    fn negation(&mut self) -> Read<Node> {
        let mut nots = 0;
        while self.eat_word("not") {
            nots += 1;
        }
        let mut node = self.comparison()?;
        // Any two cancel, but for making a truth of a number.
        let kept = if nots > 2 { 2 - nots % 2 } else { nots };
        for _ in 0..kept {
            node = Node::Not(Box::new(node));
        }
        Ok(node)
    }

    fn comparison(&mut self) -> Read<Node> {
        let first = self.binary(0)?;
        let span = self.token().span;
        let mut rest = Vec::new();
        loop {
            let operator = if let Some(symbol) =
                ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|s| self.is(s))
            {
                self.advance();
                symbol
            } else if self.eat_word("in") {
                "in"
            } else if self.eat_word("not") {
                if !self.eat_word("in") {
                    return Err(self.fault("`in` behind `not`"));
                }
                "not in"
            } else if self.eat_word("is") {
                return Err(Fault::new(span, "`is` is refused; compare with `==`"));
            } else {
                break;
            };
            rest.push((operator, self.binary(0)?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Node::Compare(span, Box::new(first), rest))
    }

    /// The operators of [`LEVELS`] from `level` on.
    fn binary(&mut self, level: usize) -> Read<Node> {
        let Some(symbols) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(symbol) = symbols.iter().find(|s| self.is(s)) {
            let span = self.token().span;
            self.advance();
            let right = self.binary(level + 1)?;
            left = Node::Binary(span, symbol, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Read<Node> {
        let span = self.token().span;
        let mut signs = Vec::new();
        while let Some(sign) = ["-", "+", "~"].into_iter().find(|s| self.is(s)) {
            self.advance();
            signs.push(sign);
            if signs.len() > 8 {
                return Err(Fault::new(span, "too many signs"));
            }
        }
        let mut node = self.atom()?;
        for sign in signs.iter().rev() {
            node = Node::Unary(span, sign.chars().next().unwrap_or('+'), Box::new(node));
        }
        Ok(node)
    }

    fn atom(&mut self) -> Read<Node> {
        let span = self.token().span;
        let node = match self.token().kind.clone() {
            Kind::Int(n) => Node::Value(Value::Int(n)),
            Kind::Float(x) => Node::Value(Value::Float(x)),
            Kind::Text(mut text) => {
                self.advance();
                // Texts side by side are one.
                while let Kind::Text(more) = &self.token().kind {
                    text.push_str(more);
                    self.advance();
                }
                return Ok(Node::Value(Value::Text(text)));
            }
            Kind::Name(name) => return self.name(span, &name),
            Kind::Symbol("(") => return self.tuple(")"),
            Kind::Symbol("[") => return self.tuple("]"),
            _ => return Err(self.fault("a number, a name or a text")),
        };
        self.advance();
        Ok(node)
    }

    /// From an opening bracket on.
    fn tuple(&mut self, close: &str) -> Read<Node> {
        self.advance();
        let mut items = Vec::new();
        let mut tuple = close == "]";
        while !self.eat(close) {
            items.push(self.expression()?);
            if self.eat(",") {
                tuple = true;
            } else if !self.is(close) {
                return Err(self.fault(&format!("`,` or `{close}`")));
            }
        }
        if tuple || items.is_empty() {
            return Ok(Node::Tuple(items));
        }
        Ok(single(items, Node::Tuple))
    }

    fn name(&mut self, span: Span, name: &str) -> Read<Node> {
        self.advance();
        let value = match name {
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            "None" => Some(Value::None),
            _ => CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, n)| Value::Int(*n)),
        };
        if let Some(value) = value {
            return Ok(Node::Value(value));
        }
        if TcpInfo::NAMES.contains(&name) {
            self.fields.push(name.to_owned());
            return Ok(Node::Field(span, name.to_owned()));
        }
        if self.known.contains(name) {
            return Ok(Node::Variable(span, name.to_owned()));
        }
        if let Some(function) = FUNCTIONS.into_iter().find(|known| *known == name)
            && self.is("(")
        {
            let Node::Tuple(args) = (match self.tuple(")")? {
                tuple @ Node::Tuple(_) => tuple,
                other => Node::Tuple(vec![other]),
            }) else {
                return Err(self.fault("arguments"));
            };
            return Ok(Node::Apply(span, function, args));
        }
        let known = TcpInfo::NAMES
            .iter()
            .copied()
            .chain(CONSTANTS.iter().map(|(known, _)| *known))
            .chain(FUNCTIONS)
            .chain(self.known.iter().map(String::as_str));
        let near = hint(name, known);
        Err(Fault::new(span, format!("unknown name `{}`{near}", shown(name))))
    }
}

/// Binary operators from the loosest to the tightest.
const LEVELS: [&[&str]; 6] =
    [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "//", "/", "%"]];

fn single(mut all: Vec<Node>, several: impl Fn(Vec<Node>) -> Node) -> Node {
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            all.extend(last);
            several(all)
        }
    }
}

#[cfg(test)]
mod tests;
