//! Evaluation of snippets.

use crate::code::{Binary, Comparison, Expr, Statement, StatementKind, Unary};
use crate::problem::Problem;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// Value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Tuple(Vec<Value>),
}

/// Longest text that a snippet may produce, in bytes.
const LONGEST_TEXT: usize = 10_000;

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Value::Int(number) => *number != 0,
            Value::Float(number) => *number != 0.0,
            Value::Bool(truth) => *truth,
            Value::Text(text) => !text.is_empty(),
            Value::Tuple(items) => !items.is_empty(),
        }
    }

    fn integer(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            Value::Bool(truth) => Some(i64::from(*truth)),
            _ => None,
        }
    }

    fn float(&self) -> Option<f64> {
        match self {
            Value::Float(number) => Some(*number),
            other => other.integer().map(|number| number as f64),
        }
    }

    fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Tuple(a), Value::Tuple(b)) => (a == b).then_some(Ordering::Equal),
            _ => match (self.integer(), other.integer()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => self.float()?.partial_cmp(&other.float()?),
            },
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number:?}"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Text(text) => f.write_str(text),
            Value::Tuple(items) => {
                f.write_str("(")?;
                for (n, item) in items.iter().enumerate() {
                    let comma = if n > 0 { ", " } else { "" };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Names that a snippet can read and assign.
pub(crate) struct Scope<'a> {
    /// True if an open socket exists whose `tcp_info` can be read.
    pub(crate) is_connected: bool,
    /// Function that returns a `tcp_info` field or constant by name. `None` for an unknown name.
    pub(crate) state: &'a dyn Fn(&str) -> Option<i64>,
    /// Variables that earlier snippets assigned.
    pub(crate) variables: &'a mut BTreeMap<String, Value>,
    /// Output of snippets.
    pub(crate) output: &'a mut Vec<String>,
}

impl Scope<'_> {
    pub(crate) fn run(&mut self, statements: &[Statement]) -> Result<(), Problem> {
        statements
            .iter()
            .try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Problem> {
        let line = statement.line;
        match &statement.kind {
            StatementKind::Assert(condition, message, words) => {
                if self.value(condition, line)?.is_true() {
                    return Ok(());
                }
                let actual = self.names_of(condition, line)?;
                let mut text = "the assertion does not hold".to_owned();
                if let Some(message) = message {
                    text.push_str(": ");
                    text.push_str(&self.value(message, line)?.to_string());
                }
                Err(Problem::failed(line, text).between(words.as_str(), actual))
            }
            StatementKind::Print(items) => {
                // `print(a, b)` and `print a, b` print the same, so a single tuple is printed as
                // its items.
                let items = match items.as_slice() {
                    [Expr::Tuple(inner)] => inner,
                    several => several,
                };
                let values = items.iter().map(|item| self.value(item, line));
                let texts: Result<Vec<String>, Problem> =
                    values.map(|value| Ok(value?.to_string())).collect();
                self.output.push(texts?.join(" "));
                Ok(())
            }
            StatementKind::Assign(name, value) => {
                let value = self.value(value, line)?;
                self.variables.insert(name.clone(), value);
                Ok(())
            }
        }
    }

    /// Returns the names in an expression with their values, in the form `tcpi_snd_cwnd = 10`.
    fn names_of(&self, expr: &Expr, line: usize) -> Result<String, Problem> {
        let mut names = Vec::new();
        collect_names(expr, &mut names);
        let known = names.iter().filter(|name| !name.starts_with("TCP_"));
        let pairs = known.map(|name| {
            let value = self.value(&Expr::Name((*name).clone()), line)?;
            Ok(format!("{name} = {value}"))
        });
        let pairs: Result<Vec<String>, Problem> = pairs.collect();
        Ok(pairs?.join(", "))
    }

    fn value(&self, expr: &Expr, line: usize) -> Result<Value, Problem> {
        let wrong = |message: &str| Problem::invalid(line, message.to_owned());
        Ok(match expr {
            Expr::Int(number) => Value::Int(*number),
            Expr::Float(number) => Value::Float(*number),
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Name(name) => self.name(name, line)?,
            Expr::Tuple(items) => {
                let items: Result<Vec<Value>, Problem> =
                    items.iter().map(|item| self.value(item, line)).collect();
                Value::Tuple(items?)
            }
            Expr::Unary(operator, operand) => {
                let value = self.value(operand, line)?;
                unary(*operator, &value).ok_or_else(|| wrong("the operand must be a number"))?
            }
            Expr::Binary(Binary::And, left, right) => {
                let left = self.value(left, line)?;
                if !left.is_true() {
                    return Ok(left);
                }
                self.value(right, line)?
            }
            Expr::Binary(Binary::Or, left, right) => {
                let left = self.value(left, line)?;
                if left.is_true() {
                    return Ok(left);
                }
                self.value(right, line)?
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.value(left, line)?, self.value(right, line)?);
                if let (Binary::Remainder, Value::Text(format)) = (operator, &left) {
                    return format_text(format, &right)
                        .ok_or_else(|| wrong("the text's `%` marks and values do not match"));
                }
                binary(*operator, &left, &right).ok_or_else(|| {
                    wrong("the operands must be numbers, the result must fit 64 bits")
                })?
            }
            Expr::Compare(first, rest) => {
                let mut left = self.value(first, line)?;
                for (operator, right) in rest {
                    let right = self.value(right, line)?;
                    let holds = compare(*operator, &left, &right)
                        .ok_or_else(|| wrong("these values cannot be compared"))?;
                    if !holds {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Value::Bool(true)
            }
            Expr::Call(name, arguments) => {
                let values: Result<Vec<Value>, Problem> =
                    arguments.iter().map(|one| self.value(one, line)).collect();
                call(name, &values?).ok_or_else(|| {
                    let message = format!(
                        "`{name}` is not supported with these arguments; abs, min, max, int, \
                         float, round and str are, with one number or several"
                    );
                    Problem::unsupported(line, message)
                })?
            }
        })
    }

    fn name(&self, name: &str, line: usize) -> Result<Value, Problem> {
        match name {
            "True" => return Ok(Value::Bool(true)),
            "False" => return Ok(Value::Bool(false)),
            _ => {}
        }
        if let Some(value) = self.variables.get(name) {
            return Ok(value.clone());
        }
        if name.starts_with("tcpi_") && !self.is_connected {
            let message = format!("no connected socket is open to read `{name}` from");
            return Err(Problem::failed(line, message));
        }
        (self.state)(name).map(Value::Int).ok_or_else(|| {
            if name.starts_with("tcpi_") || name.starts_with("TCP") {
                Problem::unsupported(line, format!("`{name}` is not supported"))
            } else {
                Problem::invalid(line, format!("nothing is called `{name}`"))
            }
        })
    }
}

fn collect_names(expr: &Expr, names: &mut Vec<String>) {
    match expr {
        Expr::Name(name) if !names.contains(name) => names.push(name.clone()),
        Expr::Tuple(items) | Expr::Call(_, items) => {
            items.iter().for_each(|item| collect_names(item, names));
        }
        Expr::Unary(_, operand) => collect_names(operand, names),
        Expr::Binary(_, left, right) => {
            collect_names(left, names);
            collect_names(right, names);
        }
        Expr::Compare(first, rest) => {
            collect_names(first, names);
            rest.iter()
                .for_each(|(_, right)| collect_names(right, names));
        }
        _ => {}
    }
}

fn unary(operator: Unary, value: &Value) -> Option<Value> {
    Some(match (operator, value) {
        (Unary::Not, value) => Value::Bool(!value.is_true()),
        (Unary::Minus, Value::Float(number)) => Value::Float(-number),
        (Unary::Plus, Value::Float(number)) => Value::Float(*number),
        (Unary::Minus, value) => Value::Int(value.integer()?.checked_neg()?),
        (Unary::Plus, value) => Value::Int(value.integer()?),
        (Unary::Invert, value) => Value::Int(!value.integer()?),
    })
}

fn binary(operator: Binary, left: &Value, right: &Value) -> Option<Value> {
    if operator == Binary::Add
        && let (Value::Text(a), Value::Text(b)) = (left, right)
    {
        return (a.len() + b.len() < LONGEST_TEXT).then(|| Value::Text(format!("{a}{b}")));
    }
    let both = left.integer().zip(right.integer());
    if let Some((a, b)) = both
        && operator != Binary::Divide
    {
        return whole(operator, a, b).map(Value::Int);
    }
    let (a, b) = (left.float()?, right.float()?);
    let result = match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide if b != 0.0 => a / b,
        Binary::FloorDivide if b != 0.0 => (a / b).floor(),
        Binary::Remainder if b != 0.0 => a - b * (a / b).floor(),
        Binary::Power => fadeout_core::math::pow(a, b),
        _ => return None,
    };
    Some(Value::Float(result))
}

fn whole(operator: Binary, a: i64, b: i64) -> Option<i64> {
    let shift = || u32::try_from(b).ok().filter(|bits| *bits < 63);
    match operator {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        // Python's floor division rounds towards negative infinity.
        Binary::FloorDivide => {
            let quotient = a.checked_div(b)?;
            let rounds = a % b != 0 && (a < 0) != (b < 0);
            Some(quotient - i64::from(rounds))
        }
        Binary::Remainder => {
            let remainder = a.checked_rem(b)?;
            let differs = remainder != 0 && (remainder < 0) != (b < 0);
            Some(if differs { remainder + b } else { remainder })
        }
        Binary::Power => a.checked_pow(u32::try_from(b).ok()?),
        Binary::BitOr => Some(a | b),
        Binary::BitXor => Some(a ^ b),
        Binary::BitAnd => Some(a & b),
        Binary::ShiftLeft => a.checked_mul(1_i64 << shift()?),
        Binary::ShiftRight => Some(a >> shift()?),
        _ => None,
    }
}

fn compare(operator: Comparison, left: &Value, right: &Value) -> Option<bool> {
    if let Comparison::In | Comparison::NotIn = operator {
        let Value::Tuple(items) = right else {
            return None;
        };
        let is_in = items
            .iter()
            .any(|item| left.compare(item) == Some(Ordering::Equal));
        return Some(is_in == (operator == Comparison::In));
    }
    let order = left.compare(right);
    Some(match operator {
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::NotEqual => order != Some(Ordering::Equal),
        Comparison::Less => order? == Ordering::Less,
        Comparison::LessEqual => order? != Ordering::Greater,
        Comparison::Greater => order? == Ordering::Greater,
        _ => order? != Ordering::Less,
    })
}

fn call(name: &str, values: &[Value]) -> Option<Value> {
    let items = match values {
        [Value::Tuple(items)] => items,
        several => several,
    };
    let pick = |wanted: Ordering| {
        let mut best = items.first()?;
        for item in items {
            if item.compare(best)? == wanted {
                best = item;
            }
        }
        Some(best.clone())
    };
    match (name, values) {
        ("min", _) => pick(Ordering::Less),
        ("max", _) => pick(Ordering::Greater),
        ("abs", [Value::Float(number)]) => Some(Value::Float(number.abs())),
        ("abs", [value]) => Some(Value::Int(value.integer()?.checked_abs()?)),
        // A float-to-int cast saturates. The integers of a connection are far from the limits.
        ("int", [value]) => Some(Value::Int(
            value
                .integer()
                .or(value.float().map(|number| number as i64))?,
        )),
        ("round", [value]) => Some(Value::Int(value.float()?.round() as i64)),
        ("float", [value]) => Some(Value::Float(value.float()?)),
        ("str", [value]) => Some(Value::Text(value.to_string())),
        _ => None,
    }
}

/// Formats `'…%d…' % values` of Python with `%d`, `%u`, `%s`, `%f` and `%x`, without widths.
fn format_text(format: &str, values: &Value) -> Option<Value> {
    let items = match values {
        Value::Tuple(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut items = items.iter();
    let mut text = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        match chars.by_ref().find(|c| !matches!(c, '0'..='9' | '.'))? {
            '%' => text.push('%'),
            'd' | 'u' | 'i' => text.push_str(&(items.next()?.float()? as i64).to_string()),
            's' | 'r' => text.push_str(&items.next()?.to_string()),
            'f' | 'g' => text.push_str(&format!("{:.6}", items.next()?.float()?)),
            'x' => text.push_str(&format!("{:x}", items.next()?.integer()?)),
            _ => return None,
        }
        if text.len() > LONGEST_TEXT {
            return None;
        }
    }
    items.next().is_none().then_some(Value::Text(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code;
    use crate::problem::ProblemKind;

    fn run(text: &str) -> Result<Vec<String>, Problem> {
        let state = |name: &str| match name {
            "tcpi_snd_cwnd" => Some(10),
            "tcpi_rtt" => Some(100_500),
            "TCP_CA_Open" => Some(0),
            _ => None,
        };
        let (mut variables, mut output) = (BTreeMap::new(), Vec::new());
        let statements = code::parse(text, 1)?;
        let mut scope = Scope {
            is_connected: true,
            state: &state,
            variables: &mut variables,
            output: &mut output,
        };
        scope.run(&statements)?;
        Ok(output)
    }

    #[test]
    fn what_python_says_is_true_is_true() {
        for text in [
            "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
            "assert 9 < tcpi_snd_cwnd <= 10 and not tcpi_snd_cwnd > 10",
            "assert -7 // 2 == -4 and -7 % 3 == 2 and 2 ** 3 ** 2 == 512 and 7 / 2 == 3.5",
            "assert (1 | 6) & 5 == 5 and 1 << 4 == 16",
            "assert tcpi_snd_cwnd in (9, 10) and 3 not in [1, 2]",
            "assert abs(tcpi_rtt - 100000) < 1000\nx = max(3, 4); assert x == 4",
            "assert (tcpi_snd_cwnd ==\n 10), 'a %d%%' % tcpi_snd_cwnd # why",
            "assert 1e3 == 1000 and 0x10 == 16 and True",
        ] {
            run(text).unwrap_or_else(|problem| panic!("{text}: {}", problem.message));
        }
    }

    #[test]
    fn a_failed_assertion_tells_the_values() {
        let problem = run("\nassert tcpi_snd_cwnd == 11, 'cwnd %d' % tcpi_snd_cwnd")
            .expect_err("it does not hold");
        assert_eq!(problem.line, 2);
        assert!(problem.message.ends_with("cwnd 10"), "{}", problem.message);
        assert_eq!(problem.actual.as_deref(), Some("tcpi_snd_cwnd = 10"));
    }

    #[test]
    fn printing_gives_text() {
        let lines = run("print tcpi_snd_cwnd\nprint('a', 1.5)").expect("it prints");
        assert_eq!(lines, ["10", "a 1.5"]);
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (text, word) in [
            ("if 1: pass", "if"),
            ("assert tcpi_nonsense == 1", "tcpi_nonsense"),
            ("assert open('x')", "open"),
        ] {
            let problem = run(text).expect_err("it is refused");
            assert_eq!(problem.kind, ProblemKind::Unsupported);
            assert!(problem.message.contains(word), "{}", problem.message);
        }
    }

    #[test]
    fn hostile_expressions_are_refused() {
        let deep = format!("assert {}1", "(".repeat(10_000));
        let long = format!("assert {}1", "1+".repeat(10_000));
        let minus = format!("assert {}1", "-".repeat(10_000));
        for text in [
            &deep,
            &long,
            &minus,
            "assert 9**9**9",
            "assert 1//0",
            "assert 1<<99",
        ] {
            let problem = run(text).expect_err("it is refused");
            assert_eq!(problem.kind, ProblemKind::Invalid, "{}", problem.message);
        }
    }
}
