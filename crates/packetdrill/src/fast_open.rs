//! Cookies of TCP Fast Open, and the host's memory of its peer.
//!
//! Standard: RFC 7413 §4.1.

use crate::settings::Settings;
use std::net::IpAddr;

/// Bit of `tcp_fastopen`: the host requests a cookie when it connects.
const CLIENT: u32 = 0x1;
/// Bit of `tcp_fastopen`: the host issues a cookie when it listens.
const SERVER: u32 = 0x2;
/// Bit of `tcp_fastopen`: the host sends data in a SYN without a cookie.
const CLIENT_WITHOUT_COOKIE: u32 = 0x4;
/// Bit of `tcp_fastopen`: the host accepts data in a SYN without a cookie.
const SERVER_WITHOUT_COOKIE: u32 = 0x200;
/// Bit of `tcp_fastopen`: every listening socket uses Fast Open.
const EVERY_LISTENER: u32 = 0x400;
/// Space for options in a SYN with data, in bytes (`MAX_TCP_OPTION_SPACE`).
const OPTIONS: u32 = 40;
/// Length in bytes of the cookies that this host issues.
const OWN_LEN: u8 = 8;

/// Content of a Fast Open option. The content is a cookie, or empty in a cookie request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cookie {
    bytes: [u8; 16],
    len: u8,
    /// True if the option is the experimental one (RFC 6994).
    pub(crate) is_experimental: bool,
}

impl Cookie {
    /// Returns the cookie of a received option. `None` if the standard does not allow the length.
    ///
    /// Standard: RFC 7413 §4.1.1.
    pub(crate) fn received(content: &[u8], is_experimental: bool) -> Option<Cookie> {
        let is_valid = content.len().is_multiple_of(2)
            && (content.is_empty() || (4..=16).contains(&content.len()));
        let mut bytes = [0; 16];
        bytes
            .get_mut(..content.len())
            .filter(|_| is_valid)?
            .copy_from_slice(content);
        Some(Cookie {
            bytes,
            len: content.len() as u8,
            is_experimental,
        })
    }

    fn request(is_experimental: bool) -> Cookie {
        Cookie {
            bytes: [0; 16],
            len: 0,
            is_experimental,
        }
    }

    /// Returns the cookie that Linux issues to the peer: the hash of both addresses under `key`.
    fn issue(settings: &Settings, key: [u8; 16], is_experimental: bool) -> Cookie {
        let half = |from: usize| {
            let bytes = key[from..from + 8].iter().rev();
            bytes.fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        let mut text = octets(settings.remote_ip);
        text.extend(octets(settings.local_ip));
        let hash = siphash(half(0), half(8), &text);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&hash.to_le_bytes());
        Cookie {
            bytes,
            len: OWN_LEN,
            is_experimental,
        }
    }

    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// Returns SipHash-2-4 of `text`.
fn siphash(key0: u64, key1: u64, text: &[u8]) -> u64 {
    #[allow(
        deprecated,
        reason = "the successor hides which hash it is; this one is specified"
    )]
    let mut hasher = std::hash::SipHasher::new_with_keys(key0, key1);
    std::hash::Hasher::write(&mut hasher, text);
    std::hash::Hasher::finish(&hasher)
}

/// Fast Open settings of a socket.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wishes {
    /// Largest number of incomplete connections that wait to be accepted (`TCP_FASTOPEN`).
    pub(crate) queue: u32,
    /// Fast Open key of the socket (`TCP_FASTOPEN_KEY`). `None` if the socket uses the host's key.
    pub(crate) key: Option<[u8; 16]>,
    /// True if `connect` sends no SYN until the first write (`TCP_FASTOPEN_CONNECT`).
    pub(crate) defers: bool,
    /// True if the socket sends or accepts data without a cookie (`TCP_FASTOPEN_NO_COOKIE`).
    pub(crate) needs_none: bool,
}

/// Answer of a listening socket to a SYN.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Verdict {
    /// True if the connection is open at once and the SYN's data is accepted.
    pub(crate) is_accepted: bool,
    /// Fast Open option of the SYN-ACK. `None` if the SYN-ACK has no such option.
    pub(crate) answer: Option<Cookie>,
}

/// Decides how a listening socket answers a SYN (Linux `tcp_try_fastopen`).
pub(crate) fn judge(
    settings: &Settings,
    wishes: &Wishes,
    received: Option<Cookie>,
    has_data: bool,
) -> Verdict {
    let is_on = settings.fast_open & SERVER != 0 && wishes.queue > 0;
    if !is_on || !(has_data || received.is_some()) {
        return Verdict::default();
    }
    let accepted = Verdict {
        is_accepted: true,
        answer: None,
    };
    if wishes.needs_none || settings.fast_open & SERVER_WITHOUT_COOKIE != 0 {
        return accepted;
    }
    let Some(received) = received else {
        return Verdict::default();
    };
    let key = wishes.key.unwrap_or(settings.fast_open_key);
    let own = Cookie::issue(settings, key, received.is_experimental);
    if received == own {
        return accepted;
    }
    Verdict {
        is_accepted: false,
        answer: Some(own),
    }
}

/// Returns the largest number of Fast Open connections that may wait when a socket begins to
/// listen.
pub(crate) fn queue_on_listen(settings: &Settings, before: u32, backlog: u32) -> u32 {
    let every = SERVER | EVERY_LISTENER;
    if before == 0 && settings.fast_open & every == every {
        backlog.max(1)
    } else {
        before
    }
}

/// Returns true if the host may request a Fast Open cookie.
pub(crate) fn is_client(settings: &Settings) -> bool {
    settings.fast_open & CLIENT != 0
}

/// Content of the first SYN of a new connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Number of payload bytes that the SYN may carry. `None` if the host must request a cookie
    /// first.
    pub(crate) room: Option<u32>,
    pub(crate) option: Option<Cookie>,
}

/// Values that the host remembers of its peer (Linux `tcp_metrics`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cache {
    mss: Option<u32>,
    cookie: Option<Cookie>,
    /// State of cookie requests without an answer. After one, the next request uses the
    /// experimental option. After two, requests use the option of RFC 7413 again (Linux
    /// `tcp_fastopen_rcv_synack`).
    tries: u8,
}

impl Cache {
    /// Decides which payload and option the SYN carries. `mss` is this end's MSS.
    pub(crate) fn plan(&self, settings: &Settings, wishes: &Wishes, mss: u32) -> Plan {
        let mss = self.mss.map_or(mss, |known| known.min(mss));
        let room = Some(mss.saturating_sub(OPTIONS));
        if wishes.needs_none || settings.fast_open & CLIENT_WITHOUT_COOKIE != 0 {
            return Plan { room, option: None };
        }
        match self.cookie {
            Some(_) => Plan {
                room,
                option: self.cookie,
            },
            None => Plan {
                room: None,
                option: Some(Cookie::request(self.tries == 1)),
            },
        }
    }

    /// Stores the MSS and the cookie of the peer's SYN-ACK. `asked` is the option that the SYN
    /// carried. `was_lost` is true if the SYN was retransmitted.
    pub(crate) fn learn(
        &mut self,
        mss: u32,
        cookie: Option<Cookie>,
        asked: Option<Cookie>,
        was_lost: bool,
    ) {
        self.mss = Some(mss);
        // A cookie that was not requested is ignored.
        let cookie = cookie.filter(|cookie| cookie.len > 0 && asked.is_some());
        match (cookie, asked) {
            (Some(cookie), _) => self.cookie = Some(cookie),
            (None, Some(asked)) if asked.len == 0 && !was_lost && self.cookie.is_none() => {
                let tries = if asked.is_experimental { 2 } else { 1 };
                self.tries = self.tries.max(tries);
            }
            _ => {}
        }
    }
}

/// Parses a key of the form `a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4`.
pub(crate) fn key(text: &str) -> Option<[u8; 16]> {
    let words: Result<Vec<u32>, _> = text
        .split('-')
        .map(|word| u32::from_str_radix(word, 16))
        .collect();
    let words: [u32; 4] = words.ok()?.try_into().ok()?;
    let mut key = [0; 16];
    for (bytes, word) in key.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(key_text: &str, client: &str, server: &str) -> Settings {
        let mut settings = Settings::linux();
        settings.fast_open = 0x402;
        settings.fast_open_key = key(key_text).expect("four words");
        settings.remote_ip = client.parse().expect("an address");
        settings.local_ip = server.parse().expect("an address");
        settings
    }

    /// The expected cookies come from Linux kernels. packetdrill's own tests rely on the same
    /// cookies.
    #[test]
    fn a_cookie_is_the_keyed_hash_of_both_addresses() {
        const CUSTOMARY: &str = "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4";
        for (client, server, hex) in [
            ("192.0.2.1", "192.168.0.1", 0x3021_b9d8_8901_7eeb_u64),
            (
                "fd3d:fa7b:d17d::1",
                "fd3d:0a0b:17d6::1",
                0xc1d1_e974_2a47_a9bc,
            ),
        ] {
            let settings = settings(CUSTOMARY, client, server);
            let own = Cookie::issue(&settings, settings.fast_open_key, false);
            assert_eq!(own.content(), hex.to_be_bytes());
        }
    }

    #[test]
    fn only_the_own_cookie_opens_and_any_other_is_answered_with_it() {
        let settings = settings("1-2-3-4", "192.0.2.1", "192.168.0.1");
        let wishes = Wishes {
            queue: 1,
            ..Wishes::default()
        };
        let request = Cookie::received(&[], false);
        let verdict = judge(&settings, &wishes, request, false);
        assert!(!verdict.is_accepted);
        let own = verdict.answer;
        assert!(judge(&settings, &wishes, own, true).is_accepted);
        let wrong = Cookie::received(&[1; 8], true);
        let verdict = judge(&settings, &wishes, wrong, true);
        assert!(!verdict.is_accepted);
        assert!(verdict.answer.is_some_and(|answer| answer.is_experimental));
        assert!(!judge(&settings, &Wishes::default(), own, true).is_accepted);
    }

    #[test]
    fn a_request_without_an_answer_is_made_in_the_other_option_and_then_in_the_first() {
        let (settings, wishes) = (Settings::linux(), Wishes::default());
        let mut cache = Cache::default();
        for is_experimental in [false, true, false, false] {
            let plan = cache.plan(&settings, &wishes, 1460);
            let option = plan.option.expect("a request");
            assert_eq!((plan.room, option.is_experimental), (None, is_experimental));
            cache.learn(1460, None, plan.option, false);
        }
        let asked = cache.plan(&settings, &wishes, 1460).option;
        cache.learn(940, Cookie::received(&[7; 4], false), asked, false);
        let plan = cache.plan(&settings, &wishes, 1460);
        assert_eq!(plan.room, Some(900));
        assert!(Cookie::received(&[7; 3], false).is_none());
        assert!(Cookie::received(&[7; 18], false).is_none());
    }
}
