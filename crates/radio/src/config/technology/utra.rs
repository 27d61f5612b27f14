//! 3G cells. UEs of LTE and NR measure the pilot of these cells.

use super::{Carrier, Lte};
use crate::config::CellConfig;
use fadeout_core::registry::{Entry, Registered, Settings, number};
use fadeout_core::{Decibel, Hertz};

/// Carrier spacing of UTRA.
///
/// Standard: TS 25.101 §5.4.1.
const SPACING: Hertz = Hertz(5e6);

/// Number of LTE resource blocks in 5 MHz, used as the width of a 3G carrier.
const BLOCKS: u32 = 25;

fadeout_core::parameters! {
    /// The parameters of a cell of 3G.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Utra {
        /// Power of the primary CPICH divided by the total power of the cell (CPICH_Ec/Ior, TS
        /// 25.133 clause A.4).
        cpich_ec_ior: Decibel = number((-30.0, 0.0, "dB"), "-10"),
    }
}

impl Registered for Utra {
    const ENTRY: Entry = Entry::new(
        "utra",
        "3GPP",
        "3G under mobility management: UEs measure the cell's pilot, and the [rab] from the cell's \
         node to the phone carries the data.",
        "TS 25.215 clause 5.1.1",
    )
    .with_parameters(Utra::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Utra::read(settings)
    }
}

impl Utra {
    pub(super) fn cell(&self, carrier: &Carrier) -> Result<CellConfig, String> {
        let given = carrier.bandwidth;
        if given != SPACING {
            let given = given.0 / 1e6;
            return Err(format!(
                "`bandwidth` is {given} MHz; expected \"5 MHz\", which carriers of UTRA have"
            ));
        }
        let cell = Lte::default().with_blocks(carrier.site, carrier.carrier, BLOCKS);
        Ok(CellConfig {
            pilot: Some(self.cpich_ec_ior),
            ..cell
        })
    }
}
