//! Applications: what drives the two ends of a connection, sans-IO.
//!
//! An [`Application`] stands for the programs at both ends. It is told when its flow starts, what
//! bytes arrived where, and when the time it asked for has come; it answers with what the ends ask
//! of their connection.

mod bulk;
mod download;
mod on_off;
mod registry;
mod request_response;

pub use registry::APPLICATIONS;

pub use bulk::Bulk;
use download::Download;
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Time};
use on_off::OnOff;
use request_response::RequestResponse;

/// An end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Where the flow's data comes from.
    Sender,
    /// Where it goes.
    Receiver,
}

/// What an end asks of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Send this many bytes.
    Write(Bytes),
    /// Send without end.
    WriteForever,
    /// Close when everything is sent.
    Close,
}

/// A request and the end that makes it.
pub type Ask = (End, Request);

/// The programs at both ends of a flow.
#[derive(Debug, Clone)]
pub enum Application {
    /// Always has data to send; never closes.
    Bulk(Bulk),
    /// Sends a file, then closes. Its flow completion time is measured from opening the
    /// connection to the last byte in order at the receiver.
    Transfer {
        /// Size of the file.
        size: Bytes,
    },
    /// The receiver asks for a file and gets it: FTP, a web page.
    Download(Download),
    /// Sends at a rate in bursts.
    OnOff(OnOff),
    /// The receiver asks, waits for the answer, thinks, and asks again.
    RequestResponse(RequestResponse),
}

impl Application {
    /// The application called `name`, with parameters already checked against [`APPLICATIONS`];
    /// `None` when there is none. `random` is the flow's own stream.
    pub fn new(name: &str, parameters: &Parameters, random: Stream) -> Option<Application> {
        let entry = fadeout_core::registry::find(APPLICATIONS, name)?;
        Some(match entry.name {
            "bulk" => Application::Bulk(Bulk::new(parameters)),
            "transfer" => {
                let size = parameters.number("size", registry::DEFAULT_TRANSFER_BYTES);
                Application::Transfer {
                    size: Bytes(size as u64),
                }
            }
            "ftp" => Application::Download(Download::new(parameters, registry::FTP)),
            "web" => Application::Download(Download::new(parameters, registry::WEB)),
            "on-off" => Application::OnOff(OnOff::new(parameters, random)),
            "request-response" => {
                Application::RequestResponse(RequestResponse::new(parameters, random))
            }
            _ => return None,
        })
    }

    /// The end that opens the connection; the other one listens.
    pub fn opener(&self) -> End {
        match self {
            Application::Download(_) | Application::RequestResponse(_) => End::Receiver,
            _ => End::Sender,
        }
    }

    /// The flow starts; the connection is being opened. A connection sends what was written
    /// before it was established as soon as it is.
    pub fn on_start(&mut self, now: Time, asks: &mut Vec<Ask>) {
        match self {
            Application::Bulk(bulk) => bulk.on_start(now, asks),
            Application::Transfer { size } => {
                asks.push((End::Sender, Request::Write(*size)));
                asks.push((End::Sender, Request::Close));
            }
            Application::Download(download) => download.on_start(asks),
            Application::OnOff(on_off) => on_off.on_start(now),
            Application::RequestResponse(dialogue) => dialogue.ask(asks),
        }
    }

    /// In-order bytes reached an end.
    pub fn on_delivered(&mut self, now: Time, at: End, bytes: Bytes, asks: &mut Vec<Ask>) {
        match self {
            Application::Download(download) => download.on_delivered(at, bytes, asks),
            Application::RequestResponse(dialogue) => dialogue.on_delivered(now, at, bytes, asks),
            Application::Bulk(_) | Application::Transfer { .. } | Application::OnOff(_) => {}
        }
    }

    /// The time that [`Application::wake_at`] named has come.
    pub fn on_wake(&mut self, now: Time, asks: &mut Vec<Ask>) {
        match self {
            Application::Bulk(bulk) => bulk.on_wake(now, asks),
            Application::OnOff(on_off) => on_off.on_wake(now, asks),
            Application::RequestResponse(dialogue) => dialogue.on_wake(now, asks),
            _ => {}
        }
    }

    /// When it wants [`Application::on_wake`]; [`Time::NEVER`] when only a delivery can move it.
    pub fn wake_at(&self) -> Time {
        match self {
            Application::Bulk(bulk) => bulk.wake_at(),
            Application::OnOff(on_off) => on_off.wake_at(),
            Application::RequestResponse(dialogue) => dialogue.wake_at(),
            _ => Time::NEVER,
        }
    }

    /// Bytes at the receiver after which the flow is complete; `None` when it never is.
    pub fn size(&self) -> Option<Bytes> {
        match self {
            Application::Transfer { size } => Some(*size),
            Application::Download(download) => Some(download.size()),
            Application::Bulk(_) | Application::OnOff(_) => None,
            Application::RequestResponse(dialogue) => dialogue.size(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Value;

    fn make(name: &str, given: &[(&str, Value)]) -> Option<Application> {
        let given = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect();
        Application::new(name, &Parameters(given), Stream::new(1, "application", 0))
    }

    #[test]
    fn every_registered_application_can_be_made() {
        assert!(
            APPLICATIONS
                .iter()
                .all(|entry| make(entry.name, &[]).is_some())
        );
        assert!(make("bulky", &[]).is_none());
        assert!(make("iperf", &[]).is_some(), "an alias");
    }

    #[test]
    fn a_transfer_writes_its_size_and_closes() {
        let mut transfer =
            make("transfer", &[("size", Value::Number(5000.0))]).expect("it is registered");
        let mut asks = Vec::new();
        transfer.on_start(Time::ZERO, &mut asks);
        let expected = [
            (End::Sender, Request::Write(Bytes(5000))),
            (End::Sender, Request::Close),
        ];
        assert_eq!(asks, expected);
    }
}
