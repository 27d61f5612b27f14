//! Shell commands of a script, split into words as a shell does. The commands are not executed.

use std::iter::Peekable;
use std::str::Chars;

/// Commands as lists of words, in the order in which a shell would run them.
pub(crate) type Commands = Vec<Vec<String>>;

/// Splits `text` at line breaks, `;` and `&&`, outside of quotes. It removes redirections and
/// computes `$((...))`. Commands after `||` are left out, because the commands known here succeed.
///
/// # Errors
/// Returns an error that names a part of the shell that is not supported: pipes, jobs in the
/// background, variables.
pub(crate) fn split(text: &str) -> Result<Commands, String> {
    let mut reader = Reader {
        chars: text.chars().peekable(),
        commands: Vec::new(),
        command: Vec::new(),
        word: None,
        is_skipped: false,
    };
    reader.read()?;
    Ok(reader.commands)
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    commands: Commands,
    command: Vec<String>,
    /// Current word, which may be empty.
    word: Option<String>,
    /// True if the command follows `||`.
    is_skipped: bool,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), String> {
        while let Some(c) = self.chars.next() {
            match c {
                '\\' => match self.chars.next() {
                    Some('\n') | None => self.end_word(),
                    Some(escaped) => self.push(escaped),
                },
                '\'' | '"' => self.quoted(c)?,
                '$' => {
                    let value = self.expansion()?;
                    value.chars().for_each(|c| self.push(c));
                }
                '#' if self.word.is_none() => {
                    while self.chars.peek().is_some_and(|&c| c != '\n') {
                        self.chars.next();
                    }
                }
                '>' => self.redirection(),
                '&' if self.chars.peek() == Some(&'&') => {
                    self.chars.next();
                    self.end_command(false);
                }
                '&' if self.chars.peek() == Some(&'>') => {
                    self.chars.next();
                    self.redirection();
                }
                '|' if self.chars.peek() == Some(&'|') => {
                    self.chars.next();
                    self.end_command(true);
                }
                '|' => return Err("a pipe".to_owned()),
                '&' => return Err("a job in the background".to_owned()),
                '`' | '<' | '(' | ')' => return Err(format!("`{c}` in a command")),
                ';' | '\n' => self.end_command(false),
                _ if c.is_whitespace() => self.end_word(),
                _ => self.push(c),
            }
        }
        self.end_command(false);
        Ok(())
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        self.command.extend(self.word.take());
    }

    fn end_command(&mut self, skips_next: bool) {
        self.end_word();
        let command = std::mem::take(&mut self.command);
        if command.is_empty() {
            // There is a line break after `||`.
            return;
        }
        if !self.is_skipped {
            self.commands.push(command);
        }
        self.is_skipped = skips_next;
    }

    fn quoted(&mut self, quote: char) -> Result<(), String> {
        self.word.get_or_insert_default();
        loop {
            match self.chars.next() {
                None => return Err("a quote that never ends".to_owned()),
                Some(c) if c == quote => return Ok(()),
                Some('$') if quote == '"' => {
                    let value = self.expansion()?;
                    value.chars().for_each(|c| self.push(c));
                }
                Some(c) => self.push(c),
            }
        }
    }

    /// Skips `> file`, `>> file` or `2>&1`. A file descriptor before it is already a separate word.
    fn redirection(&mut self) {
        if self
            .word
            .as_deref()
            .is_some_and(|word| word.chars().all(|c| c.is_ascii_digit()))
        {
            self.word = None;
        }
        self.end_word();
        while self
            .chars
            .peek()
            .is_some_and(|&c| matches!(c, '>' | '&' | ' '))
        {
            self.chars.next();
        }
        while self
            .chars
            .peek()
            .is_some_and(|&c| !c.is_whitespace() && !matches!(c, ';' | '|' | '&'))
        {
            self.chars.next();
        }
    }

    /// Returns the expansion of `$`, which is `$((...))`, or the number of the process in file
    /// names.
    fn expansion(&mut self) -> Result<String, String> {
        let mut ahead = self.chars.clone();
        if (ahead.next(), ahead.next()) == (Some('('), Some('(')) {
            self.chars = ahead;
            let mut text = String::new();
            let mut open = 2;
            for c in self.chars.by_ref() {
                match c {
                    '(' => open += 1,
                    ')' => open -= 1,
                    _ => {}
                }
                if open == 0 {
                    // The last of the two closing brackets is in the text.
                    text.pop();
                    let value = Arithmetic::value(&text);
                    return value.map(|value| value.to_string()).ok_or_else(|| {
                        format!("`$(({text}))`: expected whole numbers and + - * / % ( )")
                    });
                }
                text.push(c);
            }
            return Err("`$((` that never ends".to_owned());
        }
        let is_braced = self.chars.next_if_eq(&'{').is_some();
        let mut name = String::new();
        while let Some(c) = self
            .chars
            .next_if(|c| c.is_ascii_alphanumeric() || *c == '_')
        {
            name.push(c);
        }
        if is_braced {
            self.chars.next_if_eq(&'}');
        }
        if matches!(name.as_str(), "PPID" | "PACKETDRILL_PID") {
            return Ok("0".to_owned());
        }
        Err(format!("the variable `${name}`"))
    }
}

/// Reader of whole numbers with `+ - * / %` and brackets.
struct Arithmetic<'a> {
    chars: Peekable<Chars<'a>>,
    depth: u32,
}

impl Arithmetic<'_> {
    /// Deepest nesting of brackets.
    const DEEPEST: u32 = 32;

    fn value(text: &str) -> Option<i64> {
        let mut reader = Arithmetic {
            chars: text.chars().peekable(),
            depth: 0,
        };
        let value = reader.sum()?;
        reader.skip();
        reader.chars.peek().is_none().then_some(value)
    }

    fn skip(&mut self) {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
    }

    fn operator(&mut self, among: &str) -> Option<char> {
        self.skip();
        self.chars.next_if(|c| among.contains(*c))
    }

    fn sum(&mut self) -> Option<i64> {
        let mut left = self.product()?;
        while let Some(operator) = self.operator("+-") {
            let right = self.product()?;
            left = match operator {
                '+' => left.checked_add(right)?,
                _ => left.checked_sub(right)?,
            };
        }
        Some(left)
    }

    fn product(&mut self) -> Option<i64> {
        let mut left = self.atom()?;
        while let Some(operator) = self.operator("*/%") {
            let right = self.atom()?;
            left = match operator {
                '*' => left.checked_mul(right)?,
                '/' => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn atom(&mut self) -> Option<i64> {
        if self.operator("(").is_some() {
            self.depth += 1;
            if self.depth > Arithmetic::DEEPEST {
                return None;
            }
            let value = self.sum()?;
            self.depth -= 1;
            return self.operator(")").map(|_| value);
        }
        let mut digits = String::new();
        while let Some(digit) = self.chars.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<String> {
        let commands = split(text).expect(text);
        commands.iter().map(|words| words.join("|")).collect()
    }

    #[test]
    fn lines_semicolons_and_quotes_split_as_in_a_shell() {
        assert_eq!(
            commands("a b;c 'd; e'&&f \\\n g # not this\nh \"i  j\""),
            ["a|b", "c|d; e", "f|g", "h|i  j"]
        );
        assert_eq!(
            commands("a > /dev/null 2>&1; b &> x || c\nd"),
            ["a", "b", "d"]
        );
        assert_eq!(commands("# only a comment"), [""; 0]);
    }

    #[test]
    fn arithmetic_is_worked_out() {
        assert_eq!(
            commands("x=\"4096 $((15*1024*1024))\""),
            ["x=4096 15728640"]
        );
        assert_eq!(commands("$((2 * (3 + 4) - 10 / 5))"), ["12"]);
        for text in [
            "$((1/0))",
            "$((1",
            "$((a))",
            "$((9223372036854775807+1))",
            "$(( ))",
        ] {
            assert!(split(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_only_a_shell_can_do_is_named() {
        for (text, word) in [
            ("nstat | grep x", "pipe"),
            ("sleep 1 &", "background"),
            ("echo $HOME", "$HOME"),
            ("echo 'x", "quote"),
            ("a <b", "`<`"),
        ] {
            let error = split(text).expect_err(text);
            assert!(error.contains(word), "{error}");
        }
    }
}
