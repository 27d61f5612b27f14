//! Which neighbours a measurement event is about.

use fadeout_core::Hertz;

/// The neighbours that an event is about, by carrier or technology: an event names the measurement object of one.
///
/// Standard: TS 38.331 §5.5.2; TS 36.331 §5.5.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// All.
    #[default]
    Any,
    /// Those of the serving cell's carrier.
    SameCarrier,
    /// Those of a carrier below it.
    LowerCarrier,
    /// Those of a carrier above it.
    HigherCarrier,
    /// Cells of 3G, of a UE in another one.
    ToUtra,
    /// Others, of a UE in a cell of 3G.
    FromUtra,
}

impl Scope {
    /// Whether a neighbour with this carrier is in it.
    pub(crate) fn holds(self, serving: Hertz, neighbour: Hertz) -> bool {
        match self {
            Scope::Any => true,
            Scope::SameCarrier => neighbour.0 == serving.0,
            Scope::LowerCarrier => neighbour.0 < serving.0,
            Scope::HigherCarrier => neighbour.0 > serving.0,
            Scope::ToUtra | Scope::FromUtra => true,
        }
    }

    /// Whether it is about UEs in a cell of 3G, or in others.
    pub(crate) fn fits(self, is_in_utra: bool) -> bool {
        is_in_utra == (self == Scope::FromUtra)
    }

    /// Whether a cell of 3G is on one side.
    pub(crate) fn has_utra(self) -> bool {
        matches!(self, Scope::ToUtra | Scope::FromUtra)
    }
}
