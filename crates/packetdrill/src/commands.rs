//! Shell commands of a script: their effects on the settings.

use crate::problem::Problem;
use crate::settings::Settings;
use crate::shell;
use fadeout_core::Span;
use fadeout_transport::tcp::Pacing;

impl Settings {
    /// Applies the supported part of a shell command. Returns the time that it sleeps.
    pub(crate) fn command(&mut self, line: usize, text: &str) -> Result<Span, Problem> {
        let mut slept = Span::ZERO;
        let not_supported = |what: String| {
            let message = format!("{what} is not supported");
            Problem::unsupported(line, message)
        };
        for words in shell::split(text).map_err(not_supported)? {
            let base = words[0].rsplit('/').next().unwrap_or("");
            let done = match base {
                "defaults.sh" => {
                    self.customary();
                    // Listeners use Fast Open in the kernel's own test scripts.
                    let is_common = words[0].ends_with("common/defaults.sh");
                    self.fast_open = if is_common { 0x7_0403 } else { 0x3 };
                    Ok(())
                }
                // Scripts of the public suite of Multipath TCP.
                "server.sh" => {
                    self.paths.serve(self.local_ip);
                    Ok(())
                }
                "client.sh" => {
                    self.paths.join();
                    Ok(())
                }
                "sysctl" | "set_sysctls.py" => {
                    let assignments = words[1..].iter().filter(|word| !word.starts_with('-'));
                    assignments
                        .into_iter()
                        .try_for_each(|word| self.assignment(word))
                }
                "tc" => self.queue_discipline(&words),
                "sleep" => {
                    let secs = words.get(1).and_then(|word| word.parse::<f64>().ok());
                    let secs = secs.filter(|secs| (0.0..=1000.0).contains(secs));
                    slept += secs.map_or(Span::ZERO, Span::from_secs_f64);
                    secs.map(|_| ())
                        .ok_or_else(|| format!("`{}`", words.join(" ")))
                }
                "ip" if words.get(1).is_some_and(|word| word == "mptcp") => {
                    self.paths.command(&words)
                }
                "ip" => self.ip(&words),
                "false" => {
                    let message = "the command `false` fails";
                    return Err(Problem::failed(line, message).between("exit status 0", "1"));
                }
                "dd" | "ethtool" | "nstat" | "ss" | "netstat" | "cat" | "echo" | "true" | "rm"
                | "ulimit" => Ok(()),
                _ if base.starts_with("sysctl_restore") => Ok(()),
                _ => Err(format!("the command `{}`", words.join(" "))),
            };
            done.map_err(not_supported)?;
        }
        Ok(slept)
    }

    fn queue_discipline(&mut self, words: &[String]) -> Result<(), String> {
        let has = |word: &str| words.iter().any(|one| one == word);
        if has("fq") {
            self.config.host.pacing = Pacing::On;
        } else if has("limit") || has("netem") {
            return Err("a queueing discipline that loses packets (a loss in the host)".to_owned());
        } else if has("pfifo") || has("pfifo_fast") || has("noqueue") || has("fq_codel") {
            self.config.host.pacing = Pacing::Automatic;
        } else if !has("delete") && !has("del") && !has("show") {
            return Err(format!("`{}`", words.join(" ")));
        }
        Ok(())
    }

    fn ip(&mut self, words: &[String]) -> Result<(), String> {
        let after = |name: &str| {
            let at = words.iter().position(|word| word == name)?;
            words.get(at + 1).map(String::as_str)
        };
        let has = |name: &str| words.iter().any(|word| word == name);
        if has("tcp_metrics") || has("flush") {
            self.is_forgetful |= has("tcp_metrics");
            return Ok(());
        }
        let not_understood = || format!("`{}`", words.join(" "));
        let is_known = has("route") || (has("link") && has("mtu"));
        if !is_known {
            return Err(not_understood());
        }
        for name in ["quickack", "features"] {
            if has(name) {
                return Err(format!("`{name}` of a route"));
            }
        }
        if let Some(window) = after("initcwnd") {
            let window: u32 = window.parse().map_err(|_| not_understood())?;
            self.config.initial_window = window.clamp(1, 10_000);
        }
        if let Some(text) = after("rto_min") {
            let millis = text
                .strip_suffix("ms")
                .and_then(|ms| ms.parse::<u64>().ok());
            let millis = millis.ok_or_else(|| format!("`rto_min {text}` (write `200ms`)"))?;
            self.config.timers.minimum_rto = Span::from_millis(millis.clamp(1, 120_000));
        }
        if has("mtu") {
            let mtu = match after("mtu") {
                Some("lock") => after("lock"),
                other => other,
            };
            let mtu: u32 = mtu
                .and_then(|mtu| mtu.parse().ok())
                .ok_or_else(not_understood)?;
            self.set_mtu(mtu)
                .map_err(|expected| format!("an MTU of {mtu} ({expected})"))?;
        }
        if let Some(advertised) = after("advmss")
            && advertised.parse() != Ok(self.config.mss)
        {
            return Err("an `advmss` that is not the MTU less the headers".to_owned());
        }
        Ok(())
    }
}
