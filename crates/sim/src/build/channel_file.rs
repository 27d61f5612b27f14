//! Channels that files describe.

use super::BuildError;
use fadeout_core::{CellId, UeId};
use fadeout_radio::access::RecordedPath;
use fadeout_radio::channel::recorded::{self, Quantity, Reading, Recording, RecordingError};
use fadeout_scenario::{ChannelFile, Scenario, nearest};
use std::collections::BTreeMap;

/// Returns the paths between UEs and cells that the scenario's files describe. Each pair of UE and
/// cell occurs once.
pub(crate) fn recorded(scenario: &Scenario) -> Result<Vec<RecordedPath>, BuildError> {
    let mut paths = Vec::new();
    let mut described_by = BTreeMap::new();
    for file in &scenario.channel_files {
        let mut found = Vec::new();
        let mut known = |ue: &str, cell: &str| {
            let pair = pair(scenario, (ue, cell))?;
            if let Some(other) = described_by.insert(pair, &file.name) {
                return Err(format!(
                    "UE `{ue}` and cell `{cell}` are also in the file of `{other}`; expected one \
                     file for each pair"
                ));
            }
            found.push(pair);
            Ok(())
        };
        let recordings = recorded::read(&file.file.bytes, &reading(file, scenario), &mut known);
        let recordings = recordings.map_err(|RecordingError { line, message }| {
            let reason = format!("{}: line {line}: {message}", file.file.path);
            mistake(file, reason)
        })?;
        let is_sinr = |one: &Recording| matches!(one.quantity, Quantity::Sinr { .. });
        if file.fading && recordings.iter().any(is_sinr) {
            let path = &file.file.path;
            let reason = format!(
                "{path}: `fading = true`, but a SINR already includes fading; expected a column \
                 `gain_db`"
            );
            return Err(mistake(file, reason));
        }
        let mut described = found.iter().zip(&recordings);
        if scenario.mobility.is_some()
            && let Some((pair, _)) = described.find(|(_, one)| is_sinr(one))
        {
            return Err(mistake(file, unmeasured(scenario, &file.file.path, *pair)));
        }
        let described = found.into_iter().zip(recordings);
        paths.extend(described.map(|((ue, cell), one)| RecordedPath {
            ue,
            cell,
            quantity: one.quantity,
            has_fading: file.fading,
        }));
    }
    Ok(paths)
}

/// Returns the error text for a path whose SINR comes from a file in a scenario with mobility
/// management. No UE can be handed over between such cells, because they have no measured level.
fn unmeasured(scenario: &Scenario, path: &str, (ue, cell): (UeId, CellId)) -> String {
    let (ue, cell) = (
        &scenario.ues[ue.index()].name,
        &scenario.cells[cell.index()].name,
    );
    format!(
        "{path}: UE `{ue}` has a SINR to cell `{cell}`, and mobility management measures levels: the UE would never leave \
         its first cell, nor lose its link; expected a column `gain_db`, or no [mobility-management]"
    )
}

/// Returns the UE and the cell that a file names.
fn pair(scenario: &Scenario, (ue, cell): (&str, &str)) -> Result<(UeId, CellId), String> {
    let ues = scenario.ues.iter().map(|ue| ue.name.as_str());
    let index = position("UE", ue, ues)?;
    let cells = scenario.cells.iter().map(|cell| cell.name.as_str());
    let pair = (UeId(index), CellId(position("cell", cell, cells)?));
    if scenario.ues[index as usize].sinr.is_some() {
        return Err(format!(
            "UE `{ue}` and cell `{cell}` are in the file, but the UE has `downlink-sinr` and \
             `uplink-sinr`; expected one of the two"
        ));
    }
    Ok(pair)
}

/// Refuses a channel file in a scenario without cells and UEs.
pub(super) fn refuse_without_cells(scenario: &Scenario) -> Result<(), BuildError> {
    match scenario.channel_files.first() {
        None => Ok(()),
        Some(file) => {
            let reason = "no cell in the scenario; expected a table [cell.NAME]";
            Err(mistake(file, reason.to_owned()))
        }
    }
}

fn mistake(file: &ChannelFile, reason: String) -> BuildError {
    BuildError::ChannelFile {
        name: file.name.clone(),
        reason,
    }
}

fn reading(file: &ChannelFile, scenario: &Scenario) -> Reading {
    Reading {
        start: file.start,
        duration: scenario.duration,
        interpolation: file.interpolation,
        outside: file.outside,
        maximum_gap: file.maximum_gap,
    }
}

/// Returns the index of a name in a list. The error suggests the most similar name.
fn position<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<u32, String> {
    if let Some((position, _)) = (0..).zip(known.clone()).find(|(_, one)| *one == name) {
        return Ok(position);
    }
    let shown: String = name.chars().take(32).collect();
    let meant = match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let listed: Vec<&str> = known.take(8).collect();
            format!("expected one of {}", listed.join(", "))
        }
    };
    Err(format!("there is no {what} `{shown}`; {meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Span;
    use fadeout_scenario as scenario;

    fn file(csv: &str) -> ChannelFile {
        ChannelFile {
            name: "drive".to_owned(),
            file: scenario::File {
                path: "drive.csv".to_owned(),
                bytes: csv.as_bytes().into(),
            },
            interpolation: scenario::Interpolation::Linear,
            outside: scenario::Outside::Error,
            maximum_gap: Span::from_secs(1),
            start: Span::ZERO,
            fading: false,
        }
    }

    fn scenario(ue: &str, files: &[ChannelFile]) -> Scenario {
        let text = format!(
            "duration = \"2 s\"\n[link.core]\nfrom = \"server\"\nto = \"macro\"\nrate = \"1 Gbit/s\"\n\
             delay = \"1 ms\"\n[cell.macro]\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\n\
             channel = {{ path-loss = \"umi\" }}\n[ue.phone]\n{ue}\n[flow.bulk]\nfrom = \"server\"\n\
             to = \"phone\"\n"
        );
        let source = scenario::Source {
            name: "test".to_owned(),
            base_dir: ".".into(),
        };
        let parsed = scenario::parse(&text, &source, &[], crate::catalog());
        let mut scenario = parsed.unwrap_or_else(|error| panic!("{error}"));
        scenario.channel_files = files.to_vec();
        scenario
    }

    fn error(ue: &str, files: &[ChannelFile]) -> String {
        let built = crate::build(&scenario(ue, files), fadeout_core::NullProbe);
        let error = built.err().unwrap_or_else(|| panic!("accepted"));
        error.to_string()
    }

    const GAIN: &str = "time_s,ue,cell,gain_db\n0,phone,macro,-90\n1,phone,macro,-95\n";
    const SINR: &str = "time_s,ue,cell,sinr_db\n0,phone,macro,10\n1,phone,macro,20\n";

    #[test]
    fn a_file_describes_the_paths_that_it_names() {
        let with_fading = ChannelFile {
            fading: true,
            ..file(GAIN)
        };
        let paths = recorded(&scenario("", &[with_fading])).expect("a path");
        let [path] = &paths[..] else {
            panic!("one path: {paths:?}");
        };
        assert_eq!((path.ue, path.cell), (UeId(0), CellId(0)));
        assert!(path.has_fading && matches!(path.quantity, Quantity::Gain(_)));
        let of_sinr = recorded(&scenario("", &[file(SINR)])).expect("a path");
        assert!(matches!(of_sinr[0].quantity, Quantity::Sinr { .. }));
    }

    #[test]
    fn a_sinr_that_mobility_management_cannot_measure_is_refused() {
        let managed = "[mobility-management]\nevents = [{ kind = \"a3\" }]\n";
        let found = error(managed, &[file(SINR)]);
        assert_eq!(
            found,
            "channel-file \"drive\": drive.csv: UE `phone` has a SINR to cell `macro`, and mobility management measures \
             levels: the UE would never leave its first cell, nor lose its link; expected a column `gain_db`, or no \
             [mobility-management]"
        );
        let built = crate::build(&scenario(managed, &[file(GAIN)]), fadeout_core::NullProbe);
        assert!(built.is_ok(), "{:?}", built.err());
    }

    #[test]
    fn a_mistake_names_table_file_and_line() {
        let unknown = GAIN.replace("1,phone", "1,phome");
        let tower = GAIN.replace("macro", "tower");
        let given = "downlink-sinr = \"3 dB\"\nuplink-sinr = \"3 dB\"";
        let cases = [
            (
                "",
                file(&unknown),
                "line 3: there is no UE `phome`; did you mean `phone`?",
            ),
            (
                "",
                file(&tower),
                "line 2: there is no cell `tower`; expected one of macro",
            ),
            (
                given,
                file(GAIN),
                "line 2: UE `phone` and cell `macro` are in the file, but the UE has",
            ),
            (
                "",
                ChannelFile {
                    fading: true,
                    ..file(SINR)
                },
                "`fading = true`, but a SINR already includes fading; expected a column `gain_db`",
            ),
            (
                "",
                ChannelFile {
                    maximum_gap: Span::from_millis(500),
                    ..file(GAIN)
                },
                "line 3: UE `phone` and cell `macro` have no row between 0 s and 1 s",
            ),
            (
                "",
                ChannelFile {
                    start: Span::from_secs(3),
                    ..file(GAIN)
                },
                "line 3: UE `phone` and cell `macro` have no row after 1 s",
            ),
        ];
        for (ue, file, expected) in cases {
            let found = error(ue, &[file]);
            let named = found.strip_prefix("channel-file \"drive\": drive.csv: ");
            assert!(
                named.is_some_and(|rest| rest.starts_with(expected)),
                "{found}"
            );
        }
    }

    #[test]
    fn a_pair_is_in_one_file() {
        let again = ChannelFile {
            name: "again".to_owned(),
            ..file(GAIN)
        };
        let found = error("", &[file(GAIN), again]);
        assert!(found.contains("are also in the file of `drive`"), "{found}");
    }
}
