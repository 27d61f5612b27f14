//! The radio access as hops of the world.

use fadeout_core::{CellId, Direction, DrbId, NullProbe, PacketPool, Time, UeId, Wake};
use fadeout_mobility::Places;
use fadeout_radio::access::{Counters, DirectionCounters, LegCounters, RadioAccess};
use fadeout_radio::pdcp::RohcCounts;

/// The radio access with the places of its nodes.
#[derive(Debug)]
pub(crate) struct Radio {
    pub(crate) access: RadioAccess,
    pub(crate) places: Places,
    pub(crate) wake: Wake,
    /// The numbers of its UEs and bearers where it is a part of the scenario's; else they have their own.
    pub(crate) numbers: Option<Box<Numbers>>,
    /// The other parts, once the run is over.
    pub(crate) others: Vec<Radio>,
}

/// The numbers of UEs and bearers of a part of the radio access: dense within the part, as the whole scenario's would leave
/// a gap in it for each that is in another.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// By number within the part: the scenario's.
    pub(crate) ues: Vec<UeId>,
    /// The same of bearers.
    pub(crate) bearers: Vec<DrbId>,
    /// By number in the scenario: that within the part; [`ELSEWHERE`] of those in others.
    local_ues: Vec<u32>,
    local_bearers: Vec<u32>,
}

/// No number.
const ELSEWHERE: u32 = u32::MAX;

impl Numbers {
    /// Of so many UEs and bearers of the scenario none is in the part yet.
    pub(crate) fn new(ues: usize, bearers: usize) -> Numbers {
        Numbers {
            local_ues: vec![ELSEWHERE; ues],
            local_bearers: vec![ELSEWHERE; bearers],
            ..Numbers::default()
        }
    }

    /// The next UE of the part is this one of the scenario.
    pub(crate) fn add_ue(&mut self, ue: UeId) {
        self.local_ues[ue.index()] = self.ues.len() as u32;
        self.ues.push(ue);
    }

    /// The next bearer of the part is this one of the scenario.
    pub(crate) fn add_bearer(&mut self, bearer: DrbId) {
        self.local_bearers[bearer.index()] = self.bearers.len() as u32;
        self.bearers.push(bearer);
    }

    /// A UE of the scenario within the part; none of another part.
    pub(crate) fn ue(&self, ue: UeId) -> Option<UeId> {
        let local = self.local_ues[ue.index()];
        (local != ELSEWHERE).then_some(UeId(local))
    }

    /// A bearer of the scenario within the part; none of another part.
    fn bearer(&self, bearer: DrbId) -> Option<DrbId> {
        let local = self.local_bearers[bearer.index()];
        (local != ELSEWHERE).then_some(DrbId(local))
    }
}

impl Radio {
    pub(crate) fn new(access: RadioAccess, places: Places) -> Radio {
        let mut radio = Radio {
            access,
            places,
            wake: Wake::default(),
            numbers: None,
            others: Vec::new(),
        };
        radio.attach();
        radio
    }

    /// Lets the UEs that look for the strongest cell find it: routes depend on it.
    fn attach(&mut self) {
        let Radio { access, places, .. } = self;
        let mut pool = PacketPool::new();
        let mut out = Vec::new();
        access.on_wake(Time::ZERO, places, &mut pool, &mut out, &mut NullProbe);
    }

    /// The number of a bearer of the scenario here.
    #[inline]
    pub(crate) fn local(&self, bearer: DrbId) -> DrbId {
        match &self.numbers {
            None => bearer,
            Some(numbers) => DrbId(numbers.local_bearers[bearer.index()]),
        }
    }

    pub(crate) fn local_ue(&self, ue: UeId) -> Option<UeId> {
        match &self.numbers {
            None => Some(ue),
            Some(numbers) => numbers.ue(ue),
        }
    }

    fn local_bearer(&self, bearer: DrbId) -> Option<DrbId> {
        match &self.numbers {
            None => Some(bearer),
            Some(numbers) => numbers.bearer(bearer),
        }
    }
}

/// The radio access of the scenario, whole or in parts, as a summary of the run reads it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accesses<'a> {
    first: &'a Radio,
}

impl<'a> Accesses<'a> {
    /// The one of a world, with the other parts.
    pub(crate) fn of(first: &'a Radio) -> Accesses<'a> {
        Accesses { first }
    }

    /// It as a whole; none where it is in parts.
    pub(crate) fn whole(self) -> Option<&'a RadioAccess> {
        let is_whole = self.first.numbers.is_none();
        is_whole.then_some(&self.first.access)
    }

    fn parts(self) -> impl Iterator<Item = &'a Radio> {
        std::iter::once(self.first).chain(&self.first.others)
    }

    /// The part that has a UE, and its number there.
    pub(crate) fn of_ue(self, ue: UeId) -> Option<(&'a RadioAccess, UeId)> {
        let mut parts = self.parts();
        parts.find_map(|radio| Some((&radio.access, radio.local_ue(ue)?)))
    }

    fn of_bearer(self, bearer: DrbId) -> Option<(&'a RadioAccess, DrbId)> {
        let mut parts = self.parts();
        parts.find_map(|radio| Some((&radio.access, radio.local_bearer(bearer)?)))
    }

    /// As [`RadioAccess::counters`].
    pub(crate) fn counters(self) -> Counters {
        let mut sum = Counters::default();
        for part in self.parts() {
            let counters = part.access.counters();
            sum.events += counters.events;
            sum.slots += counters.slots;
            sum.requests += counters.requests;
            sum.link_failures += counters.link_failures;
        }
        sum
    }

    /// As [`RadioAccess::forwarded_drops`].
    pub(crate) fn forwarded_drops(self) -> u64 {
        let parts = self.parts();
        parts.map(|part| part.access.forwarded_drops()).sum()
    }

    /// As [`RadioAccess::serving_cell`].
    pub(crate) fn serving_cell(self, ue: UeId) -> Option<CellId> {
        let (access, ue) = self.of_ue(ue)?;
        access.serving_cell(ue)
    }

    /// As [`RadioAccess::counters_of`].
    pub(crate) fn counters_of(self, ue: UeId, direction: Direction) -> DirectionCounters {
        self.of_ue(ue)
            .map_or_else(DirectionCounters::default, |(access, ue)| {
                access.counters_of(ue, direction)
            })
    }

    /// As [`RadioAccess::legs_of`].
    pub(crate) fn legs_of(self, bearer: DrbId, direction: Direction) -> Option<Vec<LegCounters>> {
        let (access, bearer) = self.of_bearer(bearer)?;
        access.legs_of(bearer, direction)
    }

    /// As [`RadioAccess::header_compression`].
    pub(crate) fn header_compression(
        self,
        bearer: DrbId,
        direction: Direction,
    ) -> Option<&'a RohcCounts> {
        let (access, bearer) = self.of_bearer(bearer)?;
        access.header_compression(bearer, direction)
    }
}
