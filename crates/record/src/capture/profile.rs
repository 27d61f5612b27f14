//! A Wireshark configuration for the captures of the radio.
//!
//! A MAC PDU does not tell what its logical channels are; in a network, RRC does. This
//! configuration does here, and so lets Wireshark go on from MAC to RLC, PDCP, IP and TCP.

use super::framing::NR_HEURISTIC;
use crate::{RadioChannel, RadioChannelForm, RecordError, RunFolder};
use std::fmt::Write as _;
use std::fs;

/// The folder in the run's, for WIRESHARK_CONFIG_DIR.
const FOLDER: &str = "captures/wireshark";

/// Columns beside the usual ones: the comment says which blocks failed.
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

/// The files and their contents.
pub(super) fn files(channels: &[RadioChannel]) -> [(&'static str, String); 4] {
    [
        ("preferences", preferences(channels)),
        ("heuristic_protos", format!("{NR_HEURISTIC},1\n")),
        ("drb_bearerconfig", table(channels, true)),
        ("drb_logchans", table(channels, false)),
    ]
}

/// Wireshark has one length of PDCP's SN for all bearers of LTE and one for all of NR: the first
/// bearer's.
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

/// Logical channels of NR or of LTE, in the form of Wireshark's tables.
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
            // NR tells uplink and downlink apart.
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
