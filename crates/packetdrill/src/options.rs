//! TCP options in the notation of scripts, and in the layout of Linux.

use crate::cursor::Cursor;
use crate::fast_open::Cookie;
use crate::mptcp_options::Multipath;
use crate::mptcp_parse;
use crate::problem::Problem;
use fadeout_core::{AccurateEcnOption, Flags, MAX_SACK_BLOCKS, Segment};
use std::fmt;

/// Largest total length of the options in a TCP header, in bytes.
///
/// Standard: RFC 9293 §3.1.
const ROOM: usize = 40;

/// TCP option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TcpOption {
    NoOperation,
    EndOfList,
    Mss(u16),
    WindowScale(u8),
    SackPermitted,
    /// Timestamps option with its value (TSval) and its echo (TSecr).
    Timestamps(u32, u32),
    Sack(Vec<(u32, u32)>),
    /// Fast Open option with its cookie. The flag is true for the experimental option.
    FastOpen(Vec<u8>, bool),
    AccurateEcn(AccurateEcnOption),
    Multipath(Multipath),
}

impl TcpOption {
    /// Returns the length of the option in the header, in bytes.
    fn len(&self) -> usize {
        match self {
            TcpOption::NoOperation | TcpOption::EndOfList => 1,
            TcpOption::Mss(_) => 4,
            TcpOption::WindowScale(_) => 3,
            TcpOption::SackPermitted => 2,
            TcpOption::Timestamps(..) => 10,
            TcpOption::Sack(blocks) => 2 + 8 * blocks.len(),
            TcpOption::AccurateEcn(option) => 2 + 3 * usize::from(option.fields()),
            TcpOption::FastOpen(cookie, false) => 2 + cookie.len(),
            TcpOption::FastOpen(cookie, true) => 4 + cookie.len(),
            TcpOption::Multipath(option) => option.len(),
        }
    }
}

/// Options of a segment in header order, with padding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Options(pub(crate) Vec<TcpOption>);

impl Options {
    /// Returns the options of a segment in the order and with the padding of Linux
    /// (`tcp_options_write`). `number` converts a sequence number of the endpoint into one of the
    /// script.
    pub(crate) fn from_segment(
        segment: &Segment,
        ts_value: u32,
        number: impl Fn(u64) -> u32,
    ) -> Options {
        use TcpOption::NoOperation as Nop;
        let mut list = Vec::new();
        if segment.mss != 0 {
            list.push(TcpOption::Mss(segment.mss));
        }
        let timestamps = TcpOption::Timestamps(ts_value, segment.ts_echo);
        match (segment.has_timestamps, segment.sack_permitted) {
            (true, true) => list.extend([TcpOption::SackPermitted, timestamps]),
            (true, false) => list.extend([Nop, Nop, timestamps]),
            (false, _) => {}
        }
        if segment.accurate.is_present() {
            let option = TcpOption::AccurateEcn(segment.accurate);
            let padding = segment.accurate.len() as usize - option.len();
            list.push(option);
            list.extend(std::iter::repeat_n(Nop, padding));
        }
        if segment.sack_permitted && !segment.has_timestamps {
            list.extend([Nop, Nop, TcpOption::SackPermitted]);
        }
        if let Some(scale) = segment.window_scale {
            list.extend([Nop, TcpOption::WindowScale(scale)]);
        }
        let blocks = segment.sack.as_slice();
        if !blocks.is_empty() {
            let blocks = blocks.iter();
            let blocks = blocks.map(|block| (number(block.start), number(block.end)));
            list.extend([Nop, Nop, TcpOption::Sack(blocks.collect())]);
        }
        Options(list)
    }

    /// Appends the Fast Open option with its padding, because this option comes last.
    pub(crate) fn with_fast_open(mut self, cookie: Cookie) -> Options {
        let content = cookie.content().to_vec();
        let option = TcpOption::FastOpen(content, cookie.is_experimental);
        self.0.push(option);
        while !self.len().is_multiple_of(4) {
            self.0.push(TcpOption::NoOperation);
        }
        self
    }

    /// Returns the Fast Open option of the segment. `None` if the segment has no such option.
    pub(crate) fn fast_open(&self) -> Option<Cookie> {
        self.0.iter().find_map(|option| match option {
            TcpOption::FastOpen(cookie, is_experimental) => {
                Cookie::received(cookie, *is_experimental)
            }
            _ => None,
        })
    }

    /// Returns the Multipath TCP options in header order.
    pub(crate) fn multipath(&self) -> impl Iterator<Item = &Multipath> {
        self.0.iter().filter_map(|option| match option {
            TcpOption::Multipath(option) => Some(option),
            _ => None,
        })
    }

    /// Parses a list of options up to `>`. `None` for `<...>`, which stands for any options.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Option<Options>, Problem> {
        let line = cursor.line();
        cursor.skip_space();
        if cursor.skip_prefix("...") {
            cursor.expect(">")?;
            return Ok(None);
        }
        let mut list = Vec::new();
        loop {
            cursor.skip_space();
            if cursor.skip_prefix(">") {
                break;
            }
            list.push(read_option(cursor)?);
            cursor.skip_space();
            cursor.skip_prefix(",");
        }
        let options = Options(list);
        let length = options.len();
        if length > ROOM {
            let message = format!("a header has room for {ROOM} bytes of options, not {length}");
            return Err(Problem::invalid(line, message));
        }
        if !length.is_multiple_of(4) {
            let message = format!(
                "the options take {length} bytes: pad them to a multiple of 4 with `nop` or `eol`"
            );
            return Err(Problem::invalid(line, message));
        }
        Ok(Some(options))
    }

    fn len(&self) -> usize {
        self.0.iter().map(TcpOption::len).sum()
    }

    /// Returns the window scale option of a SYN. `None` if the SYN has no such option.
    pub(crate) fn window_scale(&self) -> Option<u8> {
        self.0.iter().find_map(|option| match option {
            TcpOption::WindowScale(scale) => Some((*scale).min(14)), // RFC 7323 section 2.3
            _ => None,
        })
    }

    /// Returns the value and the echo of the timestamps option. `None` without this option.
    pub(crate) fn timestamps(&self) -> Option<(u32, u32)> {
        self.0.iter().find_map(|option| match option {
            TcpOption::Timestamps(value, echo) => Some((*value, *echo)),
            _ => None,
        })
    }

    /// Replaces the value in the timestamps option.
    pub(crate) fn with_timestamp(mut self, value: u32) -> Options {
        for option in &mut self.0 {
            if let TcpOption::Timestamps(live, _) = option {
                *live = value;
            }
        }
        self
    }

    /// Returns the options with the echo `echo` in the timestamps option.
    pub(crate) fn with_echo(mut self, echo: u32) -> Options {
        for option in &mut self.0 {
            if let TcpOption::Timestamps(_, sent) = option {
                *sent = echo;
            }
        }
        self
    }

    /// Sets the fields of `segment` from the options. `number` converts a sequence number of the
    /// script into one of the endpoint.
    pub(crate) fn fill(&self, segment: &mut Segment, number: impl Fn(u32) -> u64) {
        for option in &self.0 {
            match option {
                TcpOption::NoOperation | TcpOption::FastOpen(..) | TcpOption::Multipath(_) => {}
                // All later bytes are padding (RFC 9293 section 3.2).
                TcpOption::EndOfList => return,
                TcpOption::Mss(mss) => segment.mss = *mss,
                TcpOption::WindowScale(_) => segment.window_scale = self.window_scale(),
                TcpOption::SackPermitted => segment.sack_permitted = true,
                TcpOption::AccurateEcn(option) => segment.accurate = *option,
                TcpOption::Timestamps(value, echo) => {
                    segment.has_timestamps = true;
                    segment.ts_value = *value;
                    segment.ts_echo = *echo;
                }
                TcpOption::Sack(blocks) => {
                    for &(start, end) in blocks {
                        // The parser rejects more SACK blocks than the options can hold.
                        segment.sack.push(fadeout_core::SackBlock {
                            start: number(start),
                            end: number(end),
                        });
                    }
                }
            }
        }
        if !segment.flags.has(Flags::SYN) {
            // These three options are valid on SYNs only (RFC 9293 section 3.7.1, RFC 7323 section
            // 2.2, RFC 2018 section 2).
            segment.mss = 0;
            segment.window_scale = None;
            segment.sack_permitted = false;
        }
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<")?;
        for (index, option) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match option {
                TcpOption::NoOperation => f.write_str("nop"),
                TcpOption::EndOfList => f.write_str("eol"),
                TcpOption::Mss(mss) => write!(f, "mss {mss}"),
                TcpOption::WindowScale(scale) => write!(f, "wscale {scale}"),
                TcpOption::SackPermitted => f.write_str("sackOK"),
                TcpOption::Timestamps(value, echo) => write!(f, "TS val {value} ecr {echo}"),
                TcpOption::AccurateEcn(option) => {
                    f.write_str("ECN")?;
                    order(option.ect0_leads())
                        .into_iter()
                        .try_for_each(|index| match option.counter(index) {
                            Some(counter) => write!(f, " {} {counter}", COUNTERS[index]),
                            None => Ok(()),
                        })
                }
                TcpOption::FastOpen(cookie, is_experimental) => {
                    f.write_str(if *is_experimental { "FOEXP" } else { "FO" })?;
                    if !cookie.is_empty() {
                        f.write_str(" ")?;
                    }
                    cookie.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
                }
                TcpOption::Multipath(option) => write!(f, "{option}"),
                TcpOption::Sack(blocks) => {
                    f.write_str("sack")?;
                    blocks
                        .iter()
                        .try_for_each(|(start, end)| write!(f, " {start}:{end}"))
                }
            }?;
        }
        f.write_str(">")
    }
}

fn read_option(cursor: &mut Cursor<'_>) -> Result<TcpOption, Problem> {
    let line = cursor.line();
    let before = cursor.clone();
    Ok(match cursor.word() {
        "mss" => TcpOption::Mss(fit(cursor.number("a segment size")?, "mss", line)?),
        "wscale" => TcpOption::WindowScale(fit(cursor.number("a window scale")?, "wscale", line)?),
        "sackOK" => TcpOption::SackPermitted,
        "nop" => TcpOption::NoOperation,
        "eol" => TcpOption::EndOfList,
        "TS" => {
            cursor.expect("val")?;
            let value = cursor.number("a timestamp")?;
            cursor.expect("ecr")?;
            TcpOption::Timestamps(value, cursor.number("a timestamp echo")?)
        }
        "sack" => TcpOption::Sack(sack_blocks(cursor)?),
        "FO" => TcpOption::FastOpen(cookie(cursor)?, false),
        "FOEXP" => TcpOption::FastOpen(cookie(cursor)?, true),
        "md5" => return Err(Problem::unsupported(line, "TCP MD5 is not supported")),
        "ECN" => TcpOption::AccurateEcn(accurate_ecn(cursor)?),
        name if mptcp_parse::is_name(name) => {
            TcpOption::Multipath(mptcp_parse::read(name, cursor)?)
        }
        "" => return Err(before.expected("a TCP option")),
        name => {
            let message = format!("TCP option `{name}` is not supported");
            return Err(Problem::unsupported(line, message));
        }
    })
}

/// Names of the three AccECN byte counters: bytes received as ECT(1), CE and ECT(0).
const COUNTERS: [&str; 3] = ["e1b", "ceb", "e0b"];

/// Returns the order in which the AccECN option carries the three counters.
fn order(ect0_leads: bool) -> [usize; 3] {
    if ect0_leads { [2, 1, 0] } else { [0, 1, 2] }
}

/// Parses `e1b 1 ceb 0 e0b 1`, or the reverse order. Trailing counters may be omitted.
fn accurate_ecn(cursor: &mut Cursor<'_>) -> Result<AccurateEcnOption, Problem> {
    cursor.skip_space();
    let ect0_leads = cursor.starts_with(COUNTERS[2]);
    let (mut counters, mut fields) = ([0; 3], 0);
    for index in order(ect0_leads) {
        cursor.skip_space();
        if !cursor.skip_prefix(COUNTERS[index]) {
            break;
        }
        counters[index] = cursor.number("a counter of bytes")?;
        fields += 1;
    }
    Ok(AccurateEcnOption::new(counters, fields, ect0_leads))
}

/// Parses a Fast Open cookie in hexadecimal digits. An empty cookie is a request.
fn cookie(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, Problem> {
    cursor.skip_space();
    let before = cursor.clone();
    let digits = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(text, 16).ok()
    };
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    match bytes {
        Some(bytes) if digits.len().is_multiple_of(2) => Ok(bytes),
        _ => {
            Err(before.expected("a cookie: pairs of hexadecimal digits, or a symbol of `--define`"))
        }
    }
}

fn sack_blocks(cursor: &mut Cursor<'_>) -> Result<Vec<(u32, u32)>, Problem> {
    let mut blocks = Vec::new();
    loop {
        let start = cursor.number("the start of a SACK block")?;
        cursor.expect(":")?;
        blocks.push((start, cursor.number("the end of a SACK block")?));
        if blocks.len() > MAX_SACK_BLOCKS {
            let message = format!("a segment carries at most {MAX_SACK_BLOCKS} SACK blocks");
            return Err(Problem::invalid(cursor.line(), message));
        }
        cursor.skip_space();
        if !cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Ok(blocks);
        }
    }
}

fn fit<T: TryFrom<u32>>(number: u32, what: &str, line: usize) -> Result<T, Problem> {
    T::try_from(number)
        .map_err(|_| Problem::invalid(line, format!("{what} {number} does not fit its field")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Options>, Problem> {
        Options::read(&mut Cursor::new(text, 1))
    }

    #[test]
    fn a_list_is_written_as_it_was_read() {
        let text = "<mss 1460,sackOK,TS val 7 ecr 8,nop,wscale 9>";
        let options = read(&text[1..]).expect("it is right").expect("a list");
        assert_eq!(options.to_string(), text);
        assert_eq!(options.timestamps(), Some((7, 8)));
        assert_eq!(options.window_scale(), Some(9));
    }

    #[test]
    fn counters_of_accurate_ecn_are_read_in_both_orders() {
        for text in ["<ECN e0b 1 ceb 0 e1b 7,nop>", "<ECN e1b 16777215 ceb 9>"] {
            let options = read(&text[1..]).expect("it is right").expect("a list");
            assert_eq!(options.to_string(), text);
            let mut segment = Segment::default();
            options.fill(&mut segment, u64::from);
            let again = Options::from_segment(&segment, 0, |seq| seq as u32);
            assert_eq!(again.to_string(), text);
        }
        assert!(read("ECN ceb 1,nop>").is_err(), "no order begins with CE");
    }

    #[test]
    fn a_list_that_is_not_padded_or_too_long_is_refused() {
        for (text, word) in [
            ("sackOK>", "pad them"),
            ("mss 1000,wscale 7>", "pad them"),
            (
                "nop,nop,TS val 1 ecr 1,nop,nop,sack 1:2 3:4 5:6 7:8>",
                "room for 40",
            ),
            ("sack 1:2 3:4 5:6 7:8 9:10>", "at most 4"),
        ] {
            let problem = read(text).expect_err(text);
            assert!(problem.message.contains(word), "{}", problem.message);
        }
    }

    #[test]
    fn the_layout_is_linuxs() {
        let mut segment = Segment {
            flags: Flags::SYN,
            mss: 1460,
            sack_permitted: true,
            window_scale: Some(8),
            ..Segment::default()
        };
        let text =
            |segment: &Segment| Options::from_segment(segment, 5, |seq| seq as u32).to_string();
        assert_eq!(text(&segment), "<mss 1460,nop,nop,sackOK,nop,wscale 8>");
        segment.has_timestamps = true;
        assert_eq!(
            text(&segment),
            "<mss 1460,sackOK,TS val 5 ecr 0,nop,wscale 8>"
        );
        let mut ack = Segment {
            has_timestamps: true,
            ts_echo: 3,
            ..Segment::default()
        };
        assert!(ack.sack.push(fadeout_core::SackBlock { start: 1, end: 2 }));
        assert_eq!(text(&ack), "<nop,nop,TS val 5 ecr 3,nop,nop,sack 1:2>");
    }

    #[test]
    fn on_segments_without_syn_the_options_of_a_syn_are_ignored() {
        let options = read("mss 1000,nop,nop,sackOK,nop,wscale 7>")
            .expect("it is right")
            .expect("a list");
        let mut segment = Segment {
            flags: Flags::ACK,
            ..Segment::default()
        };
        options.fill(&mut segment, u64::from);
        assert_eq!((segment.mss, segment.window_scale), (0, None));
        assert!(!segment.sack_permitted);
    }
}
