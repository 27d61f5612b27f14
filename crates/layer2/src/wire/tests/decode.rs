//! Decoder of MAC and RLC PDUs that reads bytes only, like a receiver.

use super::Form;

/// SubPDUs of a MAC PDU.
#[derive(Debug, Default)]
pub(super) struct Mac<'a> {
    /// LCID and bytes of each SDU.
    pub(super) sdus: Vec<(u8, &'a [u8])>,
    /// Index of the buffer status report. `None` without one.
    pub(super) status: Option<u8>,
    /// Bytes of padding with their subheaders.
    pub(super) padding: usize,
}

pub(super) fn mac_nr(mut bytes: &[u8]) -> Mac<'_> {
    let mut mac = Mac::default();
    while let [first, rest @ ..] = bytes {
        let lcid = first & 0x3f;
        if lcid == 63 {
            mac.padding = bytes.len();
            break;
        }
        let (len, rest) = match first & 0x40 {
            0 => (usize::from(rest[0]), &rest[1..]),
            _ => (number(&rest[..2]), &rest[2..]),
        };
        let (body, rest) = rest.split_at(len);
        if lcid == 62 {
            assert_eq!((body.len(), body[0]), (2, 1), "a report of one group");
            mac.status = Some(body[1]);
        } else {
            mac.sdus.push((lcid, body));
        }
        bytes = rest;
    }
    mac
}

pub(super) fn mac_lte(bytes: &[u8]) -> Mac<'_> {
    let mut mac = Mac::default();
    // LCID of each subheader, and the length if the subheader has one.
    let mut subheaders = Vec::new();
    let mut at = 0;
    loop {
        let first = bytes[at];
        let (lcid, is_more) = (first & 0x1f, first & 0x20 != 0);
        at += 1;
        let len = if lcid == 31 {
            Some(0)
        } else if lcid == 29 {
            Some(1)
        } else if !is_more {
            None
        } else if first & 0x40 != 0 {
            at += 2;
            Some(number(&bytes[at - 2..at]))
        } else if bytes[at] & 0x80 != 0 {
            at += 2;
            Some(number(&bytes[at - 2..at]) & 0x7fff)
        } else {
            at += 1;
            Some(usize::from(bytes[at - 1]))
        };
        subheaders.push((lcid, len));
        if !is_more {
            break;
        }
    }
    for (index, &(lcid, len)) in subheaders.iter().enumerate() {
        let is_last = index + 1 == subheaders.len();
        let end = len.map_or(bytes.len(), |len| at + len);
        match lcid {
            31 if is_last => {
                mac.padding += 1 + bytes.len() - at;
                at = bytes.len();
            }
            31 => mac.padding += 1,
            29 => mac.status = Some(bytes[at] & 0x3f),
            _ => mac.sdus.push((lcid, &bytes[at..end])),
        }
        if lcid != 31 {
            at = end;
        }
    }
    assert_eq!(at, bytes.len(), "the subheaders account for every byte");
    mac
}

fn number(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .fold(0, |sum, &byte| sum << 8 | usize::from(byte))
}

/// Reader of bits from the front.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn read_bits(&mut self, width: usize) -> u32 {
        (0..width).fold(0, |value, _| {
            let bit = self.bytes[self.at / 8] >> (7 - self.at % 8) & 1;
            self.at += 1;
            value << 1 | u32::from(bit)
        })
    }
    fn flag(&mut self) -> bool {
        self.read_bits(1) == 1
    }
    fn byte(&self) -> usize {
        self.at.div_ceil(8)
    }
}

/// NACK_SN, range, SOstart and SOend.
pub(super) type Missing = (u32, u32, Option<(u32, u32)>);

/// Fields of an RLC PDU.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Rlc<'a> {
    pub(super) is_status: bool,
    pub(super) is_polling: bool,
    pub(super) sn: Option<u32>,
    /// SO, relative to the SDU (NR) or to the data field (LTE).
    pub(super) offset: Option<u32>,
    pub(super) is_last_segment: Option<bool>,
    /// True if the data field begins, or ends, in the middle of an SDU.
    pub(super) is_cut: (bool, bool),
    /// Data of each SDU.
    pub(super) parts: Vec<&'a [u8]>,
    /// NACKs of a STATUS PDU.
    pub(super) nacks: Vec<Missing>,
}

pub(super) fn rlc_nr(bytes: &[u8], form: Form) -> Rlc<'_> {
    let mut reader = Reader { bytes, at: 0 };
    let mut rlc = Rlc::default();
    let is_am = match form {
        Form::Tm => {
            rlc.parts = vec![bytes];
            return rlc;
        }
        Form::Um(_) => false,
        Form::Am(_) => true,
    };
    let (Form::Um(bits) | Form::Am(bits)) = form else {
        unreachable!("transparent mode has returned");
    };
    let bits = usize::from(bits);
    if is_am {
        if !reader.flag() {
            return status_nr(reader, bits);
        }
        rlc.is_polling = reader.flag();
    }
    let segment = reader.read_bits(2);
    rlc.is_cut = (segment & 2 != 0, segment & 1 != 0);
    if is_am || segment != 0 {
        // Reserved bits fill up to whole bytes.
        reader.at = reader.at.max((reader.at + bits).next_multiple_of(8) - bits);
        rlc.sn = Some(reader.read_bits(bits));
    }
    if segment & 2 != 0 {
        rlc.offset = Some(reader.read_bits(16));
    }
    rlc.parts = vec![&bytes[reader.byte()..]];
    rlc
}

fn status_nr(mut reader: Reader<'_>, bits: usize) -> Rlc<'_> {
    let mut rlc = Rlc {
        is_status: true,
        ..Rlc::default()
    };
    assert_eq!(reader.read_bits(3), 0, "CPT");
    rlc.sn = Some(reader.read_bits(bits));
    let mut is_more = reader.flag();
    reader.at = reader.byte() * 8;
    while is_more {
        let sn = reader.read_bits(bits);
        is_more = reader.flag();
        let (has_offsets, has_range) = (reader.flag(), reader.flag());
        reader.at = reader.byte() * 8;
        let offsets = has_offsets.then(|| (reader.read_bits(16), reader.read_bits(16)));
        let range = if has_range { reader.read_bits(8) } else { 1 };
        rlc.nacks.push((sn, range, offsets));
    }
    assert_eq!(reader.byte(), reader.bytes.len(), "all bytes are read");
    rlc
}

pub(super) fn rlc_lte(bytes: &[u8], form: Form) -> Rlc<'_> {
    let mut reader = Reader { bytes, at: 0 };
    let mut rlc = Rlc::default();
    let mut is_segment = false;
    let mut is_more;
    match form {
        Form::Tm => {
            rlc.parts = vec![bytes];
            return rlc;
        }
        Form::Um(bits) => {
            reader.at = if bits == 10 { 3 } else { 0 };
            rlc.is_cut = (reader.flag(), reader.flag());
            is_more = reader.flag();
            rlc.sn = Some(reader.read_bits(bits.into()));
        }
        Form::Am(bits) => {
            if !reader.flag() {
                return status_lte(reader, bits.into());
            }
            is_segment = reader.flag();
            rlc.is_polling = reader.flag();
            rlc.is_cut = (reader.flag(), reader.flag());
            is_more = reader.flag();
            if bits == 16 {
                let is_last = reader.flag();
                reader.read_bits(1);
                rlc.sn = Some(reader.read_bits(16));
                if is_segment {
                    rlc.is_last_segment = Some(is_last);
                    rlc.offset = Some(reader.read_bits(16));
                }
            } else {
                rlc.sn = Some(reader.read_bits(10));
                if is_segment {
                    rlc.is_last_segment = Some(reader.flag());
                    rlc.offset = Some(reader.read_bits(15));
                }
            }
        }
    }
    assert_eq!(is_segment, rlc.offset.is_some());
    let width = if form == Form::Am(16) { 15 } else { 11 };
    let mut lengths = Vec::new();
    while is_more {
        is_more = reader.flag();
        lengths.push(reader.read_bits(width) as usize);
    }
    let mut data = &bytes[reader.byte()..];
    for len in lengths {
        let (part, rest) = data.split_at(len);
        rlc.parts.push(part);
        data = rest;
    }
    rlc.parts.push(data);
    rlc
}

fn status_lte(mut reader: Reader<'_>, bits: usize) -> Rlc<'_> {
    let mut rlc = Rlc {
        is_status: true,
        ..Rlc::default()
    };
    assert_eq!(reader.read_bits(3), 0, "CPT");
    rlc.sn = Some(reader.read_bits(bits));
    let mut is_more = reader.flag();
    let width = if bits == 16 { 16 } else { 15 };
    while is_more {
        let sn = reader.read_bits(bits);
        is_more = reader.flag();
        let has_offsets = reader.flag();
        let offsets = has_offsets.then(|| (reader.read_bits(width), reader.read_bits(width)));
        rlc.nacks.push((sn, 1, offsets));
    }
    assert_eq!(reader.byte(), reader.bytes.len(), "all bytes are read");
    rlc
}
