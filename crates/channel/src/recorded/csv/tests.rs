//! Tests with tables in the style of common programs, and with malformed tables.

use super::*;
use crate::recorded::Interpolation;
use fadeout_core::Span;
use fadeout_core::random::Stream;
use fadeout_testkit::Cases;

fn ten_seconds() -> Reading {
    Reading {
        start: Span::ZERO,
        duration: Span::from_secs(10),
        interpolation: Interpolation::Linear,
        outside: Outside::Error,
        maximum_gap: Span::from_secs(5),
    }
}

fn anybody(_: &str, _: &str) -> Result<(), String> {
    Ok(())
}

fn read_recordings(text: &str) -> Vec<Recording> {
    read(text.as_bytes(), &ten_seconds(), &mut anybody).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    let refused = read(text.as_bytes(), &ten_seconds(), &mut anybody);
    refused.expect_err("a mistake").to_string()
}

fn value_at_secs(series: &Series, seconds: u64) -> f64 {
    series.value_at(Time::ZERO + Span::from_secs(seconds))
}

#[test]
fn a_table_has_a_series_for_each_pair() {
    let recordings = read_recordings(
        "# drive test\n\ntime_s,ue,cell,gain_db\n0,phone,a,-80\n0,phone,b,-100\n5,phone,a,-90\n\
         5,phone,b,-95\n10,phone,b,-90\n10,phone,a,-100\n",
    );
    let names: Vec<_> = recordings
        .iter()
        .map(|one| (one.ue.as_str(), one.cell.as_str(), one.line))
        .collect();
    assert_eq!(names, [("phone", "a", 4), ("phone", "b", 5)]);
    let Quantity::Gain(series) = &recordings[0].quantity else {
        panic!("a gain: {recordings:?}");
    };
    assert_eq!(
        (value_at_secs(series, 2), value_at_secs(series, 10)),
        (-84.0, -100.0)
    );
}

#[test]
fn spellings_of_other_programs_are_read() {
    // The file has a byte order mark, carriage returns, quotation marks and spaces. Its columns are
    // in another order, and there are additional columns.
    let recordings = read_recordings(
        "\u{feff}\"UE\", \"cell\",lat,Time_ms,SINR_dB\r\n\"phone\",a,48.1,0,10\r\nphone,a,48.2,5e3,20\r\n\
         phone,a,,9500.5,20\r\n",
    );
    let Quantity::Sinr { downlink, uplink } = &recordings[0].quantity else {
        panic!("a SINR: {recordings:?}");
    };
    assert_eq!(
        (value_at_secs(downlink, 1), value_at_secs(uplink, 1)),
        (12.0, 12.0)
    );
}

#[test]
fn the_uplink_may_have_a_sinr_of_its_own() {
    let recordings = read_recordings(
        "time_s,ue,cell,sinr_db,uplink_sinr_db\n0,phone,a,10,5\n5,phone,a,20,0\n10,phone,a,10,-5\n",
    );
    let Quantity::Sinr { downlink, uplink } = &recordings[0].quantity else {
        panic!("a SINR: {recordings:?}");
    };
    assert_eq!(
        (value_at_secs(downlink, 5), value_at_secs(uplink, 5)),
        (20.0, 0.0)
    );
}

#[test]
fn a_run_may_begin_anywhere_in_the_file() {
    let text =
        "time_s,ue,cell,gain_db\n1700000000,p,a,-80\n1700000005,p,a,-90\n1700000011,p,a,-96\n";
    let reading = Reading {
        start: Span::from_secs(1_700_000_001),
        maximum_gap: Span::from_secs(6),
        ..ten_seconds()
    };
    let recordings = read(text.as_bytes(), &reading, &mut anybody).expect("rows around the run");
    let Quantity::Gain(series) = &recordings[0].quantity else {
        panic!("a gain: {recordings:?}");
    };
    assert_eq!(
        (value_at_secs(series, 0), value_at_secs(series, 5)),
        (-82.0, -91.0)
    );
}

#[test]
fn a_mistake_names_its_line_and_what_was_expected() {
    let rows = |rows: &str| format!("time_s,ue,cell,gain_db\n{rows}");
    let cases = [
        (
            String::new(),
            "line 1: the file is empty; expected a header",
        ),
        (rows(""), "line 1: no row follows the header"),
        (
            "time,ue,cell,gain_db\n".into(),
            "line 1: a column `time`; expected `time_s` or `time_ms`, as the name gives the unit",
        ),
        (
            "time_s,ue,cell,sinr\n".into(),
            "line 1: a column `sinr`; expected `sinr_db`",
        ),
        (
            "time_s,ue,cell,path_gain_db\n".into(),
            "line 1: a column `path_gain_db`; expected `gain_db`",
        ),
        (
            "time_s,ue,cell,sinr_db,gain_db\n".into(),
            "expected one of the two",
        ),
        (
            "time_s,time_ms,ue,cell,gain_db\n".into(),
            "expected one of the two",
        ),
        (
            "time_s,ue,cell,gain_db,uplink_sinr_db\n".into(),
            "a gain holds for both directions",
        ),
        ("time_s,ue,ue,cell\n".into(), "two columns are called `ue`"),
        (
            "time_s,phone,cell,gain_db\n".into(),
            "line 1: no column `ue`; the header has time_s, phone, cell, gain_db",
        ),
        (
            "time_s,ue,cell\n".into(),
            "no column `gain_db` or `sinr_db`",
        ),
        (
            "ue,cell,gain_db\n".into(),
            "no column `time_s` or `time_ms`",
        ),
        (
            rows("0,p,a\n"),
            "line 2: 3 values; expected 4, as the header has",
        ),
        (
            rows("0,,a,-80\n"),
            "line 2: no UE; expected a name of the scenario",
        ),
        (
            rows("0,p,a,-80\n1,p,a,nan\n"),
            "line 3: `nan` as a gain; expected -500 to 0 dB",
        ),
        (rows("0,p,a,3\n"), "line 2: `3` as a gain"),
        (rows("0,p,a,-inf\n"), "line 2: `-inf` as a gain"),
        (rows("now,p,a,-80\n"), "line 2: `now` as a time"),
        (rows("-1,p,a,-80\n"), "line 2: `-1` as a time; expected 0"),
        (
            rows("0,p,a,-80\n0,p,b,-80\n1,p,a,-80\n1,p,a,-81\n"),
            "line 5: 1 s for UE `p` and cell `a`, after their row of 1 s; expected increasing times",
        ),
        (
            rows("0,p,a,-80\n6,p,a,-80\n10,p,a,-80\n"),
            "line 3: UE `p` and cell `a` have no row between 0 s and 6 s; expected at least one every 5 s during the run, which covers 0 s to 10 s of the file",
        ),
        (
            rows("6,p,a,-80\n10,p,a,-80\n"),
            "line 2: UE `p` and cell `a` have no row before 6 s",
        ),
        (
            rows("0,p,a,-80\n4,p,a,-80\n"),
            "line 3: UE `p` and cell `a` have no row after 4 s",
        ),
    ];
    for (text, expected) in cases {
        let found = error(&text);
        assert!(found.contains(expected), "{found}\nof {text}");
    }
    let refused = read(
        b"time_s,ue,cell,gain_db\n0,\xff,a,-80\n",
        &ten_seconds(),
        &mut anybody,
    );
    assert_eq!(refused.map_err(|error| error.line), Err(2));
}

#[test]
fn a_pair_that_is_refused_is_refused_where_it_is_met_first() {
    let text = "time_s,ue,cell,gain_db\n0,p,a,-80\n9,q,a,-80\n9,q,a,-80\n";
    let mut only_p = |ue: &str, _: &str| match ue {
        "p" => Ok(()),
        _ => Err(format!("who is {ue}?")),
    };
    let refused = read(text.as_bytes(), &ten_seconds(), &mut only_p);
    let error = refused.expect_err("a stranger").to_string();
    assert_eq!(error, "line 3: who is q?");
}

#[test]
fn rows_that_do_not_cover_the_run_hold_where_that_is_asked_for() {
    let text = b"time_s,ue,cell,gain_db\n4,p,a,-80\n4.5,p,a,-90\n";
    let reading = Reading {
        outside: Outside::Hold,
        maximum_gap: Span::from_secs(1),
        ..ten_seconds()
    };
    let recordings = read(text, &reading, &mut anybody).expect("held");
    let Quantity::Gain(series) = &recordings[0].quantity else {
        panic!("a gain: {recordings:?}");
    };
    assert_eq!(
        (value_at_secs(series, 0), value_at_secs(series, 10)),
        (-80.0, -90.0)
    );
}

#[test]
fn a_gap_outside_the_run_is_nobodys_business() {
    read_recordings("time_s,ue,cell,gain_db\n0,p,a,-80\n5,p,a,-80\n10,p,a,-80\n900,p,a,-80\n");
}

#[test]
fn any_table_that_is_written_is_read_back() {
    Cases::new(2000).run(|case| {
        let mut random = Stream::new(case, "recorded.csv", 0);
        let mut below = |most: u64| (random.uniform() * most as f64) as u64;
        let pairs = 1 + below(3);
        let mut text = String::from("time_ms,ue,cell,gain_db\n");
        let mut expected = vec![Vec::new(); pairs as usize];
        let mut now = vec![0; pairs as usize];
        for _ in 0..1 + below(200) {
            let pair = below(pairs) as usize;
            let gain = -(below(20_000) as f64) / 100.0;
            now[pair] += 1 + below(1000);
            text += &format!("{},ue-{pair},cell,{gain}\n", now[pair]);
            let at = Time::ZERO + Span::from_millis(now[pair]);
            expected[pair].push((at, gain));
        }
        let recordings = read(text.as_bytes(), &Reading::whole(), &mut anybody);
        for recording in recordings.unwrap_or_else(|error| panic!("{error}\n{text}")) {
            let pair: usize = recording.ue["ue-".len()..].parse().expect("a number");
            let Quantity::Gain(series) = &recording.quantity else {
                panic!("a gain");
            };
            assert_eq!(series.rows(), &expected[pair][..]);
            // A value between two rows is between the values of these rows.
            for rows in series.rows().windows(2) {
                let middle = rows[0].0 + rows[1].0.since(rows[0].0) / 2;
                let (low, high) = (rows[0].1.min(rows[1].1), rows[0].1.max(rows[1].1));
                let value = series.value_at(middle);
                assert!(low <= value && value <= high, "{value} of {rows:?}");
            }
        }
    });
}

#[test]
fn any_bytes_are_a_table_or_a_mistake_in_a_line_of_them() {
    let pieces = [
        "time_s",
        "time_ms",
        "ue",
        "cell",
        "gain_db",
        "sinr_db",
        "uplink_sinr_db",
        ",",
        ",",
        ",",
        "\n",
        "\n",
        "\r",
        "\"",
        "#",
        " ",
        "0",
        "1",
        "-80",
        "1e308",
        "nan",
        "-inf",
        "9999999999999",
        "é",
        "\u{feff}",
        "-",
        ".5",
    ];
    let header = "time_s,ue,cell,gain_db\n";
    Cases::new(2000).run(|case| {
        let mut random = Stream::new(case, "recorded.any", 0);
        let mut below = |most: usize| (random.uniform() * most as f64) as usize;
        let mut text = String::from(["", header][below(2)]);
        for _ in 0..below(60) {
            text += pieces[below(pieces.len())];
        }
        let mut bytes = text.into_bytes();
        if below(4) == 0 && !bytes.is_empty() {
            let place = below(bytes.len());
            bytes[place] = below(256) as u8;
        }
        let lines = 1 + bytes.iter().filter(|&&byte| byte == b'\n').count();
        match read(&bytes, &ten_seconds(), &mut anybody) {
            Ok(recordings) => assert!(!recordings.is_empty()),
            Err(error) => assert!((1..=lines).contains(&error.line), "{error}"),
        }
    });
}
