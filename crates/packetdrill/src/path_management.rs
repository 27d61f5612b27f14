//! Settings of Multipath TCP's path manager: the announced addresses and the limits (`ip mptcp`).

use fadeout_transport::multipath::MAX_PATHS;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Limits in the `client.sh` and `server.sh` of the public suite.
const CUSTOMARY_LIMIT: usize = 8;

/// Settings of the path manager.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathManagement {
    /// Addresses of this host that a passive connection announces (`signal` endpoints).
    pub(crate) announced: Vec<IpAddr>,
    /// Largest number of announced addresses that an active connection joins.
    accepted: usize,
}

impl PathManagement {
    /// Returns the number of paths of a connection.
    pub(crate) fn path_count(&self, is_passive: bool) -> usize {
        let more = if is_passive {
            self.announced.len()
        } else {
            self.accepted
        };
        (1 + more).min(MAX_PATHS)
    }

    /// Applies the settings of a host that announces a second address, as in `server.sh`. The
    /// second address follows `local`.
    pub(crate) fn serve(&mut self, local: IpAddr) {
        self.announced = vec![next_address(local)];
        self.accepted = CUSTOMARY_LIMIT;
    }

    /// Applies the settings of a host that joins announced addresses, as in `client.sh`.
    pub(crate) fn join(&mut self) {
        self.announced.clear();
        self.accepted = CUSTOMARY_LIMIT;
    }

    /// Applies a command `ip mptcp …`. Returns an error that names the part that is not supported.
    pub(crate) fn command(&mut self, words: &[String]) -> Result<(), String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let whole = || format!("`{}`", words.join(" "));
        let after = words.iter().position(|word| *word == "mptcp");
        let after = after.map_or(&[][..], |at| &words[at + 1..]);
        match after {
            ["endpoint", "flush"] => self.announced.clear(),
            ["endpoint", "show"] | ["limits", "show"] | ["limits"] => {}
            ["endpoint", "add", address, rest @ ..] => {
                let address = address.split('/').next().unwrap_or(address).parse();
                let address =
                    address.map_err(|_| format!("{} (an address follows `add`)", whole()))?;
                let has = |flag: &str| rest.contains(&flag);
                if !has("signal")
                    || ["subflow", "backup", "fullmesh", "port"]
                        .into_iter()
                        .any(has)
                {
                    return Err(format!(
                        "{}: an endpoint that is not only `signal`",
                        whole()
                    ));
                }
                if self.announced.len() + 1 >= MAX_PATHS {
                    return Err(format!("{}: more than {MAX_PATHS} addresses", whole()));
                }
                self.announced.push(address);
            }
            ["limits", "set", pairs @ ..] => {
                for pair in pairs.chunks(2) {
                    let number = pair.get(1).and_then(|text| text.parse::<usize>().ok());
                    let number = number.filter(|number| *number <= CUSTOMARY_LIMIT);
                    match (pair[0], number) {
                        ("add_addr_accepted", Some(number)) => self.accepted = number,
                        ("subflows" | "subflow", Some(_)) => {}
                        _ => return Err(whole()),
                    }
                }
            }
            _ => return Err(whole()),
        }
        Ok(())
    }
}

/// Returns the address after `address`.
pub(crate) fn next_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => Ipv4Addr::from(u32::from(address).wrapping_add(1)).into(),
        IpAddr::V6(address) => Ipv6Addr::from(u128::from(address).wrapping_add(1)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(management: &mut PathManagement, command: &str) -> Result<(), String> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        management.command(&words)
    }

    #[test]
    fn endpoints_and_limits_count_the_paths() {
        let mut management = PathManagement::default();
        for command in [
            "ip mptcp endpoint flush",
            "ip mptcp endpoint add 198.51.100.2 signal",
            "ip mptcp endpoint add 198.51.100.3/24 signal dev tun0",
            "ip mptcp limits set add_addr_accepted 3 subflows 8",
        ] {
            assert_eq!(run(&mut management, command), Ok(()), "{command}");
        }
        assert_eq!(management.path_count(true), 3);
        assert_eq!(management.path_count(false), 4);
        management.serve(IpAddr::V4(Ipv4Addr::new(192, 168, 0, 255)));
        assert_eq!(
            management.announced,
            [IpAddr::V4(Ipv4Addr::new(192, 168, 1, 0))]
        );
        management.join();
        assert_eq!(
            (management.path_count(true), management.path_count(false)),
            (1, 8)
        );
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for command in [
            "ip mptcp",
            "ip mptcp endpoint add",
            "ip mptcp endpoint add nowhere signal",
            "ip mptcp endpoint add 198.51.100.2 subflow",
            "ip mptcp endpoint add 198.51.100.2 signal backup",
            "ip mptcp limits set add_addr_accepted",
            "ip mptcp limits set add_addr_accepted 9",
            "ip mptcp monitor",
        ] {
            let error = run(&mut PathManagement::default(), command).expect_err(command);
            assert!(error.contains(command), "{error}");
        }
        let mut management = PathManagement::default();
        let add = "ip mptcp endpoint add 198.51.100.2 signal";
        let added = (0..20).take_while(|_| run(&mut management, add).is_ok());
        assert_eq!(added.count(), MAX_PATHS - 1);
    }
}
