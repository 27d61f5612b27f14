//! Neighbours that a measurement event applies to.

use fadeout_core::Hertz;

/// Neighbours that a measurement event applies to, by carrier or technology. In the standard a
/// measurement object restricts the event instead.
///
/// Standard: TS 38.331 §5.5.2; TS 36.331 §5.5.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// All neighbours.
    #[default]
    Any,
    /// Neighbours on the serving cell's carrier.
    SameCarrier,
    /// Neighbours on carriers with a lower frequency than the serving cell's carrier.
    LowerCarrier,
    /// Neighbours on carriers with a higher frequency than the serving cell's carrier.
    HigherCarrier,
    /// 3G cells, for a UE in a cell of LTE or NR.
    ToUtra,
    /// Cells of LTE and NR, for a UE in a 3G cell.
    FromUtra,
}

impl Scope {
    /// True if the event applies to a neighbour on carrier `neighbour` of a UE on carrier
    /// `serving`.
    pub(crate) fn holds(self, serving: Hertz, neighbour: Hertz) -> bool {
        match self {
            Scope::Any => true,
            Scope::SameCarrier => neighbour.0 == serving.0,
            Scope::LowerCarrier => neighbour.0 < serving.0,
            Scope::HigherCarrier => neighbour.0 > serving.0,
            Scope::ToUtra | Scope::FromUtra => true,
        }
    }

    /// True if the event applies to UEs in a 3G cell. If `is_in_utra` is false, true if it applies
    /// to UEs in other cells.
    pub(crate) fn fits(self, is_in_utra: bool) -> bool {
        is_in_utra == (self == Scope::FromUtra)
    }

    /// True if the event is about a change to or from a 3G cell.
    pub(crate) fn has_utra(self) -> bool {
        matches!(self, Scope::ToUtra | Scope::FromUtra)
    }
}
