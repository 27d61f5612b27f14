//! System calls `poll` and `epoll`, which report the readiness of sockets (Linux `tcp_poll`).

use crate::problem::Problem;
use crate::script::Call;
use fadeout_core::Span;
use std::collections::BTreeMap;

/// Set of poll events. The bits are those of `<poll.h>`, and `epoll` uses the same bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Events(u32);

impl Events {
    pub(crate) const NONE: Events = Events(0);
    pub(crate) const IN: Events = Events(0x1);
    pub(crate) const OUT: Events = Events(0x4);
    pub(crate) const ERROR: Events = Events(0x8);
    pub(crate) const HANG_UP: Events = Events(0x10);
    pub(crate) const PEER_HANG_UP: Events = Events(0x2000);
    const ONCE: Events = Events(1 << 30);
    const EDGE: Events = Events(1 << 31);

    /// Names of the events, without the prefix `POLL` or `EPOLL`.
    const NAMES: [(&'static str, Events); 11] = [
        ("IN", Events::IN),
        ("PRI", Events(0x2)),
        ("OUT", Events::OUT),
        ("ERR", Events::ERROR),
        ("HUP", Events::HANG_UP),
        ("RDNORM", Events(0x40)),
        ("WRNORM", Events(0x100)),
        ("RDHUP", Events::PEER_HANG_UP),
        ("EXCLUSIVE", Events(1 << 28)),
        ("ONESHOT", Events::ONCE),
        ("ET", Events::EDGE),
    ];

    #[must_use]
    pub(crate) fn union(self, more: Events) -> Events {
        Events(self.0 | more.0)
    }
    fn within(self, wanted: Events) -> Events {
        Events(self.0 & wanted.0)
    }
    fn without(self, other: Events) -> Events {
        Events(self.0 & !other.0)
    }
    fn has(self, other: Events) -> bool {
        self.0 & other.0 != 0
    }
    /// Returns the events to report: the requested ones, and errors and hang-ups, which are always
    /// reported.
    fn reportable(wanted: Events) -> Events {
        wanted.union(Events::ERROR).union(Events::HANG_UP)
    }

    /// Adds RDNORM to IN, and WRNORM to OUT. All data is normal, so these events occur together.
    fn complete(self) -> Events {
        let mut all = self;
        for (one, other) in [(Events::IN, Events(0x40)), (Events::OUT, Events(0x100))] {
            if self.has(one) {
                all = all.union(other);
            }
        }
        all
    }

    fn parse(line: usize, text: &str) -> Result<Events, Problem> {
        let mut all = Events::NONE;
        for word in text.split('|').map(str::trim) {
            if let Ok(bits) = word.parse() {
                all = all.union(Events(bits));
                continue;
            }
            let name = word
                .strip_prefix("EPOLL")
                .or_else(|| word.strip_prefix("POLL"));
            let known = Events::NAMES.iter().find(|(known, _)| Some(*known) == name);
            let Some((_, events)) = known else {
                let message = format!("the event `{word}` is not supported");
                return Err(Problem::unsupported(line, message));
            };
            all = all.union(*events);
        }
        Ok(all)
    }

    fn text(self) -> String {
        let names: Vec<&str> = Events::NAMES
            .iter()
            .filter(|(_, events)| self.has(*events))
            .map(|(name, _)| *name)
            .collect();
        if names.is_empty() {
            "0".to_owned()
        } else {
            names.join("|")
        }
    }
}

/// Readiness of a socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    pub(crate) events: Events,
    /// Number of bytes that have arrived so far. If the number grew, an edge-triggered watch
    /// reports again.
    pub(crate) arrived: u64,
    /// Number of times that a full send buffer had space again. If the number grew, an
    /// edge-triggered watch reports again.
    pub(crate) openings: u64,
}

/// Socket in the interest list of an epoll instance.
#[derive(Debug)]
struct Watch {
    wanted: Events,
    /// User data of the events as written in the script, such as `fd=4`.
    data: String,
    /// Events of the latest report. An edge-triggered watch compares them with the current events.
    reported: Events,
    arrived: u64,
    openings: u64,
    is_disabled: bool,
}

/// Epoll instances, each with its watched sockets by descriptor.
#[derive(Debug, Default)]
pub(crate) struct Epolls(BTreeMap<i64, BTreeMap<i64, Watch>>);

/// Result of a call: a number or the name of an error. `None` if the call blocks.
pub(crate) type Answer = Result<Option<Result<i64, &'static str>>, Problem>;

impl Epolls {
    pub(crate) fn has(&self, fd: i64) -> bool {
        self.0.contains_key(&fd)
    }
    pub(crate) fn open(&mut self, fd: i64) {
        self.0.insert(fd, BTreeMap::new());
    }
    /// Closes an epoll instance, or removes a closed socket from all instances. Returns true if
    /// `fd` was an instance.
    pub(crate) fn close(&mut self, fd: i64) -> bool {
        for watches in self.0.values_mut() {
            watches.remove(&fd);
        }
        self.0.remove(&fd).is_some()
    }

    /// Performs a call such as `epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLIN, fd=4})`.
    pub(crate) fn control(
        &mut self,
        line: usize,
        call: &Call,
        is_open: impl Fn(i64) -> bool,
    ) -> Answer {
        let (instance, fd) = (number(line, call, 0)?, number(line, call, 2)?);
        let Some(watches) = self.0.get_mut(&instance) else {
            return Ok(Some(Err(if is_open(instance) {
                "EINVAL"
            } else {
                "EBADF"
            })));
        };
        if !is_open(fd) {
            return Ok(Some(Err("EBADF")));
        }
        let is_known = watches.contains_key(&fd);
        let error = match argument(line, call, 1)? {
            "EPOLL_CTL_DEL" if is_known => {
                watches.remove(&fd);
                None
            }
            "EPOLL_CTL_ADD" if is_known => Some("EEXIST"),
            "EPOLL_CTL_DEL" | "EPOLL_CTL_MOD" if !is_known => Some("ENOENT"),
            "EPOLL_CTL_ADD" | "EPOLL_CTL_MOD" => {
                let (wanted, data) = event(line, argument(line, call, 3)?)?;
                let watch = Watch {
                    wanted,
                    data,
                    reported: Events::NONE,
                    arrived: 0,
                    openings: 0,
                    is_disabled: false,
                };
                watches.insert(fd, watch);
                None
            }
            other => {
                let message = format!("`{other}` is not supported");
                return Err(Problem::unsupported(line, message));
            }
        };
        Ok(Some(error.map_or(Ok(0), Err)))
    }

    /// Performs a call such as `epoll_wait(5, {events=EPOLLIN, fd=4}, 1, -1)`. The arguments are
    /// the instance, the expected events, their largest number, and the timeout.
    pub(crate) fn wait(
        &mut self,
        line: usize,
        call: &Call,
        is_due: bool,
        ready: impl Fn(i64) -> Option<Ready>,
    ) -> Answer {
        let instance = number(line, call, 0)?;
        let expected = argument(line, call, 1)?;
        let most = number(line, call, 2)?;
        let Some(watches) = self.0.get_mut(&instance) else {
            return Ok(Some(Err("EBADF")));
        };
        let Some(most) = usize::try_from(most).ok().filter(|most| *most > 0) else {
            return Ok(Some(Err("EINVAL")));
        };
        let mut found = Vec::new();
        for (fd, watch) in watches.iter_mut() {
            if found.len() == most || watch.is_disabled {
                continue;
            }
            let Some(now) = ready(*fd) else { continue };
            let events = now
                .events
                .complete()
                .within(Events::reportable(watch.wanted));
            let is_reported = if watch.wanted.has(Events::EDGE) {
                let is_new = events.without(watch.reported) != Events::NONE;
                is_new
                    || (events.has(Events::IN) && now.arrived > watch.arrived)
                    || (events.has(Events::OUT) && now.openings > watch.openings)
            } else {
                events != Events::NONE
            };
            watch.reported = events;
            if is_reported {
                watch.arrived = now.arrived;
                watch.openings = now.openings;
                watch.is_disabled = watch.wanted.has(Events::ONCE);
                found.push((events, watch.data.clone()));
            }
        }
        if found.is_empty() && !is_due {
            return Ok(None);
        }
        if !found.is_empty() && expected != "..." {
            let mut wanted = Vec::new();
            for one in structures(expected) {
                wanted.push(event(line, one)?);
            }
            if wanted != found {
                let message = "`epoll_wait` has other events";
                return Err(Problem::failed(line, message).between(list(&wanted), list(&found)));
            }
        }
        Ok(Some(Ok(found.len() as i64)))
    }
}

/// Performs a call such as `poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 0)`.
pub(crate) fn poll(
    line: usize,
    call: &Call,
    is_due: bool,
    ready: impl Fn(i64) -> Option<Ready>,
) -> Answer {
    let (mut count, mut wrong) = (0, None);
    for one in structures(argument(line, call, 0)?) {
        let missing = |what: &str| {
            let message = format!("`poll`: a descriptor needs `{what}=`");
            Problem::invalid(line, message)
        };
        let fd = field(one, "fd").ok_or_else(|| missing("fd"))?;
        let fd: i64 = fd.parse().map_err(|_| missing("fd"))?;
        let asked = field(one, "events").ok_or_else(|| missing("events"))?;
        let asked = Events::parse(line, asked)?;
        let found = match ready(fd) {
            Some(now) => now.events.complete().within(Events::reportable(asked)),
            None if fd < 0 => Events::NONE,
            // POLLNVAL is not supported, so a poll of a closed descriptor is an error.
            None => return Ok(Some(Err("EBADF"))),
        };
        count += i64::from(found != Events::NONE);
        let wanted = field(one, "revents").filter(|text| *text != "...");
        if let Some(wanted) = wanted {
            let wanted = Events::parse(line, wanted)?;
            if wanted != found {
                wrong.get_or_insert((wanted.text(), found.text()));
            }
        }
    }
    if count == 0 && !is_due {
        return Ok(None);
    }
    match wrong {
        None => Ok(Some(Ok(count))),
        Some((wanted, found)) => {
            Err(Problem::failed(line, "`poll` has other events").between(wanted, found))
        }
    }
}

/// Returns the timeout of a call. `None` if the call has no finite timeout.
pub(crate) fn timeout(call: &Call) -> Option<Span> {
    let index = match call.name.as_str() {
        "poll" => 2,
        "epoll_wait" => 3,
        _ => return None,
    };
    let milliseconds: i64 = call.arguments.get(index)?.trim().parse().ok()?;
    let milliseconds = u64::try_from(milliseconds).ok()?;
    // This limit exceeds the duration of every script and prevents an overflow.
    Some(Span::from_millis(milliseconds.min(1_000_000_000)))
}

fn argument(line: usize, call: &Call, index: usize) -> Result<&str, Problem> {
    call.arguments
        .get(index)
        .map(|text| text.trim())
        .ok_or_else(|| {
            let message = format!("`{}` takes at least {} arguments", call.name, index + 1);
            Problem::invalid(line, message)
        })
}

fn number(line: usize, call: &Call, index: usize) -> Result<i64, Problem> {
    let text = argument(line, call, index)?;
    text.parse().map_err(|_| {
        let message = format!("`{}`: `{text}` must be a whole number", call.name);
        Problem::invalid(line, message)
    })
}

/// Returns the events and the user data of a structure such as `{events=EPOLLIN, fd=4}`.
fn event(line: usize, text: &str) -> Result<(Events, String), Problem> {
    let inside = text.trim().trim_start_matches('{').trim_end_matches('}');
    let data = inside
        .split(',')
        .map(|part| part.replace(' ', ""))
        .find(|part| !part.starts_with("events="));
    let Some(events) = field(text, "events") else {
        let message = format!("`{text}`: an event needs `events=`");
        return Err(Problem::invalid(line, message));
    };
    Ok((Events::parse(line, events)?, data.unwrap_or_default()))
}

/// Returns the value of the field `name` in a structure `{…}`. `None` if the field is missing.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.trim()
        .trim_start_matches('{')
        .trim_end_matches('}')
        .split(',')
        .filter_map(|part| part.split_once('='))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

/// Returns the structures `{…}` of a list.
fn structures(text: &str) -> impl Iterator<Item = &str> {
    text.split('{')
        .skip(1)
        .map(|part| part.split('}').next().unwrap_or(part))
}

fn list(events: &[(Events, String)]) -> String {
    let each: Vec<String> = events
        .iter()
        .map(|(events, data)| format!("{{events={}, {data}}}", events.text()))
        .collect();
    each.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_found_with_their_fields() {
        let text = "[{fd=3, events=POLLIN|POLLOUT, revents=POLLOUT}, {fd=4,events=0}]";
        let found: Vec<_> = structures(text).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(field(found[0], "events"), Some("POLLIN|POLLOUT"));
        assert_eq!(field(found[1], "fd"), Some("4"));
        assert_eq!(field(found[1], "revents"), None);
    }

    #[test]
    fn names_of_poll_and_epoll_are_the_same_bits() {
        let one = Events::parse(1, "POLLIN|POLLOUT").expect("known");
        let other = Events::parse(1, "EPOLLOUT | EPOLLIN").expect("known");
        assert_eq!(one, other);
        assert_eq!(one.text(), "IN|OUT");
        assert!(Events::parse(1, "EPOLLMSG").is_err());
    }
}
