//! Parser of Multipath TCP options and of a segment's addresses.

use crate::cursor::Cursor;
use crate::mptcp_options::{
    Announced, FLAG_CHECKSUM, FLAGS, Key, Multipath, Number, Signal, Token,
};
use crate::nearest::nearest;
use crate::problem::Problem;
use std::net::IpAddr;

/// Names of the options.
const NAMES: [&str; 10] = [
    "mpcapable",
    "dss",
    "add_address",
    "remove_address",
    "mp_join_syn",
    "mp_join_syn_ack",
    "mp_join_ack",
    "mp_prio",
    "mp_reset",
    "mp_fastclose",
];

/// Largest number of addresses in REMOVE_ADDR.
const MOST_REMOVED: usize = 8;

/// Returns true if `name` is meant as a Multipath TCP option.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with("mp") || name.starts_with("dss") || name.contains("addr")
}

/// Parses the option called `name`. The name has already been read.
pub(crate) fn read(name: &str, cursor: &mut Cursor<'_>) -> Result<Multipath, Problem> {
    Ok(match name {
        "mpcapable" => capable(cursor)?,
        "dss" => Multipath::Signal(signal(cursor)?),
        "add_address" => Multipath::AddAddress(announced(cursor)?),
        "remove_address" => Multipath::RemoveAddress(removed(cursor)?),
        "mp_join_syn" => Multipath::JoinSyn {
            backup: backup(cursor)?,
            id: address_id(cursor)?,
            token: token(cursor)?,
        },
        "mp_join_syn_ack" => {
            let (backup, id) = (backup(cursor)?, address_id(cursor)?);
            hmac(cursor, "sender_hmac", "`sender_hmac=auto`")?;
            Multipath::JoinSynAck { backup, id }
        }
        "mp_join_ack" => {
            hmac(cursor, "sender_hmac", "`sender_hmac=auto`")?;
            Multipath::JoinAck
        }
        "mp_prio" => Multipath::Priority {
            backup: backup(cursor)?,
            id: address_id(cursor)?,
        },
        "mp_reset" => Multipath::Reset {
            reason: number(cursor, "the reason of the reset")?,
            is_transient: flags(cursor, &["flag_t"])?.unwrap_or(0) != 0,
        },
        "mp_fastclose" => {
            let has_key = next_word(cursor).is_some();
            let key = has_key.then(|| key(cursor)).transpose()?;
            Multipath::FastClose { key }
        }
        "mp_fail" | "mp_capable" | "mp_capable_no_cs" => {
            let message = format!("the Multipath TCP option `{name}` is not supported");
            return Err(Problem::unsupported(cursor.line(), message));
        }
        _ => {
            let nearest = nearest(name, &NAMES);
            let message = format!("there is no Multipath TCP option `{name}`{nearest}");
            return Err(Problem::unsupported(cursor.line(), message));
        }
    })
}

/// Returns the word at the cursor after spaces, which are skipped. `None` if no word follows.
fn next_word<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    cursor.skip_space();
    let word = cursor.clone().word();
    (!word.is_empty()).then_some(word)
}

/// Skips `word` if it follows as a whole word.
fn skip_word(cursor: &mut Cursor<'_>, word: &str) -> bool {
    let follows = next_word(cursor) == Some(word);
    if follows {
        cursor.advance(word.len());
    }
    follows
}

/// Parses a number that must fit its field.
fn number<T: TryFrom<u32>>(cursor: &mut Cursor<'_>, what: &str) -> Result<T, Problem> {
    let line = cursor.line();
    let number = cursor.number(what)?;
    T::try_from(number)
        .map_err(|_| Problem::invalid(line, format!("{number} does not fit the field of {what}")))
}

/// Parses `name=NUMBER`. `None` if `name` does not follow.
fn assigned<T: TryFrom<u32>>(
    cursor: &mut Cursor<'_>,
    name: &str,
    what: &str,
) -> Result<Option<T>, Problem> {
    if !skip_word(cursor, name) {
        return Ok(None);
    }
    cursor.expect("=")?;
    number(cursor, what).map(Some)
}

fn backup(cursor: &mut Cursor<'_>) -> Result<bool, Problem> {
    let before = cursor.clone();
    match assigned::<u8>(cursor, "backup", "the backup flag")? {
        None | Some(0) => Ok(false),
        Some(1) => Ok(true),
        Some(_) => Err(before.expected("`backup=0` or `backup=1`")),
    }
}

fn address_id(cursor: &mut Cursor<'_>) -> Result<Option<u8>, Problem> {
    let mut ahead = cursor.clone();
    if skip_word(&mut ahead, "address_id") {
        ahead.expect("=")?;
        if skip_word(&mut ahead, "auto") {
            *cursor = ahead;
            return Ok(None);
        }
    }
    assigned(cursor, "address_id", "an address")
}

/// Parses `flags[flag_h]` or `flags 0x1`. `None` if no flags follow.
fn flags(cursor: &mut Cursor<'_>, names: &[&str]) -> Result<Option<u8>, Problem> {
    if !skip_word(cursor, "flags") {
        return Ok(None);
    }
    cursor.skip_space();
    if !cursor.skip_prefix("[") {
        return number(cursor, "the flags").map(Some);
    }
    let mut flags = 0;
    loop {
        let line = cursor.line();
        let name = next_word(cursor).unwrap_or("");
        match names.iter().position(|known| *known == name) {
            Some(bit) => flags |= FLAG_CHECKSUM >> bit,
            None if name == "no_flags" => {}
            None => {
                let (first, nearest) = (names[0], nearest(name, names));
                let message = format!("expected a flag such as `{first}`, found `{name}`{nearest}");
                return Err(Problem::invalid(line, message));
            }
        }
        cursor.advance(name.len());
        cursor.skip_space();
        if cursor.skip_prefix("]") {
            return Ok(Some(flags));
        }
        cursor.expect(",")?;
    }
}

fn key(cursor: &mut Cursor<'_>) -> Result<Key, Problem> {
    let before = cursor.clone();
    let Some(name) = next_word(cursor).filter(|name| !name.starts_with(char::is_numeric)) else {
        return Err(before.expected("the name of a key, such as `skey`"));
    };
    cursor.advance(name.len());
    cursor.skip_space();
    let value = cursor.skip_prefix("=").then(|| cursor.number("a key"));
    Ok(Key {
        name: name.to_owned(),
        value: value.transpose()?.map(u64::from),
    })
}

fn capable(cursor: &mut Cursor<'_>) -> Result<Multipath, Problem> {
    let line = cursor.line();
    let version = if skip_word(cursor, "v0") {
        0
    } else {
        skip_word(cursor, "v1");
        1
    };
    let before = cursor.clone();
    let flags = flags(cursor, &FLAGS)?
        .ok_or_else(|| before.expected("flags such as `flags[flag_h]` or `flags 0x1`"))?;
    if flags & FLAG_CHECKSUM != 0 {
        let message = "checksums of Multipath TCP (`flag_a`) are not supported";
        return Err(Problem::unsupported(line, message));
    }
    let mut keys = Vec::new();
    if !skip_word(cursor, "nokey") {
        if !skip_word(cursor, "key") {
            return Err(cursor.expected("`nokey` or `key[NAME]`"));
        }
        cursor.expect("[")?;
        keys.push(key(cursor)?);
        cursor.skip_space();
        if cursor.skip_prefix(",") {
            keys.push(key(cursor)?);
        }
        cursor.expect("]")?;
    }
    let has_data = skip_word(cursor, "mpcdatalen");
    let data_len = has_data.then(|| number(cursor, "the length of the mapping"));
    Ok(Multipath::Capable {
        version,
        flags,
        keys,
        data_len: data_len.transpose()?,
    })
}

/// Parses `dack4=N`, `dack8` and the like. `None` if neither width of `name` follows.
fn wide(cursor: &mut Cursor<'_>, name: &str) -> Result<Option<Number>, Problem> {
    for (suffix, is_long) in [("4", false), ("8", true)] {
        if skip_word(cursor, &format!("{name}{suffix}")) {
            cursor.skip_space();
            let value = cursor
                .skip_prefix("=")
                .then(|| cursor.number("a data sequence number"));
            return Ok(Some(Number {
                is_long,
                value: value.transpose()?.map(u64::from),
            }));
        }
    }
    Ok(None)
}

fn signal(cursor: &mut Cursor<'_>) -> Result<Signal, Problem> {
    let line = cursor.line();
    let data_ack = wide(cursor, "dack")?;
    let data_seq = wide(cursor, "dsn")?;
    let subflow_seq = assigned(cursor, "ssn", "a subflow sequence number")?;
    let len = assigned(cursor, "dll", "the length of the mapping")?;
    if skip_word(cursor, "cksum") {
        let message = "checksums of Multipath TCP (`cksum`) are not supported";
        return Err(Problem::unsupported(line, message));
    }
    skip_word(cursor, "nocs");
    let fin = skip_word(cursor, "fin");
    if let Some(word) = next_word(cursor) {
        let names = [
            "dack4", "dack8", "dsn4", "dsn8", "ssn", "dll", "nocs", "fin",
        ];
        let nearest = nearest(word, &names);
        let message = format!(
            "expected `dack4`, `dack8`, `dsn4`, `dsn8`, `ssn`, `dll`, `nocs` and `fin` in this \
             order, found `{word}`{nearest}"
        );
        return Err(Problem::invalid(line, message));
    }
    let Some(data_ack) = data_ack else {
        let message = "expected a DATA_ACK (`dack4=` or `dack8=`) in `dss`";
        return Err(Problem::invalid(line, message));
    };
    Ok(Signal {
        data_ack,
        data_seq,
        subflow_seq,
        len,
        fin,
    })
}

/// Parses the name in `addr[name]`. `None` if no `addr[` follows.
pub(crate) fn address_name(cursor: &mut Cursor<'_>) -> Result<Option<String>, Problem> {
    let mut ahead = cursor.clone();
    if !ahead.skip_prefix("addr") {
        return Ok(None);
    }
    ahead.skip_space();
    if !ahead.skip_prefix("[") {
        return Ok(None);
    }
    *cursor = ahead;
    let name = next_word(cursor).ok_or_else(|| cursor.expected("the name of an address"))?;
    cursor.advance(name.len());
    Ok(Some(name.to_owned()))
}

fn announced(cursor: &mut Cursor<'_>) -> Result<Announced, Problem> {
    let line = cursor.line();
    let id = address_id(cursor)?;
    cursor.skip_space();
    let name = address_name(cursor)?.ok_or_else(|| cursor.expected("`addr[NAME]`"))?;
    cursor.skip_space();
    let mut address = None;
    if cursor.skip_prefix("=") {
        if !skip_word(cursor, "inet_addr") && !skip_word(cursor, "inet6_addr") {
            return Err(cursor.expected("`inet_addr(\"192.0.2.1\")`"));
        }
        cursor.expect("(")?;
        cursor.expect("\"")?;
        let text = cursor.take_until("\"").unwrap_or("");
        let parsed: Option<IpAddr> = text.parse().ok();
        let message = || format!("expected an IP address in quotes, found `{text}`");
        address = Some(parsed.ok_or_else(|| Problem::invalid(line, message()))?);
        cursor.expect(")")?;
    }
    cursor.expect("]")?;
    if assigned::<u16>(cursor, "port", "a port")?.is_some() {
        let message = "an announced port is not supported";
        return Err(Problem::unsupported(line, message));
    }
    let is_echo = skip_word(cursor, "addr_echo");
    if !is_echo {
        hmac(cursor, "hmac", "`hmac=auto` or `addr_echo`")?;
    }
    Ok(Announced {
        id,
        name,
        address,
        is_echo,
    })
}

/// Parses `address_id=[1,2]`.
fn removed(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, Problem> {
    if !skip_word(cursor, "address_id") {
        return Err(cursor.expected("`address_id=[NUMBER]`"));
    }
    cursor.expect("=")?;
    cursor.expect("[")?;
    let mut ids = Vec::new();
    loop {
        ids.push(number(cursor, "an address")?);
        if ids.len() > MOST_REMOVED {
            let message = format!("an option removes at most {MOST_REMOVED} addresses");
            return Err(Problem::invalid(cursor.line(), message));
        }
        cursor.skip_space();
        if cursor.skip_prefix("]") {
            return Ok(ids);
        }
        cursor.expect(",")?;
    }
}

fn token(cursor: &mut Cursor<'_>) -> Result<Token, Problem> {
    if !skip_word(cursor, "token") {
        return Err(cursor.expected("`token=sha256_32(skey)`, `token=auto` or `token=NUMBER`"));
    }
    cursor.expect("=")?;
    if skip_word(cursor, "auto") {
        return Ok(Token::Auto);
    }
    if skip_word(cursor, "sha256_32") {
        cursor.expect("(")?;
        let key = key(cursor)?;
        cursor.expect(")")?;
        return Ok(Token::Hash(key.name));
    }
    number(cursor, "a token").map(Token::Number)
}

/// Parses `name=auto`. An HMAC is not in the model, so it can only be right.
fn hmac(cursor: &mut Cursor<'_>, name: &str, expected: &str) -> Result<(), Problem> {
    if !skip_word(cursor, name) {
        return Err(cursor.expected(expected));
    }
    cursor.expect("=")?;
    if skip_word(cursor, "auto") {
        return Ok(());
    }
    let message = format!("`{name}` other than `auto` is not supported");
    Err(Problem::unsupported(cursor.line(), message))
}

#[cfg(test)]
mod tests {
    use crate::cursor::Cursor;
    use crate::options::Options;
    use crate::problem::{Problem, ProblemKind};

    fn options(text: &str) -> Result<Option<Options>, Problem> {
        Options::read(&mut Cursor::new(text, 3))
    }

    #[test]
    fn an_option_is_written_as_it_was_read() {
        for text in [
            "<mpcapable v1 flags[flag_h] nokey>",
            "<mpcapable v0 flags[flag_b, flag_h] key[skey=2]>",
            "<mpcapable v1 flags 0x0 key[ckey, skey] mpcdatalen 9,nop,nop>",
            "<dss dack4=7 nocs>",
            "<dss dack8=7 dsn8=9 ssn=3 dll=100 nocs fin,nop,nop>",
            "<dss dack4 dsn4 nocs,nop,nop>",
            "<add_address address_id=2 addr[x] hmac=auto>",
            "<add_address addr[x=inet_addr(\"192.0.2.7\")] addr_echo>",
            "<add_address addr[x=inet6_addr(\"2001:db8::7\")] hmac=auto>",
            "<remove_address address_id=[1,2,3,4,5]>",
            "<mp_join_syn backup=1 address_id=2 token=sha256_32(skey)>",
            "<mp_join_syn backup=0 token=auto>",
            "<mp_join_syn backup=0 token=77>",
            "<mp_join_syn_ack backup=0 address_id=2 sender_hmac=auto>",
            "<mp_join_ack sender_hmac=auto>",
            "<mp_prio backup=1 address_id=1>",
            "<mp_prio backup=0,nop>",
            "<mp_reset 4 flags[flag_t]>",
            "<mp_fastclose ckey=42>",
            "<mp_fastclose>",
        ] {
            let read = options(&text[1..]).expect(text).expect("a list");
            assert_eq!(read.to_string(), text);
        }
        let read = options("mpcapable v1 flags 0x41 nokey>")
            .expect("right")
            .expect("a list");
        assert_eq!(
            read.to_string(),
            "<mpcapable v1 flags[flag_b, flag_h] nokey>"
        );
    }

    #[test]
    fn a_mistake_is_named_with_the_expected_and_the_nearest_name() {
        for (text, words) in [
            ("mp_capabel v1>", ["no Multipath TCP option", "mpcapable"]),
            ("mpcapable v1 nokey>", ["expected flags", "flags[flag_h]"]),
            (
                "mpcapable v1 flags[flag_x] nokey>",
                ["flag_x", "nearest: `flag_a`"],
            ),
            ("mpcapable v1 flags[flag_h] skey>", ["`nokey`", "skey"]),
            (
                "mpcapable v1 flags[flag_h] key[1]>",
                ["name of a key", "1]"],
            ),
            (
                "mpcapable v1 flags 0x1234 nokey>",
                ["does not fit", "flags"],
            ),
            ("dss dack4=1 dsn9=1>", ["`dsn9`", "nearest: `dsn4`"]),
            ("dss dsn4=1 dack4=1>", ["in this order", "dack4"]),
            ("dss nocs>", ["DATA_ACK", "dack8="]),
            ("add_address hmac=auto>", ["`addr[NAME]`", "hmac"]),
            (
                "add_address addr[x=inet_addr(\"1.2\")] addr_echo>",
                ["IP address", "1.2"],
            ),
            ("add_address addr[x]>", ["`hmac=auto`", "found"]),
            ("mp_join_syn token=x>", ["a token", "`x>`"]),
            ("mp_join_syn>", ["token=sha256_32(skey)", "found"]),
            ("mp_prio backup=2>", ["`backup=1`", "found"]),
            ("mp_prio backup=>", ["backup flag", "whole number"]),
            ("mp_reset>", ["reason", "whole number"]),
            ("mp_reset 256>", ["256", "does not fit"]),
            (
                "remove_address address_id=[]>",
                ["an address", "whole number"],
            ),
            (
                "remove_address address_id=[1,1,1,1,1,1,1,1,1]>",
                ["at most", "8"],
            ),
        ] {
            let problem = options(text).expect_err(text);
            assert_eq!(problem.line, 3, "{text}");
            for word in words {
                assert!(
                    problem.message.contains(word),
                    "{text}: {}",
                    problem.message
                );
            }
        }
    }

    #[test]
    fn parts_that_the_model_lacks_are_not_supported() {
        for text in [
            "mpcapable v1 flags[flag_a] nokey>",
            "dss dack4=1 dsn4=1 ssn=1 dll=1 cksum=0>",
            "mp_join_ack sender_hmac=trunc_l64_hmac(1)>",
            "add_address addr[x] port=80 hmac=auto>",
            "add_address addr[x] hmac=7>",
            "mp_fail dsn8=1>",
        ] {
            let problem = options(text).expect_err(text);
            assert_eq!(problem.kind, ProblemKind::Unsupported, "{text}");
        }
    }
}
