//! Format of a bearer's headers, and its LCID.

use crate::pdcp::PdcpConfig;
use crate::rlc::{Generation, Mode, RlcConfig};

/// Format of a bearer's headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BearerFormat {
    /// Logical channel identity.
    pub lcid: u8,
    /// LTE or NR.
    pub generation: Generation,
    /// Mode of RLC.
    pub rlc: Form,
    /// Parameters of PDCP.
    pub pdcp: PdcpConfig,
}

/// RLC mode with its sn-FieldLength in bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Transparent mode.
    Tm,
    /// Unacknowledged mode.
    Um(u8),
    /// Acknowledged mode.
    Am(u8),
}

impl Form {
    /// Returns the mode of an RLC entity with its SN length.
    pub fn from_config(rlc: &RlcConfig) -> Form {
        match rlc.mode {
            Mode::Tm => Form::Tm,
            Mode::Um(um) => Form::Um(um.sn_bits),
            Mode::Am(am) => Form::Am(am.sn_bits),
        }
    }

    /// Returns the rank of the mode and SN length within its generation, common ones first.
    fn rank(self) -> u8 {
        match self {
            Form::Am(10 | 18) => 0,
            Form::Um(10 | 12) => 1,
            Form::Am(_) => 2,
            Form::Um(_) => 3,
            Form::Tm => 4,
        }
    }
}

/// LCIDs of data in LTE and NR. TS 36.321 Table 6.2.1-1 has 10 LCIDs, of which SRBs use two. TS
/// 38.321 Table 6.2.1-1 has 32, of which SRBs use three.
const LCIDS: [std::ops::RangeInclusive<u8>; 2] = [3..=10, 4..=32];
const FORMS: u8 = 5;

impl BearerFormat {
    /// Returns the format of the UE's `nth` bearer with this RLC mode and SN length.
    ///
    /// RRC may choose any LCID. Here the LCID identifies the RLC mode and SN length, the same in
    /// every run. So a reader that knows the table needs no signalling. Bearers beyond the table
    /// share one LCID.
    pub fn new(rlc: &RlcConfig, pdcp: &PdcpConfig, nth: u8) -> BearerFormat {
        let form = Form::from_config(rlc);
        let lcids = &LCIDS[usize::from(rlc.generation == Generation::Nr)];
        let first = lcids.start() + form.rank();
        let lcid = first.saturating_add(nth.saturating_mul(FORMS));
        BearerFormat {
            lcid: if lcids.contains(&lcid) { lcid } else { first },
            generation: rlc.generation,
            rlc: form,
            pdcp: *pdcp,
        }
    }

    /// Returns the identity of the data radio bearer, counted from 1.
    pub fn drb(&self) -> u8 {
        self.lcid + 1 - LCIDS[usize::from(self.generation == Generation::Nr)].start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lcid_tells_the_form() {
        let format_of = |rlc, nth| BearerFormat::new(&rlc, &PdcpConfig::NR, nth);
        assert_eq!(format_of(RlcConfig::NR_AM, 0).lcid, 4);
        assert_eq!(format_of(RlcConfig::NR_UM, 0).lcid, 5);
        assert_eq!(format_of(RlcConfig::NR_SRB, 0).lcid, 6);
        assert_eq!(format_of(RlcConfig::TM, 0).lcid, 8);
        assert_eq!(format_of(RlcConfig::LTE_AM, 0).lcid, 3);
        assert_eq!(format_of(RlcConfig::LTE_UM, 0).lcid, 4);
        assert_eq!(format_of(RlcConfig::NR_AM, 1).lcid, 9);
        assert_eq!(format_of(RlcConfig::NR_AM, 1).drb(), 6);
        assert_eq!(format_of(RlcConfig::LTE_AM, 0).drb(), 1);
    }

    #[test]
    fn bearers_beyond_the_table_share_an_lcid() {
        let lcid_of = |nth| BearerFormat::new(&RlcConfig::LTE_AM, &PdcpConfig::LTE, nth).lcid;
        assert_eq!(
            [lcid_of(0), lcid_of(1), lcid_of(2), lcid_of(200)],
            [3, 8, 3, 3]
        );
    }
}
