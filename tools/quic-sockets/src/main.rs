//! Downloads files by QUIC over sockets of this machine and an emulated link, in real time. Prints
//! a table with a row for each link, library and congestion control.
//!
//! The simulator runs the library noq in virtual time. This program runs the same version of noq
//! with its own driver of sockets, and quinn. So it shows the error of the simulator's driver.
//!
//! `cargo run --release > ../../tests/data/quic-sockets.csv`, as root, which gives the program a
//! real-time priority. Without this priority packets are late on a busy machine.

mod link;
mod stacks;

use link::Link;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

/// Number of downloads of a row.
const DOWNLOADS: usize = 5;

/// Links in the order of the table: rate in Mbit/s, delay of each direction in ms, queue in packets
/// and bytes of the file.
const LINKS: [(u32, u32, usize, usize); 9] = [
    (2, 20, 20, 1_000_000),
    (5, 50, 60, 2_000_000),
    (20, 10, 50, 4_000_000),
    (20, 100, 400, 8_000_000),
    (50, 5, 60, 10_000_000),
    (50, 40, 200, 10_000_000),
    (100, 10, 200, 10_000_000),
    (100, 50, 1_000, 20_000_000),
    (200, 5, 200, 20_000_000),
];

/// Downloads of one row.
struct Row {
    /// Duration of each download, in the order of size.
    seconds: Vec<f64>,
    /// Datagrams that the server sent, and those that the queue dropped, for one download.
    packets: [f64; 2],
}

fn main() {
    link::be_punctual();
    println!(
        "stack,control,rate_mbps,delay_ms,queue_packets,size_bytes,median_s,least_s,most_s,sent_packets,dropped_packets"
    );
    for (rate_mbps, delay_ms, queue, size) in LINKS {
        for stack in ["noq", "quinn"] {
            for control in ["new-reno", "cubic"] {
                let link = Link {
                    bits_per_s: f64::from(rate_mbps) * 1e6,
                    delay: Duration::from_millis(delay_ms.into()),
                    queue,
                };
                let row = measure(stack, control, link, size);
                let [sent, dropped] = row.packets;
                let (least, most) = (row.seconds[0], row.seconds[DOWNLOADS - 1]);
                println!(
                    "{stack},{control},{rate_mbps},{delay_ms},{queue},{size},{:.4},{least:.4},{most:.4},{sent:.0},{dropped:.0}",
                    row.seconds[DOWNLOADS / 2],
                );
            }
        }
    }
}

/// Returns the downloads of a library over a link.
///
/// # Panics
/// If a socket cannot be opened or a download fails.
fn measure(stack: &str, control: &str, link: Link, size: usize) -> Row {
    let local = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket of this machine");
    let (client_side, server_side) = (local(), local());
    let at_link = client_side.local_addr().expect("the socket is bound");
    let server = free_address();
    let counters = Arc::new(link::Counters::default());
    let counted = Arc::clone(&counters);
    std::thread::spawn(move || link::carry(link, &client_side, (&server_side, server), &counted));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut seconds = runtime.block_on(async {
        match stack {
            "noq" => stacks::noq::download(control, server, at_link, (size, DOWNLOADS)).await,
            _ => stacks::quinn::download(control, server, at_link, (size, DOWNLOADS)).await,
        }
    });
    seconds.sort_by(f64::total_cmp);
    let of_one = |total: u64| total as f64 / DOWNLOADS as f64;
    Row {
        seconds,
        packets: [of_one(counters.sent()), of_one(counters.dropped())],
    }
}

/// Returns an address of this machine at which no socket listens.
fn free_address() -> SocketAddr {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket of this machine");
    socket.local_addr().expect("the socket is bound")
}
