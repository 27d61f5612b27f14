//! The radio access as a part of a simulation.

use fadeout_core::{CellId, Direction, DrbId, NullProbe, PacketPool, Time, UeId, Wake};
use fadeout_mobility::Places;
use fadeout_radio::access::{Counters, DirectionCounters, LegCounters, RadioAccess};
use fadeout_radio::pdcp::RohcCounts;

/// The radio access with the positions of its nodes.
#[derive(Debug)]
pub(crate) struct Radio {
    pub(crate) access: RadioAccess,
    pub(crate) places: Places,
    pub(crate) wake: Wake,
    /// Numbers of the UEs and bearers if the access covers only a part of the scenario. `None` if
    /// it covers all UEs and bearers.
    pub(crate) numbers: Option<Box<RadioNumbers>>,
    /// The other parts of the radio access, after the end of a divided run.
    pub(crate) others: Vec<Radio>,
}

/// Translation of UE and bearer numbers between the scenario and one world's part of the radio
/// access. The numbers within a part are consecutive. The scenario's numbers of the same UEs would
/// have gaps.
#[derive(Debug, Default)]
pub(crate) struct RadioNumbers {
    /// Number in the scenario of each UE of the part.
    pub(crate) ues: Vec<UeId>,
    /// Number in the scenario of each bearer of the part.
    pub(crate) bearers: Vec<DrbId>,
    /// Number within the part of each UE of the scenario. [`ELSEWHERE`] for UEs of other parts.
    local_ues: Vec<u32>,
    local_bearers: Vec<u32>,
}

/// Marker for a UE or bearer of another part.
const ELSEWHERE: u32 = u32::MAX;

impl RadioNumbers {
    /// Creates an empty part of a scenario with `ues` UEs and `bearers` bearers.
    pub(crate) fn new(ues: usize, bearers: usize) -> RadioNumbers {
        RadioNumbers {
            local_ues: vec![ELSEWHERE; ues],
            local_bearers: vec![ELSEWHERE; bearers],
            ..RadioNumbers::default()
        }
    }

    /// Adds a UE of the scenario to the part.
    pub(crate) fn add_ue(&mut self, ue: UeId) {
        self.local_ues[ue.index()] = self.ues.len() as u32;
        self.ues.push(ue);
    }

    /// Adds a bearer of the scenario to the part.
    pub(crate) fn add_bearer(&mut self, bearer: DrbId) {
        self.local_bearers[bearer.index()] = self.bearers.len() as u32;
        self.bearers.push(bearer);
    }

    /// Returns the number within the part of a UE. `None` if it is in another part.
    pub(crate) fn ue(&self, ue: UeId) -> Option<UeId> {
        let local = self.local_ues[ue.index()];
        (local != ELSEWHERE).then_some(UeId(local))
    }

    /// Returns the number within the part of a bearer. `None` if it is in another part.
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

    /// Attaches each UE without a given cell to its strongest cell. Routes depend on these cells.
    fn attach(&mut self) {
        let Radio { access, places, .. } = self;
        let mut pool = PacketPool::new();
        let mut out = Vec::new();
        access.on_wake(Time::ZERO, places, &mut pool, &mut out, &mut NullProbe);
    }

    /// Returns the number of a bearer of the scenario within the part.
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

/// Read access to all parts of the scenario's radio access, for the summary of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accesses<'a> {
    first: &'a Radio,
}

impl<'a> Accesses<'a> {
    /// Creates the view from the radio access of a world. This radio access contains all other
    /// parts.
    pub(crate) fn starting_with(first: &'a Radio) -> Accesses<'a> {
        Accesses { first }
    }

    /// Returns the radio access if it is one part. `None` if it is divided.
    pub(crate) fn whole(self) -> Option<&'a RadioAccess> {
        let is_whole = self.first.numbers.is_none();
        is_whole.then_some(&self.first.access)
    }

    fn parts(self) -> impl Iterator<Item = &'a Radio> {
        std::iter::once(self.first).chain(&self.first.others)
    }

    /// Returns the part that contains a UE, and the number of the UE in it.
    pub(crate) fn of_ue(self, ue: UeId) -> Option<(&'a RadioAccess, UeId)> {
        let mut parts = self.parts();
        parts.find_map(|radio| Some((&radio.access, radio.local_ue(ue)?)))
    }

    fn of_bearer(self, bearer: DrbId) -> Option<(&'a RadioAccess, DrbId)> {
        let mut parts = self.parts();
        parts.find_map(|radio| Some((&radio.access, radio.local_bearer(bearer)?)))
    }

    /// Sums [`RadioAccess::counters`] over all parts.
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

    /// Sums [`RadioAccess::forwarded_drops`] over all parts.
    pub(crate) fn forwarded_drops(self) -> u64 {
        let parts = self.parts();
        parts.map(|part| part.access.forwarded_drops()).sum()
    }

    /// Returns [`RadioAccess::serving_cell`] of a UE of the scenario. `None` if no cell serves it.
    pub(crate) fn serving_cell(self, ue: UeId) -> Option<CellId> {
        let (access, ue) = self.of_ue(ue)?;
        access.serving_cell(ue)
    }

    /// Returns [`RadioAccess::counters_of`] for a UE of the scenario.
    pub(crate) fn counters_of(self, ue: UeId, direction: Direction) -> DirectionCounters {
        self.of_ue(ue)
            .map_or_else(DirectionCounters::default, |(access, ue)| {
                access.counters_of(ue, direction)
            })
    }

    /// Returns [`RadioAccess::legs_of`] for a bearer of the scenario. `None` without legs.
    pub(crate) fn legs_of(self, bearer: DrbId, direction: Direction) -> Option<Vec<LegCounters>> {
        let (access, bearer) = self.of_bearer(bearer)?;
        access.legs_of(bearer, direction)
    }

    /// Returns [`RadioAccess::header_compression`] for a bearer of the scenario. `None` without
    /// compression.
    pub(crate) fn header_compression(
        self,
        bearer: DrbId,
        direction: Direction,
    ) -> Option<&'a RohcCounts> {
        let (access, bearer) = self.of_bearer(bearer)?;
        access.header_compression(bearer, direction)
    }
}
