//! Segments in the notation of scripts: parsing and printing.

use crate::cursor::Cursor;
use crate::fast_open::Cookie;
use crate::mptcp_parse;
use crate::mptcp_wire::{self, Outlook};
use crate::options::Options;
use crate::problem::Problem;
use crate::script::PacketSpec;
use fadeout_core::{Ecn, Flags, Segment};
use std::fmt::Write;

/// Largest payload of a segment in bytes, equal to the largest size of an IPv4 packet.
const LARGEST_PAYLOAD: u32 = 65_535;

/// Protocols that the language allows instead of a TCP segment. This runner does not support them.
const OTHER_PROTOCOLS: [(&str, &str); 8] = [
    ("icmp", "ICMP packets are"),
    ("udp", "UDP is"),
    ("sctp", "SCTP is"),
    ("ipv4", "explicit IPv4 headers are"),
    ("ipv6", "IPv6 is"),
    ("gre", "GRE is"),
    ("mpls", "MPLS is"),
    ("igmp", "IGMP is"),
];

/// Parses a segment. Its direction has already been read.
pub(crate) fn packet(cursor: &mut Cursor<'_>, direction: char) -> Result<PacketSpec, Problem> {
    let start = cursor.clone();
    skip_line_space(cursor);
    let line = cursor.line();
    for (word, what) in OTHER_PROTOCOLS {
        if cursor.rest().to_ascii_lowercase_prefix(word) {
            return Err(Problem::unsupported(line, format!("{what} not supported")));
        }
    }
    let mut ecn = None;
    while cursor.skip_prefix("[") {
        ecn = Some(ip_field(cursor, line)?);
        skip_line_space(cursor);
    }
    let (from, to) = addresses(cursor)?;
    let flags = flags(cursor)?;
    skip_line_space(cursor);
    let seq = cursor.number("a sequence number")?;
    cursor.expect(":")?;
    let end = cursor.number("the sequence number that ends the segment")?;
    cursor.expect("(")?;
    let len = cursor.number("a payload length")?;
    cursor.expect(")")?;
    if seq.wrapping_add(len) != end {
        let message = format!("{seq}:{end}({len}) does not add up: the end is start plus length");
        return Err(Problem::invalid(line, message));
    }
    if direction == '<' && len > LARGEST_PAYLOAD {
        let message = format!("a segment carries at most {LARGEST_PAYLOAD} bytes");
        return Err(Problem::invalid(line, message));
    }
    let mut spec = PacketSpec {
        text: String::new(),
        ecn,
        from,
        to,
        flags,
        seq,
        len,
        ack: 0,
        window: None,
        options: Some(Options::default()),
    };
    loop {
        skip_line_space(cursor);
        if cursor.skip_prefix("ack") {
            spec.ack = cursor.number("an acknowledgment number")?;
        } else if cursor.skip_prefix("win") {
            spec.window = Some(cursor.number("a window")?);
        } else if cursor.skip_prefix("urg") {
            return Err(Problem::unsupported(line, "urgent data is not supported"));
        } else if cursor.skip_prefix("<") {
            spec.options = Options::read(cursor)?;
        } else {
            break;
        }
    }
    let length = start.rest().len() - cursor.rest().len();
    spec.text = format!("{direction} {}", start.rest()[..length].trim());
    Ok(spec)
}

trait Prefix {
    /// Returns true if the text begins with the word `prefix`, in any case.
    fn to_ascii_lowercase_prefix(&self, prefix: &str) -> bool;
}

impl Prefix for str {
    fn to_ascii_lowercase_prefix(&self, prefix: &str) -> bool {
        self.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    }
}

fn skip_line_space(cursor: &mut Cursor<'_>) {
    cursor.take_while(|c| c == ' ' || c == '\t');
}

fn ip_field(cursor: &mut Cursor<'_>, line: usize) -> Result<Ecn, Problem> {
    let text = cursor
        .take_until("]")
        .ok_or_else(|| Problem::invalid(line, "the bracket never ends: no `]` follows"))?;
    match text.trim() {
        "ect0" => Ok(Ecn::Ect0),
        "ect1" => Ok(Ecn::Ect1),
        "ce" => Ok(Ecn::Ce),
        "noecn" => Ok(Ecn::NotEct),
        other => Err(Problem::unsupported(
            line,
            format!("`[{other}]` is not supported; `[ect0]`, `[ect1]`, `[ce]` and `[noecn]` are"),
        )),
    }
}

/// Parses the names in `addr[name] > addr[name]`. Each of them may be missing.
fn addresses(cursor: &mut Cursor<'_>) -> Result<(Option<String>, Option<String>), Problem> {
    let name = |cursor: &mut Cursor<'_>| {
        let name = mptcp_parse::address_name(cursor)?;
        if name.is_some() {
            cursor.expect("]")?;
        }
        skip_line_space(cursor);
        Ok(name)
    };
    let from = name(cursor)?;
    if !cursor.skip_prefix(">") {
        return match from {
            Some(_) => Err(cursor.expected("`>` and the destination address")),
            None => Ok((None, None)),
        };
    }
    skip_line_space(cursor);
    Ok((from, name(cursor)?))
}

fn flags(cursor: &mut Cursor<'_>) -> Result<Flags, Problem> {
    let before = cursor.clone();
    let mut flags = Flags::default();
    let mut any = false;
    while let Some(c) = cursor.peek() {
        flags |= match c {
            'S' => Flags::SYN,
            'F' => Flags::FIN,
            'R' => Flags::RST,
            'P' => Flags::PSH,
            '.' => Flags::ACK,
            'E' => Flags::ECE,
            'W' => Flags::CWR,
            '-' => Flags::default(),
            'U' => {
                let message = "urgent data is not supported";
                return Err(Problem::unsupported(before.line(), message));
            }
            'A' => Flags::AE,
            // A digit encodes the three ECN flags AE, CWR and ECE.
            '0'..='7' => {
                let ace = c.to_digit(8).unwrap_or(0);
                let bit = |value, flag| {
                    if ace & value == 0 {
                        Flags::default()
                    } else {
                        flag
                    }
                };
                bit(1, Flags::ECE) | bit(2, Flags::CWR) | bit(4, Flags::AE)
            }
            _ => break,
        };
        any = true;
        cursor.advance(1);
    }
    let ends = cursor.peek().is_none_or(char::is_whitespace);
    if !any || !ends {
        return Err(before.expected("flags of S, F, R, P, `.`, E, W, A and a digit"));
    }
    Ok(flags)
}

/// Sent segment with sequence numbers, window and timestamp converted to those of the script.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) segment: Segment,
    pub(crate) ecn: Ecn,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// Window field of the header, without scaling.
    pub(crate) window: u32,
    /// Timestamp value in the script's clock.
    pub(crate) ts_value: u32,
    /// Fast Open option of the segment. `None` if the segment has no such option.
    pub(crate) cookie: Option<Cookie>,
    /// State of the connection that decides how a Multipath TCP option looks.
    pub(crate) outlook: Outlook,
}

impl Seen {
    /// Returns the segment in the notation of scripts.
    pub(crate) fn render(&self) -> String {
        let mut text = "> ".to_owned();
        match self.ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => text.push_str("[ect0] "),
            Ecn::Ect1 => text.push_str("[ect1] "),
            Ecn::Ce => text.push_str("[ce] "),
        }
        let len = self.segment.len;
        let (seq, end) = (self.seq, self.seq.wrapping_add(len));
        let flags = self.segment.flags;
        // Writing to a string cannot fail.
        let _ = write!(text, "{flags:?} {seq}:{end}({len})");
        if flags.has(Flags::ACK) {
            let _ = write!(text, " ack {}", self.ack);
        }
        let _ = write!(text, " win {}", self.window);
        let options = self.options();
        if options != Options::default() {
            let _ = write!(text, " {options}");
        }
        text
    }

    /// Returns the options in the notation of scripts.
    pub(crate) fn options(&self) -> Options {
        let options = Options::from_segment(&self.segment, self.ts_value, |seq| seq as u32);
        let mut options = match self.cookie {
            Some(cookie) => options.with_fast_open(cookie),
            None => options,
        };
        (options.0).extend(mptcp_wire::sent(&self.segment, self.seq, self.outlook));
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::TcpOption;
    use crate::problem::ProblemKind;

    fn read(text: &str) -> Result<PacketSpec, Problem> {
        packet(&mut Cursor::new(text, 1), '<')
    }

    #[test]
    fn a_segment_with_everything_is_read() {
        let spec = read(
            "[ce] P.E 1:1001(1000) ack 5 win 257 <nop,nop,TS val 7 ecr 8,nop,nop,sack 1:2 3:4>",
        )
        .expect("it is right");
        assert_eq!(
            (spec.seq, spec.len, spec.ack, spec.window),
            (1, 1000, 5, Some(257))
        );
        assert_eq!(spec.flags, Flags::PSH | Flags::ACK | Flags::ECE);
        assert_eq!(spec.ecn, Some(Ecn::Ce));
        let options = spec.options.expect("it has options");
        assert_eq!(options.timestamps(), Some((7, 8)));
        let blocks = TcpOption::Sack(vec![(1, 2), (3, 4)]);
        assert_eq!(options.0.last(), Some(&blocks));
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (text, word) in [
            ("icmp unreachable", "ICMP"),
            ("udp (1000)", "UDP"),
            ("S 0:0(0) win 1 <mp_capable>", "Multipath"),
            ("[tos 4] S 0:0(0)", "tos 4"),
        ] {
            let problem = read(text).expect_err("it is not supported");
            assert_eq!(problem.kind, ProblemKind::Unsupported, "{text}");
            assert!(problem.message.contains(word), "{}", problem.message);
        }
    }

    #[test]
    fn lengths_must_add_up() {
        assert!(
            read(". 1:5(9)")
                .expect_err("wrong")
                .message
                .contains("add up")
        );
        assert!(
            read("Q 1:1(0)")
                .expect_err("wrong")
                .message
                .contains("flags")
        );
    }
}
