//! Runs the radio access alone under load and prints what a simulated second, a transport block
//! and a packet cost as a line of JSON.
//!
//! See `USAGE`.

use fadeout_core::{
    BearerId, CellId, Decibel, Direction, Hertz, Kinematics, Motion, NodeId, NullProbe, Packet,
    PacketId, PacketPool, Point, Segment, Time, UeId,
};
use fadeout_radio::access::{
    BearerConfig, CellConfig, FixedSinr, RadioAccess, RadioConfig, Serving, UeConfig,
};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: radio_access mmwave UES SECONDS | lte SECONDS";

struct AtRest;

impl Motion for AtRest {
    fn at(&mut self, node: NodeId, _time: Time) -> Kinematics {
        let n = f64::from(node.0);
        Kinematics::at_rest(Point::new(30.0 + n % 37.0, 10.0 + n % 29.0, 1.5))
    }
}

/// Packets of each bearer in a second: data down, acknowledgments up.
struct Load {
    per_second: u64,
    config: RadioConfig,
}

fn ue(node: u32, cell: u32) -> UeConfig {
    UeConfig {
        serving: Serving::Cell(CellId(cell)),
        fixed_sinr: Some(FixedSinr {
            downlink: Decibel(8.0),
            uplink: Decibel(8.0),
        }),
        ..UeConfig::new(NodeId(node))
    }
}

/// 1 GHz at 28 GHz and 120 kHz; 630 Mbit/s in all.
fn mmwave(ues: u32) -> Load {
    let cell = CellConfig::nr(Point::new(0.0, 0.0, 10.0), Hertz(28e9), 3, 694).expect("a cell");
    Load {
        per_second: 630_000_000 / (8 * 1500) / u64::from(ues),
        config: RadioConfig {
            cells: vec![cell],
            ues: (0..ues).map(|node| ue(node, 0)).collect(),
            bearers: (0..ues).map(|ue| BearerConfig::nr(UeId(ue))).collect(),
        },
    }
}

/// A thousand UEs in ten cells of 20 MHz, 15 Mbit/s in each cell.
fn lte() -> Load {
    let site = |cell: u32| Point::new(500.0 * f64::from(cell), 0.0, 25.0);
    Load {
        per_second: 12,
        config: RadioConfig {
            cells: (0..10)
                .map(|cell| CellConfig::lte(site(cell), Hertz(2e9), 100))
                .collect(),
            ues: (0..1000).map(|node| ue(node, node % 10)).collect(),
            bearers: (0..1000).map(|ue| BearerConfig::nr(UeId(ue))).collect(),
        },
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
    let (load, seconds) = match words.as_slice() {
        ["mmwave", ues, seconds] => (number(ues).map(mmwave), number(seconds)),
        ["lte", seconds] => (Some(lte()), number(seconds)),
        _ => (None, None),
    };
    let (Some(load), Some(seconds)) = (load, seconds) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    match run(load, seconds) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(load: Load, seconds: u32) -> Result<String, String> {
    let bearers = load.config.bearers.len() as u64;
    let mut access = RadioAccess::new(load.config, 1).map_err(|error| error.to_string())?;
    let mut pool = PacketPool::new();
    let mut out: Vec<PacketId> = Vec::new();
    let gap = 1_000_000_000 / (load.per_second * bearers);
    let (mut now, mut turn, mut delivered) = (0_u64, 0_u64, 0_u64);
    #[allow(
        clippy::disallowed_methods,
        reason = "this measures the machine's time"
    )]
    let start = Instant::now();
    while now < u64::from(seconds) * 1_000_000_000 {
        let at = Time::from_nanos(now);
        while access.wake_at() <= at {
            let due = access.wake_at();
            access.on_wake(due, &mut AtRest, &mut pool, &mut out, &mut NullProbe);
            for packet in out.drain(..) {
                delivered += u64::from(pool.take(packet).segment.len > 100);
            }
        }
        let bearer = BearerId((turn % bearers) as u32);
        let mut put = |direction, len| {
            let packet = pool.insert(Packet {
                segment: Segment {
                    len,
                    ..Segment::default()
                },
                ..Packet::default()
            });
            access.on_packet(at, bearer, direction, packet, &mut pool, &mut NullProbe);
        };
        put(Direction::Downlink, 1460);
        if (turn / bearers) % 2 == 0 {
            put(Direction::Uplink, 12);
        }
        turn += 1;
        now += gap;
    }
    let elapsed = start.elapsed().as_secs_f64();
    let counters = access.counters();
    let blocks = counters.blocks[0] + counters.blocks[1];
    let line = json!({
        "milliseconds_per_simulated_second": elapsed * 1e3 / f64::from(seconds),
        "mbps": delivered as f64 * 12_000.0 / 1e6 / f64::from(seconds),
        "events": counters.events,
        "slots": counters.slots,
        "blocks": blocks,
        "nanoseconds_per_block": elapsed * 1e9 / blocks as f64,
        "requests": counters.requests,
    });
    Ok(line.to_string())
}
