//! Parser of snippets between `%{` and `}%`. Their language is the subset of Python that scripts
//! use to check `tcp_info`.

use crate::cursor::Cursor;
use crate::problem::Problem;

/// Statement of a snippet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub(crate) line: usize,
    pub(crate) kind: StatementKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StatementKind {
    /// Statement `assert condition, message`, with the text of the condition.
    Assert(Expr, Option<Expr>, String),
    /// Statement `print a, b` or `print(a, b)`.
    Print(Vec<Expr>),
    /// Assignment `name = value`. For `name += value`, the stored expression is the sum.
    Assign(String, Expr),
}

/// Expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    Int(i64),
    Float(f64),
    Text(String),
    Name(String),
    Tuple(Vec<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// Comparison chain `a < b <= c`. It is true if each neighbouring pair satisfies its
    /// comparison.
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    Call(String, Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unary {
    Minus,
    Plus,
    Not,
    Invert,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
}

/// Deepest nesting of an expression.
const DEEPEST: u32 = 64;
/// Largest number of nodes in all expressions of a snippet. A chain of operators is nested as
/// deeply as it is long.
const LONGEST: u32 = 2_000;

/// Keywords of Python that are not supported.
const REFUSED: [&str; 16] = [
    "if", "for", "while", "def", "class", "import", "from", "try", "with", "return", "lambda",
    "global", "del", "exec", "pass", "raise",
];

/// Augmented assignments such as `+=`, with the operator that each one applies.
const ASSIGNMENTS: [(&str, Binary); 9] = [
    ("//=", Binary::FloorDivide),
    ("+=", Binary::Add),
    ("-=", Binary::Subtract),
    ("*=", Binary::Multiply),
    ("/=", Binary::Divide),
    ("%=", Binary::Remainder),
    ("|=", Binary::BitOr),
    ("&=", Binary::BitAnd),
    ("^=", Binary::BitXor),
];

/// Reads the statements of a snippet that starts at `line`.
pub(crate) fn parse(text: &str, line: usize) -> Result<Vec<Statement>, Problem> {
    let mut reader = Reader {
        cursor: Cursor::new(text, line),
        brackets: 0,
        depth: 0,
        nodes: 0,
    };
    let mut statements = Vec::new();
    loop {
        reader.skip_separators();
        if reader.cursor.is_done() {
            return Ok(statements);
        }
        statements.push(reader.statement()?);
        reader.skip_space();
        let next = reader.cursor.peek();
        if !matches!(next, None | Some('\n' | ';')) {
            return Err(reader.cursor.expected("the end of the statement"));
        }
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    /// Number of open brackets, within which a line break is a space.
    brackets: u32,
    depth: u32,
    nodes: u32,
}

impl Reader<'_> {
    fn skip_separators(&mut self) {
        loop {
            self.cursor
                .take_while(|c| c.is_whitespace() || c == ';' || c == '\\');
            if !self.cursor.starts_with("#") {
                return;
            }
            self.cursor.take_while(|c| c != '\n');
        }
    }

    fn skip_space(&mut self) {
        loop {
            let multiline = self.brackets > 0;
            self.cursor
                .take_while(|c| c.is_whitespace() && (multiline || c != '\n'));
            if self.cursor.skip_prefix("\\\n") {
                continue;
            }
            if !self.cursor.starts_with("#") {
                return;
            }
            self.cursor.take_while(|c| c != '\n');
        }
    }

    fn skip_symbol(&mut self, symbol: &str) -> bool {
        self.skip_space();
        self.cursor.skip_prefix(symbol)
    }

    /// Skips `word` and returns true if `word` is the next whole word.
    fn take_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let mut ahead = self.cursor.clone();
        let is_next = ahead.word() == word;
        if is_next {
            self.cursor = ahead;
        }
        is_next
    }

    fn statement(&mut self) -> Result<Statement, Problem> {
        let line = self.cursor.line();
        let mut ahead = self.cursor.clone();
        let word = ahead.word();
        if REFUSED.contains(&word) {
            let message = format!(
                "`{word}` is not supported in a snippet; `assert`, `print` and `name = value` are"
            );
            return Err(Problem::unsupported(line, message));
        }
        let kind = match word {
            "assert" => {
                self.cursor = ahead;
                self.skip_space();
                let start = self.cursor.clone();
                let condition = self.expression()?;
                let length = start.rest().len() - self.cursor.rest().len();
                let words = start.rest()[..length].trim().to_owned();
                let message = if self.skip_symbol(",") {
                    Some(self.expression()?)
                } else {
                    None
                };
                StatementKind::Assert(condition, message, words)
            }
            "print" => {
                self.cursor = ahead;
                self.skip_space();
                let mut items = Vec::new();
                if !matches!(self.cursor.peek(), None | Some('\n' | ';')) {
                    items.push(self.expression()?);
                    while self.skip_symbol(",") {
                        items.push(self.expression()?);
                    }
                }
                StatementKind::Print(items)
            }
            _ => {
                let name = word.to_owned();
                self.cursor = ahead;
                self.skip_space();
                let operator = ASSIGNMENTS
                    .iter()
                    .find(|(symbol, _)| self.cursor.skip_prefix(symbol))
                    .map(|(_, operator)| *operator);
                let is_plain = self.cursor.starts_with("=") && !self.cursor.starts_with("==");
                if name.is_empty() || (operator.is_none() && !is_plain) {
                    return Err(self.cursor.expected(
                        "a statement: `assert`, `print`, `name = value` or `name += value`",
                    ));
                }
                let value = match operator {
                    Some(operator) => {
                        let old = Expr::Name(name.clone());
                        Expr::Binary(operator, Box::new(old), Box::new(self.expression()?))
                    }
                    None => {
                        self.cursor.skip_prefix("=");
                        self.expression()?
                    }
                };
                StatementKind::Assign(name, value)
            }
        };
        Ok(Statement { line, kind })
    }

    fn expression(&mut self) -> Result<Expr, Problem> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Problem::invalid(
                self.cursor.line(),
                "the expression nests too deeply",
            ));
        }
        let value = self.or();
        self.depth -= 1;
        value
    }

    fn count(&mut self) -> Result<(), Problem> {
        self.nodes += 1;
        if self.nodes > LONGEST {
            return Err(Problem::invalid(
                self.cursor.line(),
                "the snippet is too long",
            ));
        }
        Ok(())
    }

    fn or(&mut self) -> Result<Expr, Problem> {
        let mut left = self.and()?;
        while self.take_word("or") {
            left = self.binary(Binary::Or, left, Self::and)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr, Problem> {
        let mut left = self.not()?;
        while self.take_word("and") {
            left = self.binary(Binary::And, left, Self::not)?;
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expr, Problem> {
        let mut count = 0;
        while self.take_word("not") {
            self.count()?;
            count += 1;
        }
        let mut value = self.comparison()?;
        // Two `not` convert the value to a truth value, so they cannot be dropped. Longer chains
        // reduce to one or two.
        for _ in 0..count.min(2 + count % 2) {
            value = Expr::Unary(Unary::Not, Box::new(value));
        }
        Ok(value)
    }

    fn comparison(&mut self) -> Result<Expr, Problem> {
        let first = self.level(0)?;
        let mut rest = Vec::new();
        while let Some(operator) = self.comparison_operator() {
            self.count()?;
            rest.push((operator, self.level(0)?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Expr::Compare(Box::new(first), rest))
    }

    fn comparison_operator(&mut self) -> Option<Comparison> {
        const OPERATORS: [(&str, Comparison); 7] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<>", Comparison::NotEqual),
            ("<=", Comparison::LessEqual),
            (">=", Comparison::GreaterEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        self.skip_space();
        if self.cursor.starts_with("<<") || self.cursor.starts_with(">>") {
            return None;
        }
        for (symbol, operator) in OPERATORS {
            if self.cursor.skip_prefix(symbol) {
                return Some(operator);
            }
        }
        if self.take_word("in") {
            return Some(Comparison::In);
        }
        let before = self.cursor.clone();
        if self.take_word("not") && self.take_word("in") {
            return Some(Comparison::NotIn);
        }
        self.cursor = before;
        None
    }

    /// Parses the binary operators of one precedence level. Level 0 binds the weakest.
    fn level(&mut self, level: usize) -> Result<Expr, Problem> {
        const LEVELS: [&[(&str, Binary)]; 6] = [
            &[("|", Binary::BitOr)],
            &[("^", Binary::BitXor)],
            &[("&", Binary::BitAnd)],
            &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
            &[("+", Binary::Add), ("-", Binary::Subtract)],
            &[
                ("//", Binary::FloorDivide),
                ("*", Binary::Multiply),
                ("/", Binary::Divide),
                ("%", Binary::Remainder),
            ],
        ];
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.level(level + 1)?;
        loop {
            self.skip_space();
            // `unary` has already parsed `**`, which binds more strongly than `*`.
            let found = operators
                .iter()
                .find(|(symbol, _)| self.cursor.skip_prefix(symbol));
            let Some((_, operator)) = found else {
                return Ok(left);
            };
            left = self.binary(*operator, left, |reader| reader.level(level + 1))?;
        }
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: Expr,
        right: impl FnOnce(&mut Self) -> Result<Expr, Problem>,
    ) -> Result<Expr, Problem> {
        self.count()?;
        let right = right(self)?;
        Ok(Expr::Binary(operator, Box::new(left), Box::new(right)))
    }

    fn unary(&mut self) -> Result<Expr, Problem> {
        let operator = if self.skip_symbol("-") {
            Unary::Minus
        } else if self.skip_symbol("+") {
            Unary::Plus
        } else if self.skip_symbol("~") {
            Unary::Invert
        } else {
            return self.power();
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Problem::invalid(
                self.cursor.line(),
                "the expression nests too deeply",
            ));
        }
        let value = self.unary();
        self.depth -= 1;
        Ok(Expr::Unary(operator, Box::new(value?)))
    }

    fn power(&mut self) -> Result<Expr, Problem> {
        let base = self.atom()?;
        if self.skip_symbol("**") {
            self.depth += 1;
            let power = if self.depth > DEEPEST {
                Err(self.cursor.expected("a simpler expression"))
            } else {
                self.binary(Binary::Power, base, Self::unary)
            };
            self.depth -= 1;
            return power;
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Expr, Problem> {
        self.skip_space();
        self.count()?;
        let before = self.cursor.clone();
        match self.cursor.peek() {
            Some('(' | '[') => self.bracketed(),
            Some(quote @ ('"' | '\'')) => {
                self.cursor.advance(1);
                let text = self.cursor.take_while(|c| c != quote && c != '\n');
                if !self.cursor.skip_prefix(&quote.to_string()) {
                    return Err(before.expected("a string that ends on its line"));
                }
                Ok(Expr::Text(text.to_owned()))
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.cursor.word().to_owned();
                if self.cursor.starts_with("(") {
                    let arguments = match self.bracketed()? {
                        Expr::Tuple(items) => items,
                        one => vec![one],
                    };
                    return Ok(Expr::Call(name, arguments));
                }
                if self.cursor.starts_with(".") || self.cursor.starts_with("[") {
                    let message = format!(
                        "attributes and indices (after `{name}`) are not supported in a snippet"
                    );
                    return Err(Problem::unsupported(self.cursor.line(), message));
                }
                Ok(Expr::Name(name))
            }
            _ => Err(self.cursor.expected("a number, a name, a string or `(`")),
        }
    }

    /// Parses the content of brackets: one expression, or several expressions as a tuple.
    fn bracketed(&mut self) -> Result<Expr, Problem> {
        let close = if self.cursor.skip_prefix("[") {
            "]"
        } else {
            self.cursor.skip_prefix("(");
            ")"
        };
        self.brackets += 1;
        let mut items = Vec::new();
        let mut is_tuple = close == "]";
        while !self.skip_symbol(close) {
            items.push(self.expression()?);
            if self.skip_symbol(",") {
                is_tuple = true;
            } else if self.skip_symbol(close) {
                break;
            } else {
                return Err(self.cursor.expected(&format!("`,` or `{close}`")));
            }
        }
        self.brackets -= 1;
        if !is_tuple && items.len() == 1 {
            return Ok(items.remove(0));
        }
        Ok(Expr::Tuple(items))
    }

    fn number(&mut self) -> Result<Expr, Problem> {
        let before = self.cursor.clone();
        let wrong = || before.expected("a number that fits 64 bits");
        if self.cursor.skip_prefix("0x") {
            let digits = self.cursor.take_while(|c| c.is_ascii_hexdigit());
            return i64::from_str_radix(digits, 16)
                .map(Expr::Int)
                .map_err(|_| wrong());
        }
        let mut text = self
            .cursor
            .take_while(|c| c.is_ascii_digit() || c == '.')
            .to_owned();
        if self.cursor.starts_with("e") || self.cursor.starts_with("E") {
            self.cursor.advance(1);
            text.push('e');
            text.push_str(self.cursor.take_while(|c| c.is_ascii_digit() || c == '-'));
        }
        if text.contains(['.', 'e']) {
            return text.parse().map(Expr::Float).map_err(|_| wrong());
        }
        text.parse().map(Expr::Int).map_err(|_| wrong())
    }
}
