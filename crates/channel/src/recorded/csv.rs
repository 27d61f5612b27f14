//! Reader of recordings in CSV tables.

use super::{Outside, Quantity, Reading, Recording, RecordingError, Series};
use fadeout_core::Time;
use std::collections::BTreeMap;

/// Latest time in a file, in seconds. Later times do not fit into nanoseconds.
const MOST_SECONDS: f64 = 1e10;
/// Path gain at or below which there is no path, dB.
const LEAST_GAIN_DB: f64 = -500.0;
const LEAST_SINR_DB: f64 = -200.0;
const MOST_SINR_DB: f64 = 100.0;

/// Names of the value columns.
const GAIN: &str = "gain_db";
const SINR: &str = "sinr_db";
const UPLINK_SINR: &str = "uplink_sinr_db";
/// Names of the time columns, and the factor from seconds to their unit.
const TIMES: [(&str, f64); 2] = [("time_s", 1.0), ("time_ms", 1e3)];

/// Reads a table with a header line and the columns `time_s` or `time_ms`, `ue` and `cell`. The
/// values are in `gain_db`, or in `sinr_db` and optionally `uplink_sinr_db`. Other columns, empty
/// lines and lines that begin with `#` are ignored.
///
/// The rows of each pair of UE and cell must have increasing times. Rows of several pairs may be
/// mixed. `known` is called with UE and cell when a pair first appears. It rejects a pair with an
/// error message. Recordings are returned in the order of their first row.
///
/// # Errors
/// Returns the line of the mistake and the expected content. The following mistakes are errors:
///
/// - a column without its unit
/// - a value that is no number or out of its range (gain -500 to 0 dB, SINR -200 to 100 dB)
/// - times that do not increase
/// - a gap longer than [`Reading::maximum_gap`] during the run
/// - with [`Outside::Error`], rows that do not cover the run.
pub fn read(
    text: &[u8],
    reading: &Reading,
    known: &mut dyn FnMut(&str, &str) -> Result<(), String>,
) -> Result<Vec<Recording>, RecordingError> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let before = &text[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        RecordingError::new(
            line,
            "the file is not text in UTF-8; expected a table in CSV",
        )
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((line, header)) = lines.next() else {
        let expected = "the file is empty; expected a header line such as `time_s,ue,cell,gain_db`";
        return Err(RecordingError::new(1, expected));
    };
    let columns = Columns::from_header(header, line)?;
    let mut pairs = Pairs::default();
    for (line, row) in lines {
        columns.add(row, line, &mut pairs, known)?;
    }
    if pairs.list.is_empty() {
        let message = "no row follows the header; expected at least one";
        return Err(RecordingError::new(line, message));
    }
    pairs
        .list
        .into_iter()
        .map(|pair| pair.finish(reading))
        .collect()
}

/// Positions of the columns in a row.
struct Columns {
    count: usize,
    time: usize,
    per_second: f64,
    ue: usize,
    cell: usize,
    value: usize,
    uplink: Option<usize>,
    is_sinr: bool,
}

impl Columns {
    fn from_header(header: &str, line: usize) -> Result<Columns, RecordingError> {
        let names: Vec<String> = fields(header).map(str::to_lowercase).collect();
        let refuse = |message: String| Err(RecordingError::new(line, message));
        let known = [
            TIMES[0].0,
            TIMES[1].0,
            "ue",
            "cell",
            GAIN,
            SINR,
            UPLINK_SINR,
        ];
        for (position, name) in names.iter().enumerate() {
            if names[..position].contains(name) {
                return refuse(format!(
                    "two columns are called `{}`; expected one",
                    shown(name)
                ));
            }
            if known.contains(&name.as_str()) {
                continue;
            }
            // An unknown column with a name similar to a required column is probably a typing
            // mistake.
            let expected = match name.as_str() {
                name if name.starts_with("time") => "`time_s` or `time_ms`",
                name if name.contains("sinr") => "`sinr_db` or `uplink_sinr_db`",
                name if name.contains("gain") => "`gain_db`",
                _ => continue,
            };
            let name = shown(name);
            return refuse(format!(
                "a column `{name}`; expected {expected}, as the name gives the unit"
            ));
        }
        let position = |wanted: &str| names.iter().position(|name| name == wanted);
        let missing = |what: &str| {
            let there: Vec<&str> = names.iter().take(8).map(|name| shown(name)).collect();
            let there = there.join(", ");
            RecordingError::new(line, format!("no column {what}; the header has {there}"))
        };
        let mut times = TIMES.iter().filter_map(|&(name, per_second)| {
            let position = position(name)?;
            Some((position, per_second))
        });
        let (time, per_second) = times
            .next()
            .ok_or_else(|| missing("`time_s` or `time_ms`"))?;
        if times.next().is_some() {
            return refuse("columns `time_s` and `time_ms`; expected one of the two".to_owned());
        }
        let (value, is_sinr) = match (position(GAIN), position(SINR)) {
            (Some(gain), None) => (gain, false),
            (None, Some(sinr)) => (sinr, true),
            (None, None) => return Err(missing("`gain_db` or `sinr_db`")),
            (Some(_), Some(_)) => {
                let message = "columns `gain_db` and `sinr_db`; expected one of the two";
                return refuse(message.to_owned());
            }
        };
        let uplink = position(UPLINK_SINR);
        if uplink.is_some() && !is_sinr {
            let message =
                "columns `uplink_sinr_db` and `gain_db`; a gain holds for both directions";
            return refuse(message.to_owned());
        }
        Ok(Columns {
            count: names.len(),
            time,
            per_second,
            ue: position("ue").ok_or_else(|| missing("`ue`"))?,
            cell: position("cell").ok_or_else(|| missing("`cell`"))?,
            value,
            uplink,
            is_sinr,
        })
    }

    fn add<'t>(
        &self,
        row: &'t str,
        line: usize,
        pairs: &mut Pairs<'t>,
        known: &mut dyn FnMut(&str, &str) -> Result<(), String>,
    ) -> Result<(), RecordingError> {
        let count = fields(row).count();
        if count != self.count {
            let expected = self.count;
            let message = format!("{count} values; expected {expected}, as the header has");
            return Err(RecordingError::new(line, message));
        }
        let field = |position| fields(row).nth(position).unwrap_or_default();
        let name = |position, what: &str| match field(position) {
            "" => {
                let message = format!("no {what}; expected a name of the scenario");
                Err(RecordingError::new(line, message))
            }
            name => Ok(name),
        };
        let (ue, cell) = (name(self.ue, "UE")?, name(self.cell, "cell")?);
        if !pairs.by_name.contains_key(&(ue, cell)) {
            known(ue, cell).map_err(|message| RecordingError::new(line, message))?;
        }
        let most = MOST_SECONDS * self.per_second;
        let time = number(field(self.time), line, "a time", (0.0, most), "")?;
        // Times with more than nine digits after the decimal point are rounded to nanoseconds.
        let at = Time::from_nanos((time / self.per_second * 1e9).round() as u64);
        let range = if self.is_sinr {
            (LEAST_SINR_DB, MOST_SINR_DB)
        } else {
            (LEAST_GAIN_DB, 0.0)
        };
        let what = if self.is_sinr { "a SINR" } else { "a gain" };
        let value = number(field(self.value), line, what, range, " dB")?;
        let uplink = match self.uplink {
            Some(position) => number(field(position), line, what, range, " dB")?,
            None => value,
        };
        let pair = pairs.find_or_add(ue, cell, self);
        if let Some((last, _)) = pair.values.last()
            && at <= *last
        {
            let (at, last) = (at.as_secs_f64(), last.as_secs_f64());
            let message = format!(
                "{at} s for UE `{}` and cell `{}`, after their row of {last} s; expected \
                 increasing times",
                shown(ue),
                shown(cell)
            );
            return Err(RecordingError::new(line, message));
        }
        pair.values.push((at, value));
        if self.uplink.is_some() {
            pair.uplink.push((at, uplink));
        }
        pair.lines.push(line);
        Ok(())
    }
}

/// Rows of all pairs of UE and cell, in the order in which the pairs appear.
#[derive(Default)]
struct Pairs<'t> {
    list: Vec<Pair>,
    by_name: BTreeMap<(&'t str, &'t str), usize>,
}

struct Pair {
    ue: String,
    cell: String,
    is_sinr: bool,
    values: Vec<(Time, f64)>,
    /// Rows of the uplink. Empty if the file has no uplink column.
    uplink: Vec<(Time, f64)>,
    /// Line number of each row.
    lines: Vec<usize>,
}

impl<'t> Pairs<'t> {
    fn find_or_add(&mut self, ue: &'t str, cell: &'t str, columns: &Columns) -> &mut Pair {
        let next = self.list.len();
        let index = *self.by_name.entry((ue, cell)).or_insert(next);
        if index == next {
            self.list.push(Pair {
                ue: ue.to_owned(),
                cell: cell.to_owned(),
                is_sinr: columns.is_sinr,
                values: Vec::new(),
                uplink: Vec::new(),
                lines: Vec::new(),
            });
        }
        &mut self.list[index]
    }
}

impl Pair {
    fn finish(self, reading: &Reading) -> Result<Recording, RecordingError> {
        self.check_cover(reading)?;
        let line = self.lines[0];
        let series = |rows: Vec<(Time, f64)>| {
            Series::new(rows, reading.start, reading.interpolation).ok_or_else(|| {
                RecordingError::new(line, "rows without order; expected increasing times")
            })
        };
        let values = series(self.values)?;
        let quantity = if self.is_sinr {
            let uplink = match self.uplink.is_empty() {
                true => values.clone(),
                false => series(self.uplink)?,
            };
            Quantity::Sinr {
                downlink: values,
                uplink,
            }
        } else {
            Quantity::Gain(values)
        };
        Ok(Recording {
            ue: self.ue,
            cell: self.cell,
            line,
            quantity,
        })
    }

    /// Checks that the rows leave no gap that is too long during the run.
    fn check_cover(&self, reading: &Reading) -> Result<(), RecordingError> {
        let (from, until) = reading.window();
        let most = reading.maximum_gap;
        let refuse = |row: usize, what: &str, time: Time| {
            let message = format!(
                "UE `{}` and cell `{}` have no row {what} {} s; expected at least one every {most} \
                 during the run, which covers {} s to {} s of the file",
                shown(&self.ue),
                shown(&self.cell),
                time.as_secs_f64(),
                from.as_secs_f64(),
                until.as_secs_f64(),
            );
            Err(RecordingError::new(self.lines[row], message))
        };
        for (row, pair) in self.values.windows(2).enumerate() {
            let ((earlier, _), (later, _)) = (pair[0], pair[1]);
            let is_in_the_run = later > from && earlier < until;
            if is_in_the_run && later.since(earlier) > most {
                let what = format!("between {} s and", earlier.as_secs_f64());
                return refuse(row + 1, &what, later);
            }
        }
        if reading.outside == Outside::Hold {
            return Ok(());
        }
        let last = self.values.len() - 1;
        let ((first_at, _), (last_at, _)) = (self.values[0], self.values[last]);
        if first_at > from && first_at.since(from) > most {
            return refuse(0, "before", first_at);
        }
        if last_at < until && until.since(last_at) > most {
            return refuse(last, "after", last_at);
        }
        Ok(())
    }
}

/// Returns the fields of a row, without surrounding spaces and quotation marks.
fn fields(row: &str) -> impl Iterator<Item = &str> {
    row.split(',').map(|field| {
        let field = field.trim();
        let inner = field.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        inner.unwrap_or(field)
    })
}

/// Parses a finite number within a range.
fn number(
    field: &str,
    line: usize,
    what: &str,
    (least, most): (f64, f64),
    unit: &str,
) -> Result<f64, RecordingError> {
    match field.parse::<f64>() {
        Ok(value) if value >= least && value <= most => Ok(value),
        _ => {
            let field = shown(field);
            let message = format!("`{field}` as {what}; expected {least} to {most}{unit}");
            Err(RecordingError::new(line, message))
        }
    }
}

/// Returns the first 32 characters of a text.
fn shown(text: &str) -> &str {
    let end = text.char_indices().nth(32).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

#[cfg(test)]
mod tests;
