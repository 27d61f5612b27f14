//! File on request. The receiver opens the connection and asks, the sender answers and closes.

use crate::registry::{Program, bytes};
use crate::{Ask, FlowEnd, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings};
use fadeout_core::{Bytes, Time};

fadeout_core::parameters! {
    /// Parameters of a file transfer with a request line.
    #[derive(Debug, Clone, Copy)]
    struct Ftp {
        /// Size of the file.
        size: Bytes = bytes("10 MB"),
        /// Size of the request.
        request_size: Bytes = bytes("100 B"),
    }
}

fadeout_core::parameters! {
    /// Parameters of a request by a browser and its page.
    #[derive(Debug, Clone, Copy)]
    struct Web {
        /// Size of the page, including all of its parts.
        size: Bytes = bytes("2 MB"),
        /// Size of the request.
        request_size: Bytes = bytes("400 B"),
    }
}

pub(crate) const WEB: Entry = Entry::new(
    "web",
    "application",
    "The receiver requests a page, and the sender sends it. The completion time is the download \
     time of the page. `count` gives several connections to one host.",
    "",
)
.with_aliases(&["page"])
.with_parameters(Web::PARAMETERS);

/// File on request.
#[derive(Debug, Clone)]
pub struct Download {
    request: u64,
    size: u64,
    /// Bytes of the request that the sender has received.
    asked: u64,
}

impl Registered<Stream> for Download {
    const ENTRY: Entry = Entry::new(
        "ftp",
        "application",
        "The receiver opens the connection and requests a file, which the sender sends before it \
         closes the connection.",
        "",
    )
    .with_parameters(Ftp::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Stream) -> Self {
        // The parameters of `Web` have the same names.
        let Ftp { size, request_size } = Ftp::read(settings);
        Download {
            request: request_size.0,
            size: size.0,
            asked: 0,
        }
    }
}

impl Program for Download {
    fn opener(&self) -> FlowEnd {
        FlowEnd::Receiver
    }

    fn on_start(&mut self, _: Time, asks: &mut Vec<Ask>) {
        asks.push((FlowEnd::Receiver, Request::Write(Bytes(self.request))));
    }

    fn on_delivered(&mut self, _: Time, at: FlowEnd, bytes: Bytes, asks: &mut Vec<Ask>) {
        let was_asked = self.asked >= self.request;
        if at == FlowEnd::Sender {
            self.asked += bytes.0;
            debug_assert!(
                self.asked <= self.request,
                "{} bytes of a request of {} came",
                self.asked,
                self.request
            );
        }
        if !was_asked && self.asked >= self.request {
            asks.push((FlowEnd::Sender, Request::Write(Bytes(self.size))));
            asks.push((FlowEnd::Sender, Request::Close));
        }
    }

    /// Does nothing, because only deliveries cause actions.
    fn on_wake(&mut self, _: Time, _: &mut Vec<Ask>) {}

    fn wake_at(&self) -> Time {
        Time::NEVER
    }

    fn size(&self) -> Option<Bytes> {
        Some(Bytes(self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_follows_the_whole_request_once() {
        let mut download = Download {
            request: 400,
            size: 1_000_000,
            asked: 0,
        };
        let mut asks = Vec::new();
        download.on_start(Time::ZERO, &mut asks);
        assert_eq!(asks, [(FlowEnd::Receiver, Request::Write(Bytes(400)))]);
        asks.clear();
        download.on_delivered(Time::ZERO, FlowEnd::Sender, Bytes(399), &mut asks);
        assert!(asks.is_empty());
        download.on_delivered(Time::ZERO, FlowEnd::Sender, Bytes(1), &mut asks);
        assert_eq!(asks.len(), 2);
        download.on_delivered(Time::ZERO, FlowEnd::Receiver, Bytes(1000), &mut asks);
        assert_eq!(asks.len(), 2);
    }
}
