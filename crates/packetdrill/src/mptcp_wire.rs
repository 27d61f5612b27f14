//! Conversion between the Multipath TCP options of a script and those of the endpoint.
//!
//! The endpoint's segments carry one option, and no keys, tokens and HMACs.

use crate::mptcp_options::{Announced, FLAG_HMAC, Key, Multipath, Number, Signal, Token};
use crate::options::{Options, TcpOption};
use fadeout_core::{Dss, Flags, MptcpOption, Segment};
use std::net::IpAddr;

/// Address identifier in an option of the endpoint: the number of the path.
type PathNumber = u8;

/// State of a connection that decides how its options look in a script.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outlook {
    /// True if the peer may not know the keys yet. Linux then maps the first data by MP_CAPABLE.
    pub(crate) maps_by_capable: bool,
    /// Address of the path in ADD_ADDR. `None` if the path has none.
    pub(crate) announced: Option<IpAddr>,
}

/// Returns the option of a sent segment in the layout of Linux (`mptcp_write_options`). Empty
/// without an option. `seq` is the segment's sequence number in the script.
pub(crate) fn sent(segment: &Segment, seq: u32, outlook: Outlook) -> Vec<TcpOption> {
    let Some(option) = option_of(segment, seq, outlook) else {
        return Vec::new();
    };
    let padding = option.len().next_multiple_of(4) - option.len();
    let mut list = vec![TcpOption::Multipath(option)];
    list.extend(std::iter::repeat_n(TcpOption::NoOperation, padding));
    list
}

fn option_of(segment: &Segment, seq: u32, outlook: Outlook) -> Option<Multipath> {
    let is_syn = segment.flags.has(Flags::SYN);
    let is_reply = is_syn && segment.flags.has(Flags::ACK);
    let both = || vec![Key::named("ckey"), Key::named("skey")];
    let capable = |keys, data_len| Multipath::Capable {
        version: 1,
        flags: FLAG_HMAC,
        keys,
        data_len,
    };
    Some(match segment.mptcp {
        MptcpOption::None => return None,
        MptcpOption::Capable if is_reply => capable(vec![Key::named("skey")], None),
        MptcpOption::Capable if is_syn => capable(Vec::new(), None),
        MptcpOption::Capable => capable(both(), None),
        MptcpOption::Join { backup } if is_reply => Multipath::JoinSynAck { backup, id: None },
        MptcpOption::Join { backup } if is_syn => Multipath::JoinSyn {
            backup,
            id: None,
            token: Token::Auto,
        },
        MptcpOption::Join { .. } => Multipath::JoinAck,
        MptcpOption::Dss(dss) if outlook.maps_by_capable && segment.len > 0 => {
            capable(both(), Some(dss.data_len))
        }
        MptcpOption::Dss(dss) => Multipath::Signal(signal_of(dss, segment, seq)),
        MptcpOption::AddAddress { path, is_echo } => Multipath::AddAddress(Announced {
            id: Some(path),
            name: "address".to_owned(),
            address: outlook.announced,
            is_echo,
        }),
        MptcpOption::RemoveAddress { path } => Multipath::RemoveAddress(vec![path]),
        MptcpOption::Priority { backup } => Multipath::Priority { backup, id: None },
        MptcpOption::FastClose => Multipath::FastClose { key: None },
        MptcpOption::Reset { reason } => Multipath::Reset {
            reason,
            is_transient: false,
        },
    })
}

fn signal_of(dss: Dss, segment: &Segment, seq: u32) -> Signal {
    let has_mapping = dss.data_len > 0;
    let number = |is_long, value| Number {
        is_long,
        value: Some(value),
    };
    Signal {
        data_ack: number(dss.has_long_ack, dss.data_ack),
        data_seq: has_mapping.then(|| number(true, dss.data_seq)),
        // A DATA_FIN without data has the subflow sequence number 0 (RFC 8684 section 3.3.3).
        subflow_seq: has_mapping.then_some(if segment.len > 0 { seq } else { 0 }),
        len: has_mapping.then_some(dss.data_len),
        fin: dss.data_fin,
    }
}

/// Copies parts of the expected options into the options of a sent segment. These are the parts
/// that the model lacks or the script leaves open. `is_same_address` compares an announced address
/// of the script with a sent one.
pub(crate) fn adopt(
    mut sent: Options,
    expected: &Options,
    mut is_same_address: impl FnMut(&Announced, IpAddr) -> bool,
) -> Options {
    let wanted: Vec<&Multipath> = expected.multipath().collect();
    let mut announces = false;
    for option in &mut sent.0 {
        let TcpOption::Multipath(option) = option else {
            continue;
        };
        let same_kind =
            |one: &&&Multipath| std::mem::discriminant(**one) == std::mem::discriminant(&*option);
        if let Some(wanted) = wanted.iter().find(same_kind) {
            adopt_option(option, wanted, &mut is_same_address);
        }
        announces |= matches!(option, Multipath::AddAddress(_));
    }
    // Linux puts the DATA_ACK behind ADD_ADDR. A segment of the endpoint has one option only.
    let is_bare = |one: &&TcpOption| matches!(one, TcpOption::Multipath(Multipath::Signal(signal)) if signal.is_bare());
    if announces && let Some(bare) = expected.0.iter().find(is_bare) {
        sent.0.push(bare.clone());
    }
    sent
}

fn adopt_option(
    option: &mut Multipath,
    wanted: &Multipath,
    is_same_address: &mut impl FnMut(&Announced, IpAddr) -> bool,
) {
    match (option, wanted) {
        (Multipath::Capable { keys, .. }, Multipath::Capable { keys: wanted, .. })
            if keys.len() == wanted.len() =>
        {
            keys.clone_from(wanted);
        }
        (Multipath::Signal(signal), Multipath::Signal(wanted)) => adopt_signal(signal, wanted),
        (Multipath::AddAddress(announced), Multipath::AddAddress(wanted)) => {
            if wanted.id.is_none() {
                announced.id = None;
            }
            if announced
                .address
                .is_some_and(|sent| is_same_address(wanted, sent))
            {
                announced.name.clone_from(&wanted.name);
                announced.address = wanted.address;
            }
        }
        (
            Multipath::JoinSyn { id, token, .. },
            Multipath::JoinSyn {
                id: wanted_id,
                token: wanted_token,
                ..
            },
        ) => {
            *id = *wanted_id;
            token.clone_from(wanted_token);
        }
        (Multipath::JoinSynAck { id, .. }, Multipath::JoinSynAck { id: wanted, .. }) => {
            *id = *wanted;
        }
        (Multipath::FastClose { key }, Multipath::FastClose { key: wanted }) => {
            key.clone_from(wanted);
        }
        _ => {}
    }
}

fn adopt_signal(signal: &mut Signal, wanted: &Signal) {
    if wanted.data_ack.value.is_none() {
        signal.data_ack.value = None;
    }
    if let (Some(number), Some(wanted)) = (&mut signal.data_seq, wanted.data_seq)
        && wanted.value.is_none()
    {
        number.value = None;
    }
    if wanted.subflow_seq.is_none() {
        signal.subflow_seq = None;
    }
    if wanted.len.is_none() {
        signal.len = None;
    }
}

/// Facts that are needed to convert the options of a received segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// First data sequence number that the peer has not acknowledged.
    pub(crate) data_una: u64,
    /// Next data sequence number expected from the peer.
    pub(crate) data_next: u64,
    /// Name of this end's key.
    pub(crate) own_key: &'static str,
}

/// Returns the options of a received segment for the endpoint. The first option is that of the
/// segment. A further option arrives on a segment of its own. `path_of` returns the path of an
/// announced address.
///
/// # Errors
/// Returns an error that names a mapping that the endpoint cannot process.
pub(crate) fn received(
    options: &Options,
    segment: &Segment,
    arrival: Arrival,
    mut path_of: impl FnMut(&Announced) -> Option<PathNumber>,
) -> Result<Vec<MptcpOption>, String> {
    let mut list = Vec::new();
    for option in options.multipath() {
        let converted = match option {
            Multipath::Capable {
                data_len: Some(len),
                ..
            } if option.is_valid_capable() && segment.len > 0 => {
                MptcpOption::Dss(mapped_by_capable(*len, segment, arrival)?)
            }
            Multipath::Capable { .. } if option.is_valid_capable() => MptcpOption::Capable,
            Multipath::Signal(signal) => MptcpOption::Dss(dss_of(signal, segment, arrival)?),
            Multipath::AddAddress(announced) => match path_of(announced) {
                Some(path) => MptcpOption::AddAddress {
                    path,
                    is_echo: announced.is_echo,
                },
                None => continue,
            },
            Multipath::RemoveAddress(ids) => {
                list.extend(ids.iter().map(|&path| MptcpOption::RemoveAddress { path }));
                continue;
            }
            Multipath::JoinSyn { backup, .. } | Multipath::JoinSynAck { backup, .. } => {
                MptcpOption::Join { backup: *backup }
            }
            Multipath::JoinAck => MptcpOption::Join { backup: false },
            Multipath::Priority { backup, id: None } => MptcpOption::Priority { backup: *backup },
            Multipath::FastClose { key } if is_own(key.as_ref(), arrival) => MptcpOption::FastClose,
            Multipath::Reset { reason, .. } if segment.flags.has(Flags::RST) => {
                MptcpOption::Reset { reason: *reason }
            }
            // As in Linux, options with a wrong version, flag or key are ignored.
            _ => continue,
        };
        list.push(converted);
    }
    // The mapping belongs to the payload, so it comes first.
    list.sort_by_key(|option| !matches!(option, MptcpOption::Dss(_)));
    Ok(list)
}

/// Returns true if the key in MP_FASTCLOSE is that of this end. A number of the script is not.
///
/// Standard: RFC 8684 §3.5.
fn is_own(key: Option<&Key>, arrival: Arrival) -> bool {
    key.is_none_or(|key| key.value.is_none() && key.name == arrival.own_key)
}

/// Returns the signal of the first data, whose mapping is in MP_CAPABLE.
///
/// Standard: RFC 8684 §3.1.
fn mapped_by_capable(len: u16, segment: &Segment, arrival: Arrival) -> Result<Dss, String> {
    let signal = Signal {
        data_ack: Number {
            is_long: true,
            value: Some(arrival.data_una),
        },
        data_seq: Some(Number {
            is_long: true,
            value: Some(1),
        }),
        subflow_seq: Some(1),
        len: Some(len),
        fin: false,
    };
    dss_of(&signal, segment, arrival)
}

fn dss_of(signal: &Signal, segment: &Segment, arrival: Arrival) -> Result<Dss, String> {
    // Data sequence numbers have 64 bits. The script means the number nearest to `reference`.
    let near = |number: Option<Number>, reference: u64| {
        let value = number.and_then(|number| number.value);
        value.map_or(reference, |value| {
            let offset = (value as u32).wrapping_sub(reference as u32) as i32;
            reference.saturating_add_signed(i64::from(offset))
        })
    };
    let mut dss = Dss {
        data_ack: near(Some(signal.data_ack), arrival.data_una),
        ..Dss::default()
    };
    let len = signal.len.unwrap_or(segment.len as u16);
    if signal.data_seq.is_none() || len == 0 {
        return Ok(dss);
    }
    dss.data_seq = near(signal.data_seq, arrival.data_next);
    dss.data_len = len;
    dss.data_fin = signal.fin;
    if segment.len == 0 {
        // A mapping without payload signals at most the DATA_FIN.
        dss.data_len = if signal.fin { len } else { 0 };
        return Ok(dss);
    }
    let begins = signal.subflow_seq.map_or(segment.seq, u64::from);
    let skipped = segment.seq.checked_sub(begins);
    let skipped = skipped.filter(|skipped| {
        skipped + u64::from(segment.len) + u64::from(signal.fin) <= u64::from(len)
    });
    let Some(skipped) = skipped else {
        return Err("a payload that is not within its mapping".to_owned());
    };
    dss.data_seq += skipped;
    dss.data_len -= skipped as u16;
    Ok(dss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::Cursor;

    const ARRIVAL: Arrival = Arrival {
        data_una: 101,
        data_next: 201,
        own_key: "skey",
    };

    fn options(text: &str) -> Options {
        let read = Options::read(&mut Cursor::new(text, 1)).expect(text);
        read.expect("a list")
    }

    fn arrives(text: &str, segment: Segment) -> Result<Vec<MptcpOption>, String> {
        received(&options(text), &segment, ARRIVAL, |_| Some(1))
    }

    fn data(seq: u64, len: u32) -> Segment {
        Segment {
            seq,
            len,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    #[test]
    fn a_mapping_belongs_to_the_first_byte_of_the_segment() {
        let list = arrives(
            "dss dack4=101 dsn4=201 ssn=1 dll=300 nocs,nop,nop>",
            data(11, 100),
        );
        let dss = Dss {
            data_ack: 101,
            data_seq: 211,
            data_len: 290,
            ..Dss::default()
        };
        assert_eq!(list, Ok(vec![MptcpOption::Dss(dss)]));
        for text in [
            "dss dack4=101 dsn4=201 ssn=1 dll=100 nocs,nop,nop>",
            "dss dack4=101 dsn4=201 ssn=12 dll=300 nocs,nop,nop>",
            "dss dack4=101 dsn4=201 ssn=11 dll=100 nocs fin,nop,nop>",
        ] {
            assert!(arrives(text, data(11, 100)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_mapping_without_payload_signals_at_most_the_end() {
        for (text, len, fin) in [
            ("dss dack8=1 dsn8=201 ssn=1 dll=100 nocs,nop,nop>", 0, false),
            (
                "dss dack8=1 dsn8=201 ssn=0 dll=1 nocs fin,nop,nop>",
                1,
                true,
            ),
            ("dss dack8=1 nocs fin>", 0, false),
        ] {
            let list = arrives(text, data(1, 0)).expect(text);
            let [MptcpOption::Dss(dss)] = list[..] else {
                panic!("{list:?}");
            };
            assert_eq!((dss.data_len, dss.data_fin), (len, fin), "{text}");
        }
    }

    #[test]
    fn options_with_a_wrong_version_flag_or_key_are_ignored() {
        for text in [
            "mpcapable v0 flags[flag_h] nokey>",
            "mpcapable v1 flags[flag_b, flag_h] nokey>",
            "mpcapable v1 flags 0x0 nokey>",
            "mp_fastclose skey=42>",
            "mp_fastclose ckey>",
            "mp_prio backup=1 address_id=1>",
            "mp_reset 1>",
        ] {
            assert_eq!(arrives(text, data(1, 0)), Ok(vec![]), "{text}");
        }
        for text in ["mp_fastclose>", "mp_fastclose skey>"] {
            assert_eq!(arrives(text, data(1, 0)), Ok(vec![MptcpOption::FastClose]));
        }
    }

    #[test]
    fn a_signal_precedes_the_other_options() {
        let text = "add_address addr[x] addr_echo,dss dack4=101 nocs>";
        let list = arrives(text, data(1, 0)).expect("right");
        let echo = MptcpOption::AddAddress {
            path: 1,
            is_echo: true,
        };
        assert!(matches!(list[..], [MptcpOption::Dss(_), other] if other == echo));
    }

    #[test]
    fn parts_that_a_script_leaves_open_are_adopted_and_no_others() {
        let signal = Dss {
            data_ack: 7,
            data_seq: 9,
            data_len: 100,
            ..Dss::default()
        };
        let segment = Segment {
            mptcp: MptcpOption::Dss(signal),
            ..data(3, 100)
        };
        for (text, is_same) in [
            ("dss dack4=7 dsn8=9 ssn=3 dll=100 nocs,nop,nop>", true),
            ("dss dack4 dsn8=9 nocs,nop,nop>", true),
            ("dss dack4=8 dsn8=9 nocs,nop,nop>", false),
            ("dss dack8=7 dsn8=9 nocs>", false),
            ("dss dack4=7 dsn8=9 ssn=3 dll=101 nocs,nop,nop>", false),
            ("dss dack4=7 nocs>", false),
        ] {
            let expected = options_or_unpadded(text);
            let sent = Options(sent(&segment, 3, Outlook::default()));
            let adopted = adopt(sent, &expected, |_, _| true);
            assert_eq!(adopted == expected, is_same, "{text} {adopted}");
        }
    }

    /// Parses a list that may lack its padding.
    fn options_or_unpadded(text: &str) -> Options {
        let mut text = text.trim_end_matches('>').to_owned();
        loop {
            match Options::read(&mut Cursor::new(&format!("{text}>"), 1)) {
                Ok(read) => return read.expect("a list"),
                Err(_) => text.push_str(",nop"),
            }
        }
    }
}
