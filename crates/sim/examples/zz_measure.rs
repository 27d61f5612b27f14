use fadeout_core::*;
use fadeout_scenario::Source;
use fadeout_sim::{build_with, catalog, summary};
use std::io::{BufRead, Write};
#[derive(Default)]
struct Log { rows: Vec<CongestionRow>, re: Vec<RetransmitRow>, to: Vec<TimeoutRow>, ev: Vec<FlowEventRow> }
impl Probe for Log {
    fn wants_congestion(&self, _: Time, _: FlowId) -> bool { true }
    fn congestion(&mut self, row: CongestionRow) { self.rows.push(row) }
    fn retransmit(&mut self, row: RetransmitRow) { self.re.push(row) }
    fn timeout(&mut self, row: TimeoutRow) { self.to.push(row) }
    fn flow_event(&mut self, row: FlowEventRow) { self.ev.push(row) }
}
fn main() {
    let trace = std::env::var("TRACE").ok();
    for path in std::io::stdin().lock().lines().map_while(Result::ok) {
        let text = std::fs::read_to_string(&path).unwrap();
        let source = Source { name: path.clone(), base_dir: "/".into() };
        let scenario = match fadeout_scenario::parse(&text, &source, &[], catalog()) { Ok(s) => s, Err(e) => { eprintln!("{e}"); continue } };
        let mut world = build_with(&scenario, Log::default(), &mut |_| None).unwrap();
        while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
        let s = summary(&scenario, &world);
        let log = world.probe();
        let mut samples = vec![];
        for flow in 0..scenario.flows.len() {
            let start = scenario.flows[flow].start;
            let rows: Vec<_> = log.rows.iter().filter(|r| r.flow.0 as usize == flow && !r.srtt_s.is_zero()).collect();
            let mut out = vec![];
            let mut t = start + Span::from_millis(100); let mut i = 0;
            while t <= Time::ZERO + scenario.duration { 
                while i < rows.len() && rows[i].time_s <= t { i += 1 }
                if i > 0 { out.push(format!("[{:.3},{},{}]", t.since(start).as_secs_f64(), rows[i-1].cwnd_segments, rows[i-1].srtt_s.as_secs_f64()*1e3)); }
                t = t + Span::from_millis(100);
            }
            samples.push(format!("[{}]", out.join(",")));
        }
        println!("{{\"path\":{:?},\"flows\":{},\"samples\":[{}]}}", path, s["flows"], samples.join(","));
        if let Some(trace) = &trace {
            let mut f = std::fs::File::create(trace).unwrap();
            for r in &log.rows { writeln!(f, "{:.6} A f{} cwnd={} inflight={} acked={} srtt={:.3} rtt={:.3} pace={:.2} {}", r.time_s.as_nanos() as f64*1e-9, r.flow.0, r.cwnd_segments, r.in_flight_segments, r.acked_bytes, r.srtt_s.as_secs_f64()*1e3, r.rtt_s.as_secs_f64()*1e3, r.pacing_rate_mbps, r.state).unwrap(); }
            for r in &log.to { writeln!(f, "{:.6} T {:?}", r.time_s.as_nanos() as f64*1e-9, r).unwrap(); }
            for r in &log.re { writeln!(f, "{:.6} R {:?}", r.time_s.as_nanos() as f64*1e-9, r).unwrap(); }
        }
    }
}
