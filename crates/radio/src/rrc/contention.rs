//! Contention preambles of random access. UEs that draw the same preamble for the same occasion of
//! a cell receive one response, and send Msg3 on the same grant.
//!
//! Standard: TS 38.321 §5.1.2, §5.1.4, §5.1.5; TS 36.321 §5.1.2, §5.1.5.

use crate::config::AccessConfig;
use fadeout_core::math::{from_db, to_db};
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Span, Time, UeId};

/// A contention preamble that a UE has sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Drawn {
    pub at: Time,
    pub cell: CellId,
    pub ue: UeId,
    /// Number of the preamble in the cell.
    pub number: u32,
    /// SINR of the UE's uplink in dB, without interference from Msg3 of other UEs.
    pub sinr_db: f64,
}

/// Outcome of Msg3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contest {
    /// The base station has received this UE's Msg3 and answers the UE.
    Won,
    /// The base station has received the Msg3 of another UE.
    Lost,
    /// The base station has received no Msg3.
    Nobody,
}

/// Contention preambles whose contention resolution has not ended.
#[derive(Debug, Default)]
pub(crate) struct Contention {
    drawn: Vec<Drawn>,
}

impl Contention {
    /// Draws a preamble for a UE and an occasion. Returns its number.
    pub(crate) fn draw(seed: u64, ue: UeId, at: Time, config: &AccessConfig) -> u32 {
        // Each UE and occasion has its own random stream, so draws of other UEs have no influence.
        let occasion = at.as_nanos() / config.occasion_period.as_nanos().max(1);
        let entity = u64::from(ue.0) << 40 | occasion & ((1 << 40) - 1);
        let mut draws = Stream::new(seed, "radio.preambles", entity);
        draws.below(u64::from(config.drawn_preambles)) as u32
    }

    /// Records a preamble that is sent, and discards old preambles that no later Msg3 depends on.
    pub(crate) fn send(&mut self, drawn: Drawn, config: &AccessConfig) {
        let kept = Contention::kept(config);
        self.drawn.retain(|it| drawn.at.since(it.at) <= kept);
        debug_assert!(
            drawn.number < config.drawn_preambles,
            "preamble {} of {}",
            drawn.number,
            config.drawn_preambles
        );
        self.drawn.push(drawn);
    }

    /// Returns the time for which a preamble must be stored: the longest time from a preamble to
    /// the end of its contention resolution.
    fn kept(config: &AccessConfig) -> Span {
        config.response_delay
            + config.response_window
            + config.message3_delay
            + config.contention_timer
    }

    /// Returns the outcome of the Msg3 of a UE that sent a preamble to a cell at `at`. All UEs with
    /// the same preamble send Msg3 at the same time. The base station receives at most the
    /// strongest Msg3. The others interfere, and the resulting SINR must be at least `least_db`.
    pub(crate) fn outcome(&self, (ue, cell): (UeId, CellId), at: Time, least_db: f64) -> Contest {
        let is_simultaneous = |it: &&Drawn| it.at == at && it.cell == cell;
        let mine = self
            .drawn
            .iter()
            .filter(is_simultaneous)
            .find(|it| it.ue == ue);
        let Some(mine) = mine else {
            return Contest::Won;
        };
        let same = || {
            let all = self.drawn.iter().filter(is_simultaneous);
            all.filter(|it| it.number == mine.number)
        };
        let stronger = |one: &&Drawn, other: &&Drawn| {
            let by_sinr = one.sinr_db.total_cmp(&other.sinr_db);
            by_sinr.then(other.ue.cmp(&one.ue))
        };
        // No other UE sent this preamble, so contention does not affect Msg3.
        if same().count() == 1 {
            return Contest::Won;
        }
        let best = same().max_by(stronger).unwrap_or(mine);
        let others: f64 = same()
            .filter(|it| it.ue != best.ue)
            .map(|it| from_db(it.sinr_db))
            .sum();
        let sinr_db = to_db(from_db(best.sinr_db) / (1.0 + others));
        match (sinr_db >= least_db, best.ue == ue) {
            (false, _) => Contest::Nobody,
            (true, true) => Contest::Won,
            (true, false) => Contest::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: AccessConfig = crate::rrc::random_access::tests::AT_ONCE;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn drawn(ue: u32, number: u32, sinr_db: f64) -> Drawn {
        Drawn {
            at: at_ms(10),
            cell: CellId(3),
            ue: UeId(ue),
            number,
            sinr_db,
        }
    }

    fn outcomes(all: &[Drawn], least_db: f64) -> Vec<Contest> {
        let mut contention = Contention::default();
        all.iter().for_each(|it| contention.send(*it, &CONFIG));
        let outcome_of = |it: &Drawn| contention.outcome((it.ue, it.cell), it.at, least_db);
        all.iter().map(outcome_of).collect()
    }

    #[test]
    fn of_those_that_draw_the_same_preamble_the_strongest_is_heard_if_it_is_strong_enough() {
        use Contest::{Lost, Nobody, Won};
        let all = [drawn(0, 7, 12.0), drawn(1, 7, 3.0), drawn(2, 8, -20.0)];
        // UEs 0 and 1 send the same preamble. The SINR of UE 0 falls from 15.8 (12 dB) to 15.8 / (1
        // + 2.0), which is 7.2 dB. UE 0 wins if 7.0 dB suffice, and nobody wins if 7.5 dB are
        // needed.
        assert_eq!(outcomes(&all, 7.0), [Won, Lost, Won], "the third is alone");
        assert_eq!(outcomes(&all, 7.5), [Nobody, Nobody, Won]);
        // Two equally strong UEs give a SINR slightly below 0 dB. The UE with the lower number
        // wins.
        assert_eq!(
            outcomes(&[drawn(5, 1, 30.0), drawn(4, 1, 30.0)], -0.1),
            [Lost, Won]
        );
        // The same preamble at another occasion or in another cell does not collide, so all three
        // UEs win.
        let (mut later, mut elsewhere) = (drawn(1, 7, 12.0), drawn(2, 7, 12.0));
        (later.at, elsewhere.cell) = (at_ms(20), CellId(4));
        assert_eq!(
            outcomes(&[drawn(0, 7, 12.0), later, elsewhere], 11.0),
            [Won; 3]
        );
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let mut contention = Contention::default();
        for n in 0..1000 {
            let one = Drawn {
                at: at_ms(10 * n),
                ..drawn(0, 7, 12.0)
            };
            contention.send(one, &CONFIG);
        }
        let kept = Contention::kept(&CONFIG).as_nanos() / 10_000_000;
        assert!(contention.drawn.len() as u64 <= kept + 1);
    }

    /// If `n` UEs draw from `k` preambles, a UE collides with at least one other UE with
    /// probability 1 - (1 - 1/k)^(n - 1).
    #[test]
    fn preambles_collide_as_often_as_chance_has_it() {
        let (ues, rounds) = (20_u32, 2000);
        let mut collided = 0;
        for round in 0..rounds {
            let draw = |ue| Contention::draw(1, UeId(ue), at_ms(10 * round), &CONFIG);
            let all: Vec<u32> = (0..ues).map(draw).collect();
            let is_alone = |one: &&u32| all.iter().filter(|other| other == one).count() == 1;
            collided += ues as usize - all.iter().filter(is_alone).count();
        }
        let share = collided as f64 / f64::from(ues) / rounds as f64;
        let expected = 1.0 - fadeout_core::math::pow(53.0 / 54.0, 19.0);
        // Collisions come in pairs, so the tolerance is four standard errors of 20,000 independent
        // draws.
        let error = 4.0 * (expected * (1.0 - expected) / 20_000.0).sqrt();
        assert!((share - expected).abs() < error, "{share} {expected}");
    }
}
