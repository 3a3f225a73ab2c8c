//! The value of an expression.

use std::cmp::Ordering;
use std::fmt;

use crate::error::{Fault, Span};
use crate::info::{Lookup, TcpInfo};

use super::{Node, Variables};

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int(i64),
    Float(f64),
    Text(String),
    Bool(bool),
    None,
    Tuple(Vec<Value>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => write!(f, "{n}"),
            Self::Float(x) => write!(f, "{x}"),
            Self::Text(text) => f.write_str(text),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::None => f.write_str("None"),
            Self::Tuple(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "({})", items.join(", "))
            }
        }
    }
}

impl Value {
    /// As Python sees it.
    pub(crate) fn truth(&self) -> bool {
        match self {
            Self::Int(n) => *n != 0,
            Self::Float(x) => *x != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Bool(truth) => *truth,
            Self::None => false,
            Self::Tuple(items) => !items.is_empty(),
        }
    }

    const fn int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            Self::Bool(truth) => Some(*truth as i64),
            _ => None,
        }
    }

    const fn float(&self) -> Option<f64> {
        match self {
            Self::Float(x) => Some(*x),
            _ => match self.int() {
                Some(n) => Some(n as f64),
                None => None,
            },
        }
    }

    fn compare(&self, other: &Self) -> Option<Ordering> {
        if let (Some(a), Some(b)) = (self.int(), other.int()) {
            return Some(a.cmp(&b));
        }
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Tuple(a), Self::Tuple(b)) => {
                let unequal = a
                    .iter()
                    .zip(b)
                    .map(|(a, b)| a.compare(b))
                    .find(|order| *order != Some(Ordering::Equal));
                unequal.unwrap_or_else(|| Some(a.len().cmp(&b.len())))
            }
            (Self::None, Self::None) => Some(Ordering::Equal),
            _ => self.float()?.partial_cmp(&other.float()?),
        }
    }

    const fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::Bool(_) => "a truth",
            Self::None => "None",
            Self::Tuple(_) => "a tuple",
        }
    }
}

/// The values of the names in an expression.
pub(super) struct Scope<'a> {
    pub(super) info: &'a TcpInfo,
    pub(super) variables: &'a Variables,
}

impl Scope<'_> {
    pub(super) fn value(&self, node: &Node) -> Result<Value, Fault> {
        match node {
            Node::Value(value) => Ok(value.clone()),
            Node::Field(span, name) => match self.info.get(name) {
                Lookup::Is(value) => Ok(Value::Int(value)),
                Lookup::NotGiven => {
                    Err(Fault::new(*span, format!("`{name}` is not given by this stack")))
                }
                Lookup::Unknown => Err(Fault::new(*span, format!("unknown name `{name}`"))),
            },
            Node::Variable(span, name) => self
                .variables
                .values
                .get(name)
                .cloned()
                .ok_or_else(|| Fault::new(*span, format!("`{name}` has no value yet"))),
            Node::Not(node) => Ok(Value::Bool(!self.value(node)?.truth())),
            Node::Unary(span, sign, node) => unary(*span, *sign, &self.value(node)?),
            Node::Binary(span, symbol, left, right) => {
                binary(*span, symbol, &self.value(left)?, &self.value(right)?)
            }
            Node::Compare(span, first, rest) => self.compare(*span, first, rest),
            Node::And(all) => {
                let mut last = Value::Bool(true);
                for node in all {
                    last = self.value(node)?;
                    if !last.truth() {
                        break;
                    }
                }
                Ok(last)
            }
            Node::Or(all) => {
                let mut last = Value::Bool(false);
                for node in all {
                    last = self.value(node)?;
                    if last.truth() {
                        break;
                    }
                }
                Ok(last)
            }
            Node::Tuple(items) => self.all(items).map(Value::Tuple),
            Node::Apply(span, function, args) => apply(*span, function, self.all(args)?),
        }
    }

    fn all(&self, nodes: &[Node]) -> Result<Vec<Value>, Fault> {
        nodes.iter().map(|node| self.value(node)).collect()
    }

    fn compare(
        &self,
        span: Span,
        first: &Node,
        rest: &[(&'static str, Node)],
    ) -> Result<Value, Fault> {
        let mut left = self.value(first)?;
        for (operator, node) in rest {
            let right = self.value(node)?;
            if !holds(span, &left, operator, &right)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }
}

fn holds(span: Span, left: &Value, operator: &str, right: &Value) -> Result<bool, Fault> {
    let equal = |a: &Value, b: &Value| a.compare(b) == Some(Ordering::Equal);
    let within = || match (left, right) {
        (_, Value::Tuple(items)) => Ok(items.iter().any(|item| equal(left, item))),
        (Value::Text(part), Value::Text(whole)) => Ok(whole.contains(part.as_str())),
        _ => Err(Fault::new(span, format!("`in` needs a tuple, not {}", right.kind()))),
    };
    match operator {
        "==" => return Ok(equal(left, right)),
        "!=" => return Ok(!equal(left, right)),
        "in" => return within(),
        "not in" => return within().map(|inside| !inside),
        _ => {}
    }
    let Some(order) = left.compare(right) else {
        let message = format!("cannot compare {} with {}", left.kind(), right.kind());
        return Err(Fault::new(span, message));
    };
    Ok(match operator {
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    })
}

fn unary(span: Span, sign: char, value: &Value) -> Result<Value, Fault> {
    let result = match (sign, value) {
        ('-', Value::Float(x)) => Some(Value::Float(-x)),
        ('+', Value::Float(x)) => Some(Value::Float(*x)),
        ('-', _) => value.int().and_then(i64::checked_neg).map(Value::Int),
        ('~', _) => value.int().map(|n| Value::Int(!n)),
        _ => value.int().map(Value::Int),
    };
    result.ok_or_else(|| Fault::new(span, format!("`{sign}` does not apply to {}", value.kind())))
}

fn binary(span: Span, symbol: &str, left: &Value, right: &Value) -> Result<Value, Fault> {
    if let (Value::Text(format), "%") = (left, symbol) {
        return Ok(Value::Text(formatted(format, right)));
    }
    if let (Value::Text(a), "+", Value::Text(b)) = (left, symbol, right) {
        return Ok(Value::Text(format!("{a}{b}")));
    }
    let fault = || {
        let message = format!("cannot compute {left} {symbol} {right}");
        Fault::new(span, message)
    };
    if let (Some(a), Some(b)) = (left.int(), right.int())
        && symbol != "/"
    {
        let shift = u32::try_from(b).ok().filter(|shift| *shift < 63);
        let result = match symbol {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            // Python rounds down.
            "//" => a.checked_div_euclid(b).map(|q| q - i64::from(b < 0 && a % b != 0)),
            "%" => a.checked_rem_euclid(b).map(|r| if b < 0 && r != 0 { r + b } else { r }),
            "|" => Some(a | b),
            "&" => Some(a & b),
            "^" => Some(a ^ b),
            "<<" => shift.and_then(|shift| a.checked_mul(1 << shift)),
            _ => shift.map(|shift| a >> shift),
        };
        return result.map(Value::Int).ok_or_else(fault);
    }
    let (Some(a), Some(b)) = (left.float(), right.float()) else { return Err(fault()) };
    match symbol {
        "+" => Ok(Value::Float(a + b)),
        "-" => Ok(Value::Float(a - b)),
        "*" => Ok(Value::Float(a * b)),
        "/" if b != 0.0 => Ok(Value::Float(a / b)),
        "//" if b != 0.0 => Ok(Value::Float((a / b).floor())),
        _ => Err(fault()),
    }
}

/// `format % values`: each `%d`, `%s` and so on takes the next value.
fn formatted(format: &str, values: &Value) -> String {
    let mut values = match values {
        Value::Tuple(items) => items.iter(),
        other => std::slice::from_ref(other).iter(),
    };
    let mut text = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('d' | 'i' | 'u' | 's' | 'r' | 'f' | 'x') => {
                text.push_str(&values.next().map_or_else(String::new, ToString::to_string));
            }
            Some('%') | None => text.push('%'),
            Some(other) => text.extend(['%', other]),
        }
    }
    text
}

fn apply(span: Span, function: &str, args: Vec<Value>) -> Result<Value, Fault> {
    let fault = || Fault::new(span, format!("these are no arguments of `{function}`"));
    // `max((1, 2))` is `max(1, 2)`.
    let args = match args.as_slice() {
        [Value::Tuple(items)] if matches!(function, "max" | "min") => items.clone(),
        _ => args,
    };
    let best = |wanted: Ordering| {
        let mut args = args.iter();
        let mut best = args.next()?;
        for value in args {
            if value.compare(best)? == wanted {
                best = value;
            }
        }
        Some(best.clone())
    };
    let value = match (function, args.as_slice()) {
        ("max", _) => best(Ordering::Greater),
        ("min", _) => best(Ordering::Less),
        ("abs", [Value::Float(x)]) => Some(Value::Float(x.abs())),
        ("abs", [value]) => value.int().and_then(i64::checked_abs).map(Value::Int),
        ("int", [Value::Float(x)]) if x.abs() < 9e15 => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "cut off as Python does, below 2^53"
            )]
            let whole = *x as i64;
            Some(Value::Int(whole))
        }
        ("int", [value]) => value.int().map(Value::Int),
        ("str", [value]) => Some(Value::Text(value.to_string())),
        ("len", [Value::Text(text)]) => i64::try_from(text.chars().count()).ok().map(Value::Int),
        ("len", [Value::Tuple(items)]) => i64::try_from(items.len()).ok().map(Value::Int),
        _ => None,
    };
    value.ok_or_else(fault)
}
