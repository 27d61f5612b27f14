//! A file on request: the receiver opens the connection and asks, the sender answers and closes.

use crate::{Ask, End, Request};
use fadeout_core::Bytes;
use fadeout_core::registry::Parameters;

/// Sizes when the scenario gives none, bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub(crate) request: f64,
    pub(crate) size: f64,
}

/// A file on request.
#[derive(Debug, Clone)]
pub struct Download {
    request: u64,
    size: u64,
    /// Bytes of the request that the sender has.
    asked: u64,
}

impl Download {
    pub(crate) fn new(given: &Parameters, defaults: Defaults) -> Download {
        Download {
            request: given.number("request-size", defaults.request) as u64,
            size: given.number("size", defaults.size) as u64,
            asked: 0,
        }
    }

    pub(crate) fn size(&self) -> Bytes {
        Bytes(self.size)
    }

    pub(crate) fn on_start(&mut self, asks: &mut Vec<Ask>) {
        asks.push((End::Receiver, Request::Write(Bytes(self.request))));
    }

    pub(crate) fn on_delivered(&mut self, at: End, bytes: Bytes, asks: &mut Vec<Ask>) {
        let was_asked = self.asked >= self.request;
        if at == End::Sender {
            self.asked += bytes.0;
        }
        if !was_asked && self.asked >= self.request {
            asks.push((End::Sender, Request::Write(Bytes(self.size))));
            asks.push((End::Sender, Request::Close));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_follows_the_whole_request_once() {
        let defaults = Defaults {
            request: 400.0,
            size: 1e6,
        };
        let mut download = Download::new(&Parameters::default(), defaults);
        let mut asks = Vec::new();
        download.on_start(&mut asks);
        assert_eq!(asks, [(End::Receiver, Request::Write(Bytes(400)))]);
        asks.clear();
        download.on_delivered(End::Sender, Bytes(399), &mut asks);
        assert!(asks.is_empty());
        download.on_delivered(End::Sender, Bytes(1), &mut asks);
        assert_eq!(asks.len(), 2);
        download.on_delivered(End::Receiver, Bytes(1000), &mut asks);
        assert_eq!(asks.len(), 2);
    }
}
