//! Movement files of ns-2's `setdest` and of other generators with this format.

use super::{MAX_METRES, MAX_SECONDS, MAX_SPEED, TraceError, Tracks, number, tracks};
use crate::Leg;
use fadeout_core::{Point, Span, Time};
use std::collections::BTreeMap;

/// Reads a file of movements in ns-2's format.
///
/// The reader accepts `$node_(i) set X_ v` with `Y_` and `Z_`, anywhere in the file. It also
/// accepts `$ns_ at t "$node_(i) setdest x y speed"` and `$ns_ at t "$node_(i) set X_ v"`, with
/// `$ns` in place of `$ns_`. A movement ends early if the node's next movement begins. A speed of
/// zero stops the node. A node that arrives within a nanosecond jumps. The name of a node is its
/// number.
///
/// Lines that move no node are skipped: comments, other commands of a simulation's script, and
/// commands of a node such as `switch`, `on`, `off` and `reset`.
///
/// # Errors
/// Returns [`TraceError`] if no line describes a node. Returns it with the first line that is no
/// command, that has an unknown command of a node, or whose numbers are wrong.
pub fn ns2(text: &str) -> Result<Tracks, TraceError> {
    let mut starts: BTreeMap<String, Point> = BTreeMap::new();
    let mut commands: BTreeMap<String, Vec<(f64, Command)>> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        match parse(line, index + 1)? {
            None => {}
            Some((node, None, Command::Set(axis, value))) => {
                axis.put(starts.entry(node).or_default(), value);
            }
            Some((node, None, Command::Go(..))) => {
                let message = format!("node {node} moves without a time; expected `$ns_ at TIME`");
                return Err(TraceError::new(index + 1, message));
            }
            Some((node, Some(at), command)) => {
                starts.entry(node.clone()).or_default();
                commands.entry(node).or_default().push((at, command));
            }
        }
    }
    if starts.is_empty() {
        let message = "no node; expected lines such as `$node_(0) set X_ 10.0`";
        return Err(TraceError::new(1, message));
    }
    let mut legs = BTreeMap::new();
    for (node, start) in starts {
        let mut commands = commands.remove(&node).unwrap_or_default();
        // The sort is stable, so commands with the same time keep their order in the file.
        commands.sort_by(|one, other| one.0.total_cmp(&other.0));
        legs.insert(node, walk(start, &commands));
    }
    Ok(tracks(legs))
}

#[derive(Debug, Clone, Copy)]
enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    fn put(self, place: &mut Point, value: f64) {
        match self {
            Axis::X => place.x = value,
            Axis::Y => place.y = value,
            Axis::Z => place.z = value,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Command {
    Set(Axis, f64),
    /// Movement toward `(x, y)` at this speed in metres per second.
    Go(f64, f64, f64),
}

/// First words of lines that move no node: commands of Tcl, and objects of ns-2.
const PASSED: [&str; 26] = [
    "$god_",
    "$god",
    "$topo",
    "$ns_",
    "$ns",
    "set",
    "puts",
    "source",
    "create-god",
    "for",
    "foreach",
    "while",
    "if",
    "}",
    "proc",
    "global",
    "incr",
    "close",
    "open",
    "flush",
    "exec",
    "exit",
    "return",
    "new",
    "Agent/CBR",
    "remove-all-packet-headers",
];

/// Commands of a node that do not move it.
const UNMOVED: [&str; 12] = [
    "switch",
    "on",
    "off",
    "reset",
    "label",
    "color",
    "shape",
    "radius",
    "random-motion",
    "namattach",
    "start",
    "add-mark",
];

/// Parses the node of a line, its command, and its time. The time is `None` if the line has none.
/// The result is `None` for a line that moves no node.
fn parse(line: &str, at: usize) -> Result<Option<(String, Option<f64>, Command)>, TraceError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let cleaned = line.replace(['"', ';'], " ");
    let mut words = cleaned.split_whitespace();
    let mut first = words.next().unwrap_or("");
    let mut time = None;
    let mut rest = words.clone();
    if matches!(first, "$ns_" | "$ns") && rest.next() == Some("at") {
        let text = rest.next().unwrap_or("");
        let Some(command) = rest.next().filter(|word| word.starts_with("$node_(")) else {
            return Ok(None);
        };
        let seconds = number(text, "a time", MAX_SECONDS, at)?;
        if seconds < 0.0 {
            return Err(TraceError::new(at, "a time before zero"));
        }
        time = Some(seconds);
        first = command;
        words = rest;
    }
    let Some(node) = first.strip_prefix("$node_(") else {
        if PASSED.contains(&first) {
            return Ok(None);
        }
        let shown: String = line.chars().take(48).collect();
        let message = format!("`{shown}`; expected `$node_(NUMBER) …` or another command of ns-2");
        return Err(TraceError::new(at, message));
    };
    let command = words.next().unwrap_or("");
    if UNMOVED.contains(&command) {
        return Ok(None);
    }
    let node = node
        .strip_suffix(')')
        .filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()))
        .ok_or_else(|| {
            let shown: String = line.chars().take(48).collect();
            TraceError::new(at, format!("`{shown}`; expected `$node_(NUMBER) …`"))
        })?;
    Ok(Some((
        node.to_owned(),
        time,
        command_of(command, words, at)?,
    )))
}

/// Parses a command of a node that moves it.
fn command_of<'a>(
    command: &str,
    mut words: impl Iterator<Item = &'a str>,
    at: usize,
) -> Result<Command, TraceError> {
    let mut word = || words.next().unwrap_or("");
    match command {
        "set" => {
            let axis = match word() {
                "X_" => Axis::X,
                "Y_" => Axis::Y,
                "Z_" => Axis::Z,
                other => {
                    let message = format!("`set {other}`; expected `X_`, `Y_` or `Z_`");
                    return Err(TraceError::new(at, message));
                }
            };
            Ok(Command::Set(
                axis,
                number(word(), "a coordinate", MAX_METRES, at)?,
            ))
        }
        "setdest" => Ok(Command::Go(
            number(word(), "a coordinate", MAX_METRES, at)?,
            number(word(), "a coordinate", MAX_METRES, at)?,
            number(word(), "a speed", MAX_SPEED, at)?,
        )),
        other => {
            let shown: String = other.chars().take(24).collect();
            let message = format!(
                "`{shown}`; expected `set`, `setdest`, or a command that moves no node such as \
                 `switch`"
            );
            Err(TraceError::new(at, message))
        }
    }
}

/// Returns the legs of one node. Each command ends the leg of the command before.
fn walk(start: Point, commands: &[(f64, Command)]) -> Vec<Leg> {
    let mut legs = vec![Leg::rest(Time::ZERO, start)];
    for &(seconds, command) in commands {
        let now = Time::ZERO + Span::from_secs_f64(seconds);
        let current = legs.last_mut().expect("there is a first leg");
        let mut here = current.kinematics_at(now).position;
        current.until = current.until.min(now);
        match command {
            Command::Set(axis, value) => {
                axis.put(&mut here, value);
                legs.push(Leg::rest(now, here));
            }
            Command::Go(x, y, speed) => {
                let goal = Point::new(x, y, here.z);
                let walk = Leg::walk(now, here, goal, speed);
                if speed > 0.0 && goal != here && walk.until == now {
                    legs.push(Leg::rest(now, goal));
                } else if speed > 0.0 && goal != here {
                    legs.push(walk);
                } else {
                    legs.push(Leg::rest(now, here));
                }
            }
        }
    }
    legs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time_at_secs(secs: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(secs)
    }

    /// Checks arrival times against a test vector of the reference sheet, section G.6.
    #[test]
    fn a_node_arrives_when_its_speed_says_so() {
        let text = "# written by hand\n\
                    $god_ set-dist 0 1 2\n\
                    $ns_ at 10.0 \"$node_(0) setdest 30 40 5.0 \"\n\
                    $node_(0) set X_ 0.0\n$node_(0) set Y_ 0.0\n$node_(0) set Z_ 0.0\n";
        let mut tracks = ns2(text).expect("a good file");
        let track = tracks.get_mut("0").expect("the node");
        assert_eq!(
            track.kinematics_at(time_at_secs(9.0)).position,
            Point::new(0.0, 0.0, 0.0)
        );
        assert_eq!(
            track.kinematics_at(time_at_secs(15.0)).position,
            Point::new(15.0, 20.0, 0.0)
        );
        assert_eq!(
            track.kinematics_at(time_at_secs(20.0)).position,
            Point::new(30.0, 40.0, 0.0)
        );
        assert_eq!(
            track.kinematics_at(time_at_secs(30.0)).velocity.length(),
            0.0
        );
    }

    #[test]
    fn a_new_destination_cuts_the_old_one_short_and_zero_speed_stops() {
        let text = "$node_(7) set X_ 0\n\
                    $ns_ at 0 \"$node_(7) setdest 100 0 10\"\n\
                    $ns_ at 5 \"$node_(7) setdest 50 100 10\"\n\
                    $ns_ at 8 \"$node_(7) setdest 0 0 0\"\n\
                    $ns_ at 9 \"$node_(7) set X_ 3\"\n";
        let mut tracks = ns2(text).expect("a good file");
        let track = tracks.get_mut("7").expect("the node");
        let turned = track.kinematics_at(time_at_secs(6.0)).position;
        assert!((turned.x - 50.0).abs() < 1e-9 && (turned.y - 10.0).abs() < 1e-9);
        assert!((track.kinematics_at(time_at_secs(8.5)).position.y - 30.0).abs() < 1e-9);
        assert_eq!(track.kinematics_at(time_at_secs(9.0)).position.x, 3.0);
    }

    /// Generators switch nodes off and on, and take them out of the area at a speed far above that
    /// of light. The file `low99-ct-unterstrass` of ns-3 has such lines.
    #[test]
    fn lines_that_move_no_node_are_skipped_and_a_very_high_speed_is_a_jump() {
        let text = "set opt(nn) 2\n\
                    $ns_ at 0.0 \"$node_(0) switch OFF\" ;# set_X,Y,Z\n\
                    $node_(0) set X_ 0.0\n$node_(0) set Y_ 0.0\n$node_(0) set Z_ 0.0\n\
                    $ns_ initial_node_pos $node_(0) 20\n\
                    for {set i 0} {$i < 2} {incr i} {\n$node_($i) reset\n}\n\
                    $ns at 0.000000 \"$node_(0) setdest 100.0 40.0 1000000000000.0\" ;# init\n\
                    $ns at 0.010000 \"$node_(0) on\"\n\
                    $ns at 0.010000 \"$node_(0) setdest 60.0 40.0 16.0\"\n\
                    $ns at 9.0 \"finish\"\n";
        let mut tracks = ns2(text).expect("a good file");
        let track = tracks.get_mut("0").expect("the node");
        let at = |track: &mut crate::Track, secs| track.kinematics_at(time_at_secs(secs)).position;
        assert_eq!(at(track, 0.005), Point::new(100.0, 40.0, 0.0));
        assert_eq!(at(track, 1.01), Point::new(84.0, 40.0, 0.0));
        assert_eq!(at(track, 5.0), Point::new(60.0, 40.0, 0.0));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, expected) in [
            ("$node_(0) set X_ 1\n$node_(0) fly 3", "line 2"),
            ("$ns_ at soon \"$node_(0) setdest 1 2 3\"", "a time"),
            ("$node_(0) setdest 1 2 3", "without a time"),
            ("$ns_ at 1 \"$node_(0) setdest 1 nan 3\"", "a coordinate"),
            ("node 0", "expected `$node_(NUMBER)"),
            ("$node_(0) set W_ 1", "`X_`, `Y_` or `Z_`"),
            ("$node_($i) set X_ 1", "expected `$node_(NUMBER)"),
            ("# nothing\n", "no node"),
        ] {
            let error = ns2(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        #[test]
        fn no_text_makes_the_reader_panic(text in "(\\$ns_ at |\\$node_\\(|set|dest|[0-9.e)\" X_-]|\\PC|\n){0,60}") {
            let _ = ns2(&text);
        }
    }
}
