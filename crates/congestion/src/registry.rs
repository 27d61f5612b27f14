//! Closed set of algorithms. One line per algorithm generates its enum variant, constructor and
//! registry entry.

use super::coupling::Coupled;
use super::{
    AckArrival, AckSample, CongestionControl, CongestionEvent, EcnFeedback, Held, PathModel, Window,
};
use fadeout_core::random::Stream;
use fadeout_core::registry::Settings;
use fadeout_core::{LinkInfo, Rate, Span, Time};
use std::fmt;
use std::ops::{Deref, DerefMut};

fadeout_core::registry! {
    /// Every built-in congestion control.
    pub static CONGESTION_CONTROLS;

    /// Congestion control, built-in or custom. Types larger than CUBIC are boxed.
    #[derive(Debug)]
    #[allow(
        clippy::large_enum_variant,
        reason = "one per connection, allocated with it; a box would cost a pointer chase an ACK"
    )]
    pub enum Congestion(random: Stream = Stream::new(1, "test", 0)) {
        Reno(super::reno::Reno),
        NewReno(super::new_reno::NewReno),
        Tahoe(super::tahoe::Tahoe),
        Cubic(super::cubic::Cubic),
        Bic(super::bic::Bic),
        HighSpeed(super::highspeed::HighSpeed),
        Scalable(super::scalable::Scalable),
        Htcp(super::htcp::Htcp),
        Hybla(super::hybla::Hybla),
        Illinois(super::illinois::Illinois),
        Yeah(super::yeah::Yeah),
        Compound(super::compound::Compound),
        Vegas(super::vegas::Vegas),
        Copa(super::copa::Copa),
        Veno(super::veno::Veno),
        Westwood(super::westwood::Westwood),
        Dctcp(super::dctcp::Dctcp),
        Prague(super::prague::Prague),
        BbrV1(Box<super::bbr::v1::BbrV1>),
        BbrV3(Box<super::bbr::v3::BbrV3>),
        XTcp(Box<super::x_tcp::XTcp>),
        RtwTcp(Box<super::rtw_tcp::RtwTcp>),
    } else {
        /// A coupled congestion control, which depends on the other paths of a multipath
        /// connection.
        Coupled(Box<Coupled>),
        /// A window that the caller of the simulation holds.
        Held(Held),
        /// An algorithm that the user wrote.
        Custom(Custom),
    }
    macro dispatch;
}

/// Returns the parameter `name`, a length of time. It is limited so that its sum with a [`Time`]
/// does not overflow.
pub(super) fn constant(settings: &Settings<'_>, name: &str) -> Span {
    settings.span(name).min(LONGEST)
}

const LONGEST: Span = Span::from_secs(1_000_000);
const _: () = assert!(LONGEST.as_nanos() < Time::NEVER.as_nanos() / 1_000);

/// Algorithm from outside this crate, in a box.
pub struct Custom(pub Box<dyn CongestionControl + Send>);

impl Deref for Custom {
    type Target = dyn CongestionControl + Send;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for Custom {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Custom")
    }
}

impl CongestionControl for Congestion {
    fn on_established(&mut self, window: &mut Window, now: Time, srtt: Option<Span>) {
        dispatch!(self, control => control.on_established(window, now, srtt));
    }
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        dispatch!(self, control => control.on_ack(window, ack));
    }
    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        dispatch!(self, control => control.on_congestion(window, event));
    }
    fn on_recovered(&mut self, window: &mut Window, now: Time) {
        dispatch!(self, control => control.on_recovered(window, now));
    }
    fn on_spurious(&mut self, window: &mut Window, prior: &Window, now: Time) {
        dispatch!(self, control => control.on_spurious(window, prior, now));
    }
    fn on_ack_arrival(&mut self, arrival: &AckArrival) {
        dispatch!(self, control => control.on_ack_arrival(arrival));
    }
    fn on_timeout(&mut self, now: Time, lost: u64) {
        dispatch!(self, control => control.on_timeout(now, lost));
    }
    fn on_idle_restart(&mut self, window: &mut Window, now: Time, idle: Span) {
        dispatch!(self, control => control.on_idle_restart(window, now, idle));
    }
    fn needs_ecn(&self) -> EcnFeedback {
        dispatch!(self, control => control.needs_ecn())
    }
    fn on_ecn_agreed(&mut self, feedback: EcnFeedback) {
        dispatch!(self, control => control.on_ecn_agreed(feedback));
    }
    fn on_link_info(&mut self, window: &mut Window, now: Time, info: &LinkInfo) {
        dispatch!(self, control => control.on_link_info(window, now, info));
    }
    fn holds(&self, now: Time, rto: Span) -> bool {
        dispatch!(self, control => control.holds(now, rto))
    }
    fn loss_delay_rtts(&self) -> Option<f64> {
        dispatch!(self, control => control.loss_delay_rtts())
    }
    fn buffered_windows(&self) -> u32 {
        dispatch!(self, control => control.buffered_windows())
    }
    #[inline]
    fn controls_window(&self) -> bool {
        dispatch!(self, control => control.controls_window())
    }
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        dispatch!(self, control => control.pacing_rate())
    }
    fn phase(&self) -> &'static str {
        dispatch!(self, control => control.phase())
    }
    fn path_model(&self) -> Option<PathModel> {
        dispatch!(self, control => control.path_model())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Parameters;

    #[test]
    fn an_unknown_name_is_none() {
        assert!(Congestion::new("cubik", &Parameters::default(), Stream::new(1, "", 0)).is_none());
    }

    #[test]
    fn the_users_own_algorithm_is_called() {
        struct Fixed;
        impl CongestionControl for Fixed {
            fn on_ack(&mut self, window: &mut Window, _: &AckSample) {
                window.cwnd = 42.0;
            }
            fn on_congestion(&mut self, _: &mut Window, _: &CongestionEvent) {}
        }
        let mut control = Congestion::Custom(Custom(Box::new(Fixed)));
        let mut window = Window {
            cwnd: 1.0,
            ssthresh: f64::INFINITY,
            mss: 1448,
        };
        control.on_ack(&mut window, &super::super::testing::ack(Time::ZERO, 1));
        assert_eq!(window.cwnd, 42.0);
    }

    const SPIED: PathModel = PathModel {
        bandwidth: 3.0,
        min_rtt: None,
        pacing_gain: 1.0,
        cwnd_gain: 2.0,
    };

    /// Congestion control that returns a different value from every default, and records its calls.
    #[derive(Default)]
    struct Spy(std::sync::Arc<std::sync::Mutex<Vec<&'static str>>>);

    impl Spy {
        fn record_call(&self, what: &'static str) {
            self.0.lock().expect("nobody panics").push(what);
        }
    }

    impl CongestionControl for Spy {
        fn on_established(&mut self, _: &mut Window, _: Time, _: Option<Span>) {
            self.record_call("established");
        }
        fn on_ack(&mut self, _: &mut Window, _: &AckSample) {
            self.record_call("ack");
        }
        fn on_congestion(&mut self, _: &mut Window, _: &CongestionEvent) {
            self.record_call("congestion");
        }
        fn on_recovered(&mut self, _: &mut Window, _: Time) {
            self.record_call("recovered");
        }
        fn on_spurious(&mut self, _: &mut Window, _: &Window, _: Time) {
            self.record_call("spurious");
        }
        fn on_ack_arrival(&mut self, _: &AckArrival) {
            self.record_call("arrival");
        }
        fn on_timeout(&mut self, _: Time, _: u64) {
            self.record_call("timeout");
        }
        fn on_idle_restart(&mut self, _: &mut Window, _: Time, _: Span) {
            self.record_call("idle");
        }
        fn needs_ecn(&self) -> EcnFeedback {
            EcnFeedback::Accurate
        }
        fn on_ecn_agreed(&mut self, _: EcnFeedback) {
            self.record_call("ecn");
        }
        fn on_link_info(&mut self, _: &mut Window, _: Time, _: &LinkInfo) {
            self.record_call("link");
        }
        fn holds(&self, _: Time, _: Span) -> bool {
            true
        }
        fn loss_delay_rtts(&self) -> Option<f64> {
            Some(0.5)
        }
        fn buffered_windows(&self) -> u32 {
            7
        }
        fn controls_window(&self) -> bool {
            true
        }
        fn pacing_rate(&self) -> Option<Rate> {
            Some(Rate::from_bits_per_sec(5))
        }
        fn phase(&self) -> &'static str {
            "spying"
        }
        fn path_model(&self) -> Option<PathModel> {
            Some(SPIED)
        }
    }

    #[test]
    fn an_algorithm_hears_everything_and_is_asked_everything() {
        use super::super::testing::{ack, at_ms, congestion, window};
        let spy = Spy::default();
        let notes = spy.0.clone();
        let mut control = Congestion::Custom(Custom(Box::new(spy)));
        let (mut w, now) = (window(10.0, 5.0), at_ms(1));
        control.on_ecn_agreed(EcnFeedback::Classic);
        control.on_established(&mut w, now, None);
        control.on_ack_arrival(&AckArrival {
            now,
            snd_una: 1,
            mss: 1448,
            rtt: None,
            is_plain: true,
        });
        control.on_ack(&mut w, &ack(now, 1));
        let kind = super::super::CongestionKind::Rto;
        control.on_congestion(&mut w, &congestion(now, kind, 1));
        control.on_timeout(now, 1);
        control.on_recovered(&mut w, now);
        control.on_spurious(&mut w, &window(1.0, 1.0), now);
        control.on_idle_restart(&mut w, now, Span::ZERO);
        let heard = [
            "ecn",
            "established",
            "arrival",
            "ack",
            "congestion",
            "timeout",
            "recovered",
            "spurious",
            "idle",
        ];
        assert_eq!(*notes.lock().expect("nobody panics"), heard);
        assert_eq!(control.needs_ecn(), EcnFeedback::Accurate);
        assert!(control.holds(now, Span::ZERO) && control.controls_window());
        assert_eq!(
            (control.loss_delay_rtts(), control.buffered_windows()),
            (Some(0.5), 7)
        );
        assert_eq!(control.pacing_rate(), Some(Rate::from_bits_per_sec(5)));
        assert_eq!(
            (control.phase(), control.path_model()),
            ("spying", Some(SPIED))
        );
    }

    #[test]
    fn what_an_algorithm_does_not_say_is_linuxs_default() {
        let reno = Congestion::new("reno", &Parameters::default(), Stream::new(1, "", 0));
        let reno = reno.expect("it is registered");
        assert_eq!((reno.buffered_windows(), reno.phase()), (2, ""));
        assert_eq!(reno.path_model(), None);
        assert_eq!((reno.pacing_rate(), reno.loss_delay_rtts()), (None, None));
        assert!(!reno.controls_window() && !reno.holds(Time::ZERO, Span::ZERO));
    }
}
