// The scenarios of the page: their controls, the values that a run observes, and the charts of these values.

const CONTROLS = ["cubic", "newreno", "bbr", "bbr3", "prague", "copa", "vegas", "westwood", "x-tcp", "rtw-tcp"];

const number = (value) => Number(value).toString();

// A control is a range or a choice. `text` is the value in the notation of scenarios.
const range = (key, label, [min, max, step], value, unit, text = (it) => `"${number(it)} ${unit}"`) => ({
  key, label, min, max, step, value, unit, text,
});
const choice = (key, label, options, value, text = (it) => `"${it}"`) => ({ key, label, options, value, text });

// The throughput is the growth of the delivered bytes between two samples.
const throughput = (name, scale) => ({ label: "Mbit/s", name, scale, isRate: true, factor: 8e-6 });

export const SCENARIOS = {
  blockage: {
    title: "A blocked link",
    question:
      "A vehicle blocks a radio link every 5 s. The link holds packets while it is blocked. How much does this cost one TCP flow?",
    controls: [
      range("blockage.vehicle.schedule.duration", "Length of a blockage", [0.05, 2, 0.05], 0.2, "s"),
      range("link.radio.rate", "Rate of the link", [10, 1000, 1], 807, "Mbit/s"),
      range("link.radio.delay", "Delay in each direction", [1, 100, 1], 21, "ms"),
      range("link.radio.queue.limit", "Queue", [50, 8000, 50], 2000, "packets"),
      choice("blockage.vehicle.effect", "During a blockage packets are", ["held", "lost"], "held"),
      choice("flow.bulk.congestion-control", "Congestion control", CONTROLS, "cubic"),
      choice("flow.bulk.profile", "TCP stack", ["linux", "newreno"], "linux"),
      range("duration", "Simulated time", [10, 60, 5], 60, "s"),
      range("seed", "Seed", [1, 20, 1], 1, "", number),
    ],
    // A link that loses packets has no limit of held bytes.
    without: { key: "blockage.vehicle.effect", value: "lost", line: /^hold-limit = .*\n/m },
    observe: ["flow.bulk.delivered_bytes", "flow.bulk.cwnd_segments", "link.radio.queued_packets", "flow.bulk.srtt_s"],
    charts: [
      { title: "Throughput, Mbit/s", series: [throughput("flow.bulk.delivered_bytes")] },
      {
        title: "Congestion window, segments, and queue, packets",
        series: [
          { label: "window", name: "flow.bulk.cwnd_segments" },
          { label: "queue", name: "link.radio.queued_packets" },
        ],
      },
      { title: "Smoothed round-trip time, ms", series: [{ label: "ms", name: "flow.bulk.srtt_s", factor: 1e3 }] },
    ],
  },
  "lte-download": {
    title: "A phone in an LTE cell",
    question: "A phone in a macro cell downloads a file. How do distance, bandwidth and the scheduling request change the time?",
    controls: [
      range("ue.phone.position.0", "Distance from the cell", [20, 2000, 10], 200, "m"),
      range("ue.phone.mobility.x-speed", "Speed away from the cell, m/s", [0, 30, 0.1], 1.4, "", number),
      choice("cell.macro.bandwidth", "Bandwidth", ["5 MHz", "10 MHz", "15 MHz", "20 MHz"], "20 MHz"),
      range("cell.macro.tx-power", "Transmit power", [20, 46, 1], 46, "dBm"),
      choice("cell.macro.radio.sr-period", "Period of scheduling requests, ms", ["5", "10", "20", "40", "80"], "10", number),
      range("link.core.delay", "Delay of the core network", [1, 100, 1], 10, "ms"),
      range("flow.download.application.size", "Size of the file", [1, 50, 1], 20, "MB"),
      choice("flow.download.congestion-control", "Congestion control", CONTROLS, "cubic"),
      range("seed", "Seed", [1, 20, 1], 1, "", number),
    ],
    observe: ["flow.download.delivered_bytes", "ue.phone.sinr_db", "ue.phone.mcs", "flow.download.cwnd_segments", "flow.download.srtt_s"],
    charts: [
      { title: "Throughput, Mbit/s", series: [throughput("flow.download.delivered_bytes")] },
      {
        title: "SINR, dB, and MCS of the latest transport block",
        series: [
          { label: "SINR", name: "ue.phone.sinr_db" },
          { label: "MCS", name: "ue.phone.mcs" },
        ],
      },
      { title: "Congestion window, segments", series: [{ label: "window", name: "flow.download.cwnd_segments" }] },
      { title: "Smoothed round-trip time, ms", series: [{ label: "ms", name: "flow.download.srtt_s", factor: 1e3 }] },
    ],
  },
};
