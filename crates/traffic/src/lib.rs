//! Applications: what drives the sending end of a connection, sans-IO.
//!
//! An [`Application`] is told what its connection reports and answers with what it asks of it.

mod registry;

pub use registry::APPLICATIONS;

use fadeout_core::Bytes;
use fadeout_core::registry::Parameters;

/// What an application asks of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Send this many bytes.
    Write(Bytes),
    /// Send without end.
    WriteForever,
    /// Close when everything is sent.
    Close,
}

/// An application at the sending end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Application {
    /// Always has data to send; never closes.
    Bulk,
    /// Sends a file, then closes. Its flow completion time is measured from opening the
    /// connection to the last byte in order at the receiver.
    Transfer {
        /// Size of the file.
        size: Bytes,
    },
}

impl Application {
    /// The application called `name`, with parameters already checked against [`APPLICATIONS`];
    /// `None` when there is none.
    pub fn new(name: &str, parameters: &Parameters) -> Option<Application> {
        match name {
            "bulk" => Some(Application::Bulk),
            "transfer" => {
                let size = parameters.number("size", registry::DEFAULT_TRANSFER_BYTES as f64);
                Some(Application::Transfer {
                    size: Bytes(size as u64),
                })
            }
            _ => None,
        }
    }

    /// What to ask when the flow starts; the connection is being opened. A connection sends what
    /// was written before it was established as soon as it is.
    pub fn on_start(&mut self) -> impl Iterator<Item = Request> + use<> {
        let requests = match *self {
            Application::Bulk => [Some(Request::WriteForever), None],
            Application::Transfer { size } => [Some(Request::Write(size)), Some(Request::Close)],
        };
        requests.into_iter().flatten()
    }

    /// Bytes after which the flow is complete; `None` when it never is.
    pub fn size(&self) -> Option<Bytes> {
        match *self {
            Application::Bulk => None,
            Application::Transfer { size } => Some(size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Value;

    #[test]
    fn every_registered_application_can_be_made() {
        let none = Parameters::default();
        assert!(
            APPLICATIONS
                .iter()
                .all(|entry| Application::new(entry.name, &none).is_some())
        );
        assert_eq!(Application::new("bulky", &none), None);
    }

    #[test]
    fn a_transfer_writes_its_size_and_closes() {
        let given = Parameters(vec![("size".to_owned(), Value::Number(5000.0))]);
        let mut transfer = Application::new("transfer", &given).expect("it is registered");
        let requests: Vec<_> = transfer.on_start().collect();
        assert_eq!(requests, [Request::Write(Bytes(5000)), Request::Close]);
    }
}
