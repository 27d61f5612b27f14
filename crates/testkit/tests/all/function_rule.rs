//! Limits of a function: its length, and the tuples among its parameters.

use super::shrinking::{self, Counts};
use super::source::{Token, closing, is_test_file, sources, tokens, without_tests};

/// Maximum number of code lines of a function, from its `fn` to its last brace. Seventy lines fill
/// a screen. Blank lines and lines with only comments do not count. A literal counts as its first
/// line, because it is data.
const MOST_LINES: usize = 70;

/// Types with several meanings that the compiler cannot distinguish.
const PRIMITIVE: [&str; 17] = [
    "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "usize", "u8",
    "u16", "u32", "u64", "u128",
];

/// A function of a source.
struct Function<'a> {
    name: &'a str,
    /// Tokens between the brackets of the parameters.
    parameters: &'a [Token],
    /// Tokens from `fn` to the last brace.
    all: &'a [Token],
}

impl Function<'_> {
    /// Returns the number of lines on which a token begins.
    fn lines(&self) -> usize {
        let mut lines: Vec<usize> = self.all.iter().map(|token| token.line).collect();
        lines.dedup();
        lines.len()
    }

    /// Returns the number of parameters that are tuples with two elements of one primitive type.
    fn alike_tuples(&self) -> usize {
        let parameters = split(self.parameters);
        parameters
            .filter(|parameter| is_alike_tuple(parameter))
            .count()
    }
}

/// Returns the functions with a body, including those inside others.
fn functions(tokens: &[Token]) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for i in 0..tokens.len() {
        // `fn(u8)` is a type, and `fn $name` is in a macro.
        let is_name = |token: &Token| {
            token
                .text
                .starts_with(|c: char| c.is_alphabetic() || c == '_')
        };
        let name = tokens.get(i + 1).filter(|name| is_name(name));
        let (true, Some(name)) = (tokens[i].text == "fn", name) else {
            continue;
        };
        let Some(open) = opening(tokens, i + 2) else {
            continue;
        };
        let close = closing(tokens, open);
        let Some(body) =
            (close..tokens.len()).find(|&at| matches!(tokens[at].text.as_str(), "{" | ";"))
        else {
            continue;
        };
        let end = if tokens[body].text == "{" {
            closing(tokens, body)
        } else {
            body
        };
        found.push(Function {
            name: &name.text,
            parameters: &tokens[open + 1..close],
            all: &tokens[i..tokens.len().min(end + 1)],
        });
    }
    found
}

/// Returns the index of the bracket in front of the parameters. Generics may begin at `from`.
/// `None` if there is no bracket.
fn opening(tokens: &[Token], from: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(from) {
        match token.text.as_str() {
            "<" => depth += 1,
            ">" => depth -= 1,
            "(" if depth == 0 => return Some(i),
            _ => {}
        }
    }
    None
}

/// Splits tokens at the commas that are in no bracket.
fn split(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let mut depth = 0;
    tokens.split(move |token| {
        match token.text.as_str() {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            _ => {}
        }
        depth == 0 && token.text == ","
    })
}

/// True if a parameter, `pattern: type`, is a tuple with two elements of one primitive type, or
/// refers to one.
fn is_alike_tuple(parameter: &[Token]) -> bool {
    let mut depth = 0;
    let colon = parameter.iter().position(|token| {
        match token.text.as_str() {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            _ => {}
        }
        depth == 0 && token.text == ":"
    });
    let Some(colon) = colon else { return false };
    let kind = bare(&parameter[colon + 1..]);
    let [first, inner @ .., last] = kind else {
        return false;
    };
    if first.text != "(" || last.text != ")" {
        return false;
    }
    let mut seen: Vec<&str> = Vec::new();
    split(inner).any(|element| {
        let [only] = bare(element) else { return false };
        let name = only.text.as_str();
        let is_again = seen.contains(&name);
        seen.push(name);
        is_again && PRIMITIVE.contains(&name)
    })
}

/// Returns a type without the references in front of it.
fn bare(kind: &[Token]) -> &[Token] {
    let mut kind = kind;
    loop {
        match kind {
            [sign, rest @ ..] if matches!(sign.text.as_str(), "&" | "mut") => kind = rest,
            [sign, _, rest @ ..] if sign.text == "'" => kind = rest,
            _ => return kind,
        }
    }
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let mut found = Counts::new();
    for (path, text) in sources(&["src", "tests"]) {
        for function in functions(&tokens(&text)) {
            let lines = function.lines();
            if lines > MOST_LINES {
                let known = found
                    .entry(format!("{path},{}", function.name))
                    .or_default();
                *known = lines.max(*known);
            }
        }
    }
    let rule = format!("a function has at most {MOST_LINES} lines of code");
    shrinking::check("long_functions.csv", &rule, &found);
}

#[test]
fn no_parameter_is_a_tuple_of_elements_that_can_be_mixed_up() {
    let mut found = Counts::new();
    for (path, text) in sources(&["src"]) {
        if is_test_file(&path) {
            continue;
        }
        let tokens = without_tests(&tokens(&text));
        let functions = functions(&tokens);
        let count = functions
            .iter()
            .filter(|function| function.alike_tuples() > 0)
            .count();
        if count > 0 {
            found.insert(path, count);
        }
    }
    let rule = "a parameter is no tuple with two elements of one primitive type: make it a struct";
    shrinking::check("tuple_parameters.csv", rule, &found);
}

#[test]
fn lines_of_code_are_counted_without_comments_and_text() {
    let source = "
        #[test]
        pub fn long<T: Fn(u8) -> u8>(
            a: T,
        ) -> u8 {
            // A comment.

            let text = \"one
                line\";
            /* another
               comment */
            fn inner() { a() }
        }
        trait Tells { fn told(&self); }
        type Taken = fn(u8);
    ";
    let tokens = tokens(source);
    let functions = functions(&tokens);
    let found: Vec<(&str, usize)> = functions
        .iter()
        .map(|found| (found.name, found.lines()))
        .collect();
    assert_eq!(found, [("long", 7), ("inner", 1), ("told", 1)]);
}

#[test]
fn a_tuple_counts_if_two_of_its_elements_are_of_one_primitive_type() {
    let alike = [
        "(slot, target): (u64, u64)",
        "(a, b, c): (u32, bool, u32)",
        "pair: &'a mut (f64, Time, f64)",
        "self, names: (&'a str, &'b str)",
        "(a, b): (usize, usize), rest: u8",
    ];
    let apart = [
        "(slot, target): (Slot, Slot)",
        "(bytes, takes): (u32, bool)",
        "rows: &[(u64, u64)]",
        "slot: u64, target: u64",
        "run: impl Fn(u64, u64)",
        "nothing: ()",
        "&mut self",
    ];
    let count = |parameters: &str| {
        let tokens = tokens(&format!("fn f({parameters}) {{}}"));
        functions(&tokens)[0].alike_tuples()
    };
    for parameters in alike {
        assert_eq!(count(parameters), 1, "{parameters}");
    }
    for parameters in apart {
        assert_eq!(count(parameters), 0, "{parameters}");
    }
}
