//! A Wireshark configuration for captures of the radio.
//!
//! A MAC PDU does not describe its logical channels. In a network RRC messages configure them. This
//! Wireshark configuration describes them instead, so that Wireshark can decode RLC, PDCP, IP and
//! TCP within MAC.

use super::framing::NR_HEURISTIC;
use crate::{RadioChannel, RadioChannelForm, RecordError, RunFolder};
use std::fmt::Write as _;
use std::fs;

/// Folder of the configuration within the run's folder. Users set WIRESHARK_CONFIG_DIR to it.
const FOLDER: &str = "captures/wireshark";

/// Columns of Wireshark's packet list. In addition to the default columns, a comment column marks
/// failed transport blocks.
const COLUMNS: &str = "\"No.\", \"%m\", \"Time\", \"%t\", \"Source\", \"%s\", \
    \"Destination\", \"%d\", \"Protocol\", \"%p\", \"Length\", \"%L\", \
    \"Comment\", \"%Cus:frame.comment\", \"Info\", \"%i\"";

pub(super) fn write(channels: &[RadioChannel], folder: &RunFolder) -> Result<(), RecordError> {
    let path = folder.path(FOLDER);
    fs::create_dir(&path).map_err(|error| RecordError::write(&path, error))?;
    for (name, text) in files(channels) {
        folder.write(&format!("{FOLDER}/{name}"), text.as_bytes())?;
    }
    Ok(())
}

/// Returns the configuration files and their contents.
pub(super) fn files(channels: &[RadioChannel]) -> [(&'static str, String); 4] {
    [
        ("preferences", preferences(channels)),
        ("heuristic_protos", format!("{NR_HEURISTIC},1\n")),
        ("drb_bearerconfig", table(channels, true)),
        ("drb_logchans", table(channels, false)),
    ]
}

/// Returns the preferences. Wireshark has one setting for the PDCP SN length of all LTE bearers,
/// and one for all NR bearers. Each setting is that of the first bearer.
fn preferences(channels: &[RadioChannel]) -> String {
    let mut text = format!("gui.column.format: {COLUMNS}\n");
    let sn_bits = |is_nr| {
        let first = channels.iter().find(|channel| channel.is_nr == is_nr);
        first.map(|channel| channel.pdcp_sn_bits)
    };
    let keys = [
        (true, "rlc-nr.call_pdcp_for_dl_drb"),
        (true, "rlc-nr.call_pdcp_for_ul_drb"),
        (false, "rlc-lte.call_pdcp_for_drb"),
    ];
    for (is_nr, key) in keys {
        if let Some(bits) = sn_bits(is_nr) {
            let _ = writeln!(text, "{key}: {bits}-bit SN");
        }
    }
    text
}

/// Returns the logical channels of one technology, NR or LTE, as a table for Wireshark.
fn table(channels: &[RadioChannel], is_nr: bool) -> String {
    let mut rows: Vec<String> = channels
        .iter()
        .filter(|channel| channel.is_nr == is_nr)
        .map(|channel| {
            let form = match channel.form {
                RadioChannelForm::Transparent => "TM".to_owned(),
                RadioChannelForm::Unacknowledged(bits) => format!("UM, SN Len={bits}"),
                RadioChannelForm::Acknowledged(bits) if is_nr => format!("AM, SN Len={bits}"),
                RadioChannelForm::Acknowledged(16) => {
                    "AM, SN Len=16, UL/DL Extended LI Field".to_owned()
                }
                RadioChannelForm::Acknowledged(_) => "AM".to_owned(),
            };
            let RadioChannel { lcid, drb, .. } = channel;
            // Wireshark's table for NR has separate fields for uplink and downlink.
            let again = if is_nr {
                format!(",\"{form}\"")
            } else {
                String::new()
            };
            format!("\"LCID {lcid}\",\"{drb}\",\"{form}\"{again}\n")
        })
        .collect();
    rows.sort();
    rows.dedup();
    rows.concat()
}
