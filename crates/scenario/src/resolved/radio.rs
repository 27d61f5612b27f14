//! Cells, user equipment and buildings, written out again.

use super::*;
use fadeout_core::{Dbm, Hertz, Point};

pub(super) fn cell<'a>(cell: &Cell, name: impl Fn(NodeId) -> &'a str) -> Value {
    json!({
        "node": name(cell.node),
        "position": place(cell.position),
        "height": length(Meters(cell.position.z)),
        "radio": named(&cell.radio, "kind"),
        "carrier": frequency(cell.carrier),
        "bandwidth": frequency(cell.bandwidth),
        "tx-power": power(cell.tx_power),
        "noise-figure": ratio(cell.noise_figure),
        "antenna": named(&cell.antenna, "kind"),
        "channel": channel(&cell.channel),
        "mac-scheduler": named(&cell.mac_scheduler, "name"),
        "uplink-mac-scheduler": named(&cell.uplink_mac_scheduler, "name"),
    })
}

fn channel(channel: &Channel) -> Value {
    let mut table = json!({
        "path-loss": named(&channel.path_loss, "model"),
        "line-of-sight": match channel.line_of_sight {
            LineOfSight::Drawn => "drawn",
            LineOfSight::Soft => "soft",
            LineOfSight::Clear => "clear",
            LineOfSight::Obstructed => "obstructed",
            LineOfSight::Geometry => "geometry",
        },
        "shadowing": channel.shadowing,
        "k-factor": channel.k_factor.map_or_else(|| json!("drawn"), ratio),
        "delay-spread": channel.delay_spread.map_or_else(|| json!("drawn"), span),
        "sub-bands": channel.sub_bands,
        "environment-speed": Dimension::Speed.format(channel.environment_speed),
        "ue-antenna": named(&channel.ue_antenna, "kind"),
        "beam-switching-delay": span(channel.beam_switching_delay),
        "beam-failure-threshold": ratio(channel.beam_failure_threshold),
        "beam-recovery-delay": span(channel.beam_recovery_delay),
        "oxygen": channel.oxygen,
        "rain": channel.rain,
    });
    if let Some(fading) = &channel.fading {
        table["fading"] = json!(fading);
    }
    if let Some(blockage) = &channel.blockage {
        table["blockage"] = named(blockage, "model");
    }
    if let Some(tracking) = channel.beam_tracking {
        table["beam-tracking"] = span(tracking);
    }
    if let Some(loss) = channel.reflected_path {
        table["reflected-path"] = ratio(loss);
    }
    table
}

pub(super) fn ue<'a>(ue: &Ue, cells: &[Cell], name: impl Fn(NodeId) -> &'a str) -> Value {
    let mut table = json!({
        "node": name(ue.node),
        "position": place(ue.position),
        "height": length(Meters(ue.position.z)),
        "tx-power": power(ue.tx_power),
        "noise-figure": ratio(ue.noise_figure),
        "rlc": named(&ue.rlc, "mode"),
        "pdcp": named(&ue.pdcp, "name"),
    });
    if !ue.drbs.is_empty() {
        let drbs = ue.drbs.iter().map(|drb| {
            let mut table = json!({
                "rlc": named(&drb.rlc, "mode"),
                "pdcp": named(&drb.pdcp, "name"),
                "priority": drb.priority,
                "bucket-size-duration": span(drb.bucket_size_duration),
            });
            if let Some(rate) = drb.prioritised_bit_rate {
                table["prioritised-bit-rate"] = self::rate(rate);
            }
            (drb.name.clone(), table)
        });
        table["drb"] = Value::Object(drbs.collect());
    }
    if let Some((downlink, uplink)) = ue.sinr {
        table["downlink-sinr"] = ratio(downlink);
        table["uplink-sinr"] = ratio(uplink);
    }
    if let Some(cell) = ue.cell {
        table["cell"] = json!(cells[cell].name);
    }
    match &ue.movement {
        Movement::Model(model) => table["mobility"] = named(model, "model"),
        Movement::Waypoints(waypoints) => {
            let places = waypoints.iter().map(|waypoint| {
                let (Meters(x), Meters(y)) = waypoint.place;
                json!({
                    "position": place(Point::new(x, y, 0.0)),
                    "speed": Dimension::Speed.format(waypoint.speed),
                    "pause": span(waypoint.pause),
                })
            });
            table["waypoints"] = places.collect();
        }
        Movement::Trace(trace) => {
            table["trace"] = json!({
                "file": trace.path,
                "format": match trace.format {
                    MovementFormat::Ns2 => "ns-2",
                    MovementFormat::SumoFcd => "sumo-fcd",
                },
                "id": trace.id,
            });
        }
    }
    table
}

pub(super) fn building(building: &Building) -> Value {
    let corner = |(x, y): (f64, f64)| place(Point::new(x, y, 0.0));
    json!({
        "corner": corner(building.low),
        "opposite": corner(building.high),
        "height": length(building.height),
    })
}

fn place(place: Point) -> Value {
    json!([length(Meters(place.x)), length(Meters(place.y))])
}

fn power(power: Dbm) -> Value {
    json!(Dimension::Power.format(power.0))
}

fn frequency(frequency: Hertz) -> Value {
    json!(Dimension::Frequency.format(frequency.0))
}
