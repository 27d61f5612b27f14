//! A user's program in a guest. Its output is stored, and its failure ends the run.

use super::KernelError;
use fadeout_guest::Guest;
use fadeout_guest::agent::Command;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Longest text in a message to the agent, bytes.
const MOST_TEXT: usize = 1400;
/// Number of bytes at the end of the output that are stored for an error message.
const LAST: usize = 200;

#[derive(Debug)]
pub(crate) struct Program {
    command: String,
    output: Option<(String, File)>,
    last: Vec<u8>,
}

impl Program {
    pub(super) fn new(command: &str) -> Program {
        Program {
            command: command.to_owned(),
            output: None,
            last: Vec::new(),
        }
    }

    /// Starts the program in `guest`. `names` are lines with the addresses and host names of the
    /// nodes. The output is written below `logs`.
    pub(super) fn start(
        &mut self,
        guest: &mut Guest,
        names: &[String],
        logs: Option<&Path>,
        node: &str,
    ) -> Result<(), KernelError> {
        if let Some(folder) = logs {
            let name = format!("program-{}.txt", node.replace(['/', '\\'], "-"));
            let path = folder.join(name);
            let shown = path.display().to_string();
            match File::create(&path) {
                Ok(file) => self.output = Some((shown, file)),
                Err(error) => return Err(KernelError::Output { path: shown, error }),
            }
        }
        for lines in gathered(names) {
            guest.command(&Command::Hosts(&lines));
        }
        let command = &self.command;
        guest.command(&Command::Run { command });
        Ok(())
    }

    /// Handles output of the program, or its exit status.
    pub(super) fn on_report(
        &mut self,
        node: &str,
        report: Result<&[u8], u64>,
    ) -> Result<(), KernelError> {
        match report {
            Ok(bytes) => {
                if let Some((path, file)) = &mut self.output
                    && let Err(error) = file.write_all(bytes)
                {
                    let path = path.clone();
                    return Err(KernelError::Output { path, error });
                }
                self.last.extend_from_slice(bytes);
                let gone = self.last.len().saturating_sub(LAST);
                self.last.drain(..gone);
                Ok(())
            }
            Err(0) => Ok(()),
            Err(status) => {
                let text = String::from_utf8_lossy(&self.last);
                let last = text.lines().rfind(|line| !line.trim().is_empty());
                Err(KernelError::Program {
                    node: node.to_owned(),
                    status,
                    last: last.map(|line| format!(": {line}")).unwrap_or_default(),
                })
            }
        }
    }
}

/// Joins lines into texts. Each text fits into one message, and there are as few texts as possible.
fn gathered(names: &[String]) -> Vec<String> {
    let mut texts = vec![String::new()];
    for name in names {
        match texts.last_mut() {
            Some(last) if last.len() + name.len() <= MOST_TEXT => last.push_str(name),
            _ => texts.push(name.clone()),
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_the_last_line_and_an_end_without_one_is_none() {
        let mut program = Program::new("true");
        assert!(
            program
                .on_report("client", Ok(b"connecting\nno route\n\n"))
                .is_ok()
        );
        assert!(program.on_report("client", Err(0)).is_ok());
        let error = program.on_report("client", Err(1)).expect_err("a status");
        let text = error.to_string();
        assert_eq!(text, "program of \"client\" ended with status 1: no route");
    }

    #[test]
    fn names_fill_as_few_messages_as_hold_them() {
        let names: Vec<String> = (0..100).map(|n| format!("10.0.0.{n} node-{n}\n")).collect();
        let texts = gathered(&names);
        assert_eq!(texts.concat(), names.concat());
        assert!(texts.iter().all(|text| text.len() <= MOST_TEXT));
        assert_eq!(texts.len(), 2);
    }
}
