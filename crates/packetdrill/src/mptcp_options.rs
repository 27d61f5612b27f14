//! Options of Multipath TCP in the notation of scripts: data types, lengths and printing.
//! `mptcp_parse` reads the options, and `mptcp_wire` converts them to those of the endpoint.
//!
//! Standard: RFC 8684 §3.

use std::fmt;
use std::net::IpAddr;

/// Flag of MP_CAPABLE: the sender requires checksums.
pub(crate) const FLAG_CHECKSUM: u8 = 0x80;
/// Flag of MP_CAPABLE: the option has an extension, which no version defines.
pub(crate) const FLAG_EXTENSION: u8 = 0x40;
/// Flag of MP_CAPABLE: HMAC-SHA256.
pub(crate) const FLAG_HMAC: u8 = 0x01;
/// Names of MP_CAPABLE's flags, from the highest bit.
pub(crate) const FLAGS: [&str; 8] = [
    "flag_a", "flag_b", "flag_c", "flag_d", "flag_e", "flag_f", "flag_g", "flag_h",
];

/// Key in the script: its name and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: String,
    /// Value that the script assigns. `None` if the script assigns none.
    pub(crate) value: Option<u64>,
}

impl Key {
    pub(crate) fn named(name: &str) -> Key {
        Key {
            name: name.to_owned(),
            value: None,
        }
    }
}

/// Number of 4 or 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) is_long: bool,
    /// Value. `None` if the script gives the width only.
    pub(crate) value: Option<u64>,
}

/// Data sequence signal.
///
/// Standard: RFC 8684 §3.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signal {
    pub(crate) data_ack: Number,
    /// Data sequence number of the mapping. `None` without a mapping.
    pub(crate) data_seq: Option<Number>,
    /// Subflow sequence number of the mapping. `None` if the script gives none.
    pub(crate) subflow_seq: Option<u32>,
    /// Length of the mapping. `None` if the script gives none.
    pub(crate) len: Option<u16>,
    pub(crate) fin: bool,
}

impl Signal {
    /// Returns true if the signal has a DATA_ACK only.
    pub(crate) fn is_bare(&self) -> bool {
        self.data_seq.is_none() && !self.fin
    }
}

/// Address in ADD_ADDR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Announced {
    /// Number of the address. `None` if the script gives none.
    pub(crate) id: Option<u8>,
    /// Name in the script.
    pub(crate) name: String,
    /// Address that the script assigns to the name. `None` if it assigns none.
    pub(crate) address: Option<IpAddr>,
    pub(crate) is_echo: bool,
}

/// Token of MP_JOIN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// Token of the connection.
    Auto,
    /// Hash of the key with this name.
    Hash(String),
    Number(u32),
}

/// Multipath TCP option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Multipath {
    Capable {
        version: u8,
        flags: u8,
        keys: Vec<Key>,
        /// Length of the mapping of the first data. `None` without data.
        data_len: Option<u16>,
    },
    Signal(Signal),
    AddAddress(Announced),
    RemoveAddress(Vec<u8>),
    JoinSyn {
        backup: bool,
        id: Option<u8>,
        token: Token,
    },
    JoinSynAck {
        backup: bool,
        id: Option<u8>,
    },
    JoinAck,
    Priority {
        backup: bool,
        /// Number of the address, as in version 0. `None` in version 1.
        id: Option<u8>,
    },
    FastClose {
        /// Key of the receiver. `None` if the key is right.
        key: Option<Key>,
    },
    Reset {
        reason: u8,
        is_transient: bool,
    },
}

impl Multipath {
    /// Returns true for an MP_CAPABLE that a host of version 1 accepts.
    ///
    /// Standard: RFC 8684 §3.1.
    pub(crate) fn is_valid_capable(&self) -> bool {
        matches!(self, Multipath::Capable { version: 1, flags, .. }
            if flags & FLAG_EXTENSION == 0 && flags & FLAG_HMAC != 0)
    }

    /// Returns the length of the option in the header, in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Multipath::Capable { keys, data_len, .. } => {
                4 + 8 * keys.len() + 2 * usize::from(data_len.is_some())
            }
            Multipath::Signal(signal) => {
                let width = |number: Number| if number.is_long { 8 } else { 4 };
                // The mapping also has a subflow sequence number and a length.
                let mapping = signal.data_seq.map_or(0, |number| width(number) + 6);
                4 + width(signal.data_ack) + mapping
            }
            Multipath::AddAddress(announced) => {
                let address = match announced.address {
                    Some(IpAddr::V6(_)) => 16,
                    _ => 4,
                };
                4 + address + if announced.is_echo { 0 } else { 8 }
            }
            Multipath::RemoveAddress(ids) => 3 + ids.len(),
            Multipath::JoinSyn { .. } | Multipath::FastClose { .. } => 12,
            Multipath::JoinSynAck { .. } => 16,
            Multipath::JoinAck => 24,
            Multipath::Priority { id, .. } => 3 + usize::from(id.is_some()),
            Multipath::Reset { .. } => 4,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.value.map_or(Ok(()), |value| write!(f, "={value}"))
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |f: &mut fmt::Formatter<'_>, name: &str, Number { is_long, value }| {
            write!(f, " {name}{}", if is_long { 8 } else { 4 })?;
            value.map_or(Ok(()), |value| write!(f, "={value}"))
        };
        f.write_str("dss")?;
        number(f, "dack", self.data_ack)?;
        if let Some(data_seq) = self.data_seq {
            number(f, "dsn", data_seq)?;
            self.subflow_seq
                .map_or(Ok(()), |seq| write!(f, " ssn={seq}"))?;
            self.len.map_or(Ok(()), |len| write!(f, " dll={len}"))?;
        }
        f.write_str(if self.fin { " nocs fin" } else { " nocs" })
    }
}

impl fmt::Display for Announced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("add_address")?;
        self.id.map_or(Ok(()), |id| write!(f, " address_id={id}"))?;
        match self.address {
            Some(IpAddr::V4(address)) => {
                write!(f, " addr[{}=inet_addr(\"{address}\")]", self.name)?;
            }
            Some(IpAddr::V6(address)) => {
                write!(f, " addr[{}=inet6_addr(\"{address}\")]", self.name)?;
            }
            None => write!(f, " addr[{}]", self.name)?,
        }
        f.write_str(if self.is_echo {
            " addr_echo"
        } else {
            " hmac=auto"
        })
    }
}

impl fmt::Display for Multipath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = |f: &mut fmt::Formatter<'_>, id: &Option<u8>| {
            id.map_or(Ok(()), |id| write!(f, " address_id={id}"))
        };
        match self {
            Multipath::Capable {
                version,
                flags,
                keys,
                data_len,
            } => {
                write!(f, "mpcapable v{version} ")?;
                let names: Vec<&str> = FLAGS
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| flags & (FLAG_CHECKSUM >> bit) != 0)
                    .map(|(_, name)| *name)
                    .collect();
                match names.as_slice() {
                    [] => f.write_str("flags 0x0")?,
                    names => write!(f, "flags[{}]", names.join(", "))?,
                }
                let keys: Vec<String> = keys.iter().map(Key::to_string).collect();
                match keys.as_slice() {
                    [] => f.write_str(" nokey")?,
                    keys => write!(f, " key[{}]", keys.join(", "))?,
                }
                data_len.map_or(Ok(()), |len| write!(f, " mpcdatalen {len}"))
            }
            Multipath::Signal(signal) => signal.fmt(f),
            Multipath::AddAddress(announced) => announced.fmt(f),
            Multipath::RemoveAddress(ids) => {
                let ids: Vec<String> = ids.iter().map(u8::to_string).collect();
                write!(f, "remove_address address_id=[{}]", ids.join(","))
            }
            Multipath::JoinSyn { backup, id, token } => {
                write!(f, "mp_join_syn backup={}", u8::from(*backup))?;
                address(f, id)?;
                match token {
                    Token::Auto => f.write_str(" token=auto"),
                    Token::Hash(key) => write!(f, " token=sha256_32({key})"),
                    Token::Number(number) => write!(f, " token={number}"),
                }
            }
            Multipath::JoinSynAck { backup, id } => {
                write!(f, "mp_join_syn_ack backup={}", u8::from(*backup))?;
                address(f, id)?;
                f.write_str(" sender_hmac=auto")
            }
            Multipath::JoinAck => f.write_str("mp_join_ack sender_hmac=auto"),
            Multipath::Priority { backup, id } => {
                write!(f, "mp_prio backup={}", u8::from(*backup))?;
                address(f, id)
            }
            Multipath::FastClose { key } => {
                f.write_str("mp_fastclose")?;
                key.as_ref().map_or(Ok(()), |key| write!(f, " {key}"))
            }
            Multipath::Reset {
                reason,
                is_transient,
            } => {
                let flag = if *is_transient { " flags[flag_t]" } else { "" };
                write!(f, "mp_reset {reason}{flag}")
            }
        }
    }
}
