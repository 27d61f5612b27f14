//! Rounds of the attach procedure.

use crate::rlc::Generation;
use fadeout_core::Span;

/// Round of the attach procedure: a message to the UE and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// RRC setup. The message is sent with contention resolution, and the answer contains the first
    /// NAS message.
    Setup,
    Authentication,
    /// Security activation of NAS.
    NasSecurity,
    /// Security activation of RRC and of user data.
    Security,
    /// Acceptance of the registration. The answer requests a PDU session.
    Acceptance,
    /// Reconfiguration with the bearers.
    Bearers,
}

/// Registration status of a UE in its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Registration {
    pub generation: Generation,
    /// True if the core knows the UE and has NAS keys for it.
    pub is_registered: bool,
}

impl Registration {
    fn requests_session(self) -> bool {
        self.generation == Generation::Nr && !self.is_registered
    }
}

impl Round {
    /// Returns the next round. `None` after the last.
    pub(crate) fn next(self, registration: Registration) -> Option<Round> {
        Some(match self {
            Round::Setup if registration.is_registered => Round::Security,
            Round::Setup => Round::Authentication,
            Round::Authentication => Round::NasSecurity,
            Round::NasSecurity => Round::Security,
            Round::Security if registration.requests_session() => Round::Acceptance,
            Round::Security | Round::Acceptance => Round::Bearers,
            Round::Bearers => return None,
        })
    }

    /// True if the core starts the round, and false if the base station starts it.
    pub(crate) fn is_of_core(self, registration: Registration) -> bool {
        match self {
            Round::Authentication | Round::NasSecurity | Round::Security => true,
            Round::Bearers => registration.requests_session(),
            Round::Setup | Round::Acceptance => false,
        }
    }

    /// Returns the processing time from the message to the UE's answer. NAS messages have no
    /// specified limit, so their processing takes no time here.
    ///
    /// Standard: TS 36.331 §11.2; TS 38.331 §12.
    pub(crate) fn processing(self, generation: Generation) -> Span {
        let [lte, nr] = match self {
            Round::Setup | Round::Bearers => [15, 10],
            Round::Security => [10, 5],
            Round::Authentication | Round::NasSecurity | Round::Acceptance => [0, 0],
        };
        Span::from_millis(match generation {
            Generation::Lte => lte,
            Generation::Nr => nr,
        })
    }

    /// Returns the size in bytes of the message over the air, including NAS. Sizes are typical
    /// values, not those of a standard.
    pub(crate) fn question_size(self) -> u32 {
        match self {
            Round::Setup | Round::Bearers => 200,
            Round::Authentication => 50,
            Round::NasSecurity => 30,
            Round::Security => 10,
            Round::Acceptance => 100,
        }
    }

    /// Returns the size in bytes of the UE's answer over the air, including NAS. Sizes are typical
    /// values.
    pub(crate) fn answer_size(self) -> u32 {
        match self {
            Round::Setup => 120,
            Round::Authentication | Round::NasSecurity => 30,
            Round::Security | Round::Bearers => 10,
            Round::Acceptance => 80,
        }
    }

    /// Returns the size in bytes of the message or answer between base station and core, as an IP
    /// packet with SCTP header.
    pub(crate) fn wired_size(self, is_answer: bool) -> u32 {
        match (self, is_answer) {
            (Round::Setup | Round::Acceptance, true) => 250,
            // These messages contain the UE's context or the session's tunnel.
            (Round::Security | Round::Bearers, false) => 350,
            _ => 150,
        }
    }
}
