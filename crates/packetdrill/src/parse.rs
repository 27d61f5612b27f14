//! Parser of scripts.

use crate::code;
use crate::cursor::Cursor;
use crate::packet;
use crate::problem::Problem;
use crate::script::{Action, Call, Event, Script, When};
use fadeout_core::Span;

/// Latest time in a script, in seconds: one day.
const LATEST: u64 = 86_400;
/// Largest number of events of a script.
const MOST_EVENTS: usize = 100_000;
/// Deepest nesting of brackets in the arguments of a call.
const DEEPEST: usize = 32;

pub(crate) fn parse(text: &str) -> Result<Script, Problem> {
    let mut cursor = Cursor::new(text, 1);
    let mut script = Script {
        options: Vec::new(),
        events: Vec::new(),
    };
    loop {
        cursor.skip_blank()?;
        if cursor.is_done() {
            return Ok(script);
        }
        if cursor.skip_prefix("--") {
            let line = cursor.line();
            let option = cursor.take_while(|c| !c.is_whitespace());
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            script
                .options
                .push((line, name.to_owned(), value.to_owned()));
            continue;
        }
        if script.events.len() >= MOST_EVENTS {
            let message = format!("a script has at most {MOST_EVENTS} events");
            return Err(Problem::invalid(cursor.line(), message));
        }
        script.events.push(event(&mut cursor)?);
    }
}

fn event(cursor: &mut Cursor<'_>) -> Result<Event, Problem> {
    let line = cursor.line();
    // A command before the first event or after the last one may have no time.
    let (when, until) = if cursor.starts_with("`") {
        (When::After(Span::ZERO), None)
    } else {
        times(cursor)?
    };
    cursor.skip_blank()?;
    let action = match cursor.peek() {
        Some('<') => {
            cursor.advance(1);
            Action::Inbound(packet::packet(cursor, '<')?)
        }
        Some('>') => {
            cursor.advance(1);
            Action::Outbound(packet::packet(cursor, '>')?)
        }
        Some('`') => {
            cursor.advance(1);
            let command = cursor.take_until("`");
            let command = command
                .ok_or_else(|| Problem::invalid(line, "the command never ends: no backquote"))?;
            Action::Command(command.to_owned())
        }
        Some('%') => {
            cursor.expect("%{")?;
            let first = cursor.line();
            let text = cursor
                .take_until("}%")
                .ok_or_else(|| Problem::invalid(line, "the snippet never ends: no `}%` follows"))?;
            Action::Code(code::parse(text, first)?)
        }
        _ => Action::Call(call(cursor)?),
    };
    Ok(Event {
        line,
        when,
        until,
        action,
    })
}

fn times(cursor: &mut Cursor<'_>) -> Result<(When, Option<Span>), Problem> {
    if cursor.skip_prefix("*") {
        return Ok((When::Whenever, None));
    }
    let is_relative = cursor.skip_prefix("+");
    let start = seconds(cursor)?;
    cursor.skip_space();
    if cursor.skip_prefix("~") {
        cursor.skip_space();
        let end_is_relative = cursor.skip_prefix("+");
        let end = seconds(cursor)?;
        if end < start {
            return Err(Problem::invalid(
                cursor.line(),
                "the range of times ends before it begins",
            ));
        }
        return match (is_relative, end_is_relative) {
            (true, _) => Ok((When::Within(start, end), None)),
            (false, false) => Ok((When::Between(start, end), None)),
            (false, true) => Err(Problem::invalid(
                cursor.line(),
                "a range of times has both ends relative or both absolute",
            )),
        };
    }
    // The dots before a duration look like the argument `...`, but a number follows them.
    let mut ahead = cursor.clone();
    let mut until = None;
    if ahead.skip_prefix("...") {
        ahead.skip_space();
        ahead.skip_prefix("+");
        if ahead.peek().is_some_and(|c| c.is_ascii_digit() || c == '.') {
            until = Some(seconds(&mut ahead)?);
            *cursor = ahead;
        }
    }
    let when = if is_relative {
        When::After(start)
    } else {
        When::At(start)
    };
    Ok((when, until))
}

/// Parses a decimal number of seconds, exact to the nanosecond.
fn seconds(cursor: &mut Cursor<'_>) -> Result<Span, Problem> {
    let before = cursor.clone();
    let whole = cursor.take_while(|c| c.is_ascii_digit());
    let mut fraction = "";
    if cursor.starts_with(".") && !cursor.starts_with("...") {
        cursor.advance(1);
        fraction = cursor.take_while(|c| c.is_ascii_digit());
    }
    if whole.is_empty() && fraction.is_empty() {
        return Err(before.expected(
            "an event: a time such as `0.1`, `+.05`, `+0~+.1` or `*`, then a packet, call, \
             command or snippet",
        ));
    }
    let secs: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().unwrap_or(u64::MAX)
    };
    if secs > LATEST {
        let message = format!("times end at {LATEST} s");
        return Err(Problem::invalid(before.line(), message));
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let nanos = digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Ok(Span::from_nanos(secs * 1_000_000_000 + nanos))
}

fn call(cursor: &mut Cursor<'_>) -> Result<Call, Problem> {
    let before = cursor.clone();
    let name = cursor.word();
    if name.is_empty() {
        return Err(before.expected("`<`, `>`, a call, a command in backquotes or `%{`"));
    }
    cursor.skip_space();
    if !cursor.starts_with("(") {
        return Err(cursor.expected(&format!("`(` after the name of the call `{name}`")));
    }
    cursor.advance(1);
    let arguments = arguments(cursor)?;
    cursor.expect("=")?;
    cursor.skip_space();
    let (returns, errno) = result(cursor)?;
    Ok(Call {
        name: name.to_owned(),
        arguments,
        returns,
        errno,
    })
}

/// Returns the arguments up to the closing parenthesis, as texts of the script. Commas within
/// brackets do not separate arguments.
fn arguments(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Problem> {
    let opened = cursor.line();
    let mut list = Vec::new();
    let mut one = String::new();
    let mut open = Vec::new();
    while let Some(c) = cursor.peek() {
        if cursor.starts_with("//") || cursor.starts_with("/*") {
            cursor.skip_blank()?;
            continue;
        }
        cursor.advance(c.len_utf8());
        match c {
            '(' | '[' | '{' => {
                open.push(c);
                if open.len() > DEEPEST {
                    return Err(Problem::invalid(cursor.line(), "brackets nest too deeply"));
                }
            }
            ')' if open.is_empty() => {
                if !one.trim().is_empty() || !list.is_empty() {
                    list.push(one.trim().to_owned());
                }
                return Ok(list);
            }
            ')' | ']' | '}' => {
                let pair = match c {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if open.pop() != Some(pair) {
                    return Err(Problem::invalid(
                        cursor.line(),
                        format!("`{c}` closes what is not open"),
                    ));
                }
            }
            '"' => {
                let line = cursor.line();
                let text = cursor
                    .take_until("\"")
                    .ok_or_else(|| Problem::invalid(line, "the string never ends"))?;
                one.push('"');
                one.push_str(text);
            }
            ',' if open.is_empty() => {
                list.push(one.trim().to_owned());
                one.clear();
                continue;
            }
            _ => {}
        }
        one.push(c);
    }
    Err(Problem::invalid(
        opened,
        "the call never ends: no `)` follows",
    ))
}

/// Parses the result of a call: a number or `...`, optionally with the name and message of an
/// error.
fn result(cursor: &mut Cursor<'_>) -> Result<(Option<i64>, Option<String>), Problem> {
    let returns = if cursor.skip_prefix("...") {
        None
    } else {
        let is_negative = cursor.skip_prefix("-");
        let number = i64::from(cursor.number("what the call returns")?);
        Some(if is_negative { -number } else { number })
    };
    let same_line = |cursor: &mut Cursor<'_>| {
        cursor.take_while(|c| c == ' ' || c == '\t');
    };
    same_line(cursor);
    let word = cursor.take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let errno = (word.starts_with('E') && word.len() > 1).then(|| word.to_owned());
    same_line(cursor);
    if cursor.starts_with("(") {
        let line = cursor.line();
        cursor
            .take_until(")")
            .ok_or_else(|| Problem::invalid(line, "the remark never ends: no `)` follows"))?;
    }
    Ok((returns, errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let problem = parse(text).expect_err("the script is wrong");
        format!("{}: {}", problem.line, problem.message)
    }

    #[test]
    fn every_form_of_time_is_read() {
        let script = parse(
            "0 `a`\n+.5 `b`\n0.25~1 `c`\n+0~+.1 `d`\n* > . 1:1(0) ack 1\n\
             +0...0.1 read(4, ..., 10) = 10\n",
        )
        .expect("the script is right");
        let ms = Span::from_millis;
        let whens: Vec<When> = script.events.iter().map(|event| event.when).collect();
        assert_eq!(
            whens,
            [
                When::At(Span::ZERO),
                When::After(ms(500)),
                When::Between(ms(250), ms(1000)),
                When::Within(Span::ZERO, ms(100)),
                When::Whenever,
                When::After(Span::ZERO),
            ]
        );
        assert_eq!(script.events[5].until, Some(ms(100)));
    }

    #[test]
    fn a_call_keeps_its_arguments_as_written() {
        let script = parse("+0 setsockopt(3, SOL_SOCKET, SO_X, [1, 2], 4) = -1 EINVAL (no)\n")
            .expect("the script is right");
        let Action::Call(call) = &script.events[0].action else {
            panic!("it is a call");
        };
        assert_eq!(call.arguments, ["3", "SOL_SOCKET", "SO_X", "[1, 2]", "4"]);
        assert_eq!(
            (call.returns, call.errno.as_deref()),
            (Some(-1), Some("EINVAL"))
        );
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        assert!(problem("\n\nfoo").starts_with("3: expected an event"));
        assert!(problem("0 `ls").contains("no backquote"));
        assert!(problem("0 socket(1").contains("no `)`"));
        assert!(problem("0 %{ 1").contains("no `}%`"));
        assert!(problem("/* x").contains("no `*/`"));
        assert!(problem("99999999999999999999 `x`").contains("times end"));
    }
}
