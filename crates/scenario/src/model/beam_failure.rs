//! Checks of the keys for beam failure detection and recovery.

use super::mobility::MobilityManagement;
use crate::build::Builder;
use crate::read::Fields;

const COUNT: &str = "beam-failure-instance-max-count";
const DETECTION_TIMER: &str = "beam-failure-detection-timer";
const RECOVERY_TIMER: &str = "beam-failure-recovery-timer";
const THRESHOLD: &str = "rsrp-threshold-ssb";
/// Values of beamFailureInstanceMaxCount and beamFailureDetectionTimer.
///
/// Standard: TS 38.331 §6.3.2.
const COUNTS: [u64; 8] = [1, 2, 3, 4, 5, 6, 8, 10];
/// Values of beamFailureRecoveryTimer, in milliseconds.
///
/// Standard: TS 38.331 §6.3.2.
const TIMERS_MS: [u64; 8] = [10, 20, 40, 60, 80, 100, 150, 200];

impl MobilityManagement {
    /// Checks that the keys for beam failure are given together. Their values must be those that a
    /// network can configure.
    pub(super) fn watches_beams_well(
        &self,
        fields: &Fields,
        builder: &mut Builder<'_, '_>,
    ) -> bool {
        self.has_known_values(fields, builder) && self.has_keys_together(fields, builder)
    }

    fn has_known_values(&self, fields: &Fields, builder: &mut Builder<'_, '_>) -> bool {
        for (key, given) in [
            (COUNT, self.beam_failure_instance_max_count),
            (DETECTION_TIMER, self.beam_failure_detection_timer),
        ] {
            let Some(given) = given.map(u64::from) else {
                continue;
            };
            if !COUNTS.contains(&given) {
                let is_one = |count: &u64| count.to_string();
                refuse((fields, builder), key, (given, &COUNTS), is_one);
                return false;
            }
        }
        if let Some(timer) = self.beam_failure_recovery_timer {
            let ns = timer.as_nanos();
            let is_known = |ms: &u64| ms * 1_000_000 == ns;
            if !TIMERS_MS.iter().any(is_known) {
                let given = (ns + 500_000) / 1_000_000;
                let is_one = |ms: &u64| format!("\"{ms} ms\"");
                refuse(
                    (fields, builder),
                    RECOVERY_TIMER,
                    (given, &TIMERS_MS),
                    is_one,
                );
                return false;
            }
        }
        true
    }

    fn has_keys_together(&self, fields: &Fields, builder: &mut Builder<'_, '_>) -> bool {
        let has_count = self.beam_failure_instance_max_count.is_some();
        let has_timer = self.beam_failure_detection_timer.is_some();
        let has_threshold = self.rsrp_threshold_ssb.is_some();
        let recovers = self.beam_failure_recovery_timer.is_some();
        for (key, is_given, other, is_there, such_as) in [
            (COUNT, has_count, DETECTION_TIMER, has_timer, "3"),
            (DETECTION_TIMER, has_timer, COUNT, has_count, "3"),
            (THRESHOLD, has_threshold, COUNT, has_count, "3"),
            (
                RECOVERY_TIMER,
                recovers,
                THRESHOLD,
                has_threshold,
                "\"-110 dBm\"",
            ),
        ] {
            if is_given && !is_there {
                let message = format!("`{key}` without `{other}`");
                let expected = format!("`{other}`, such as {such_as}, or without `{key}`");
                builder.mistake(fields.place_of(key), message, &expected);
                return false;
            }
        }
        true
    }
}

fn refuse(
    (fields, builder): (&Fields, &mut Builder<'_, '_>),
    key: &str,
    (given, list): (u64, &[u64]),
    written: impl Fn(&u64) -> String,
) {
    let all: Vec<String> = list.iter().map(&written).collect();
    let nearest = list.iter().min_by_key(|known| known.abs_diff(given));
    let nearest = nearest.map(&written).unwrap_or_default();
    let message = format!("`{key}` has a value that the standard does not allow");
    let expected = format!("one of {}; the nearest is {nearest}", all.join(", "));
    builder.mistake(fields.place_of(key), message, &expected);
}
