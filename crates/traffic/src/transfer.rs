//! File that is sent once.

use crate::registry::{Program, bytes};
use crate::{Ask, FlowEnd, Request};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings};
use fadeout_core::{Bytes, Time};

fadeout_core::parameters! {
    /// Sends a file, then closes. Its flow completion time is measured from opening the connection
    /// to the last byte in order at the receiver.
    #[derive(Debug, Clone, Copy)]
    pub struct Transfer {
        /// Number of bytes to send.
        pub size: Bytes = bytes("10 MB"),
    }
}

impl Registered<Stream> for Transfer {
    const ENTRY: Entry = Entry::new(
        "transfer",
        "application",
        "Sends a file of a given size and closes the connection. The completion time of the file \
         is reported.",
        "",
    )
    .with_aliases(&["file"])
    .with_parameters(Transfer::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Stream) -> Self {
        Transfer::read(settings)
    }
}

impl Program for Transfer {
    fn on_start(&mut self, _: Time, asks: &mut Vec<Ask>) {
        asks.push((FlowEnd::Sender, Request::Write(self.size)));
        asks.push((FlowEnd::Sender, Request::Close));
    }

    /// Does nothing, because nothing happens after the start.
    fn on_wake(&mut self, _: Time, _: &mut Vec<Ask>) {}

    fn wake_at(&self) -> Time {
        Time::NEVER
    }

    fn size(&self) -> Option<Bytes> {
        Some(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_writes_its_size_and_closes() {
        let mut transfer = Transfer { size: Bytes(5000) };
        let mut asks = Vec::new();
        transfer.on_start(Time::ZERO, &mut asks);
        let expected = [
            (FlowEnd::Sender, Request::Write(Bytes(5000))),
            (FlowEnd::Sender, Request::Close),
        ];
        assert_eq!(asks, expected);
    }
}
