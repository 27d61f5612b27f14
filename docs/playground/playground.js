// The page: controls, runs in a worker, charts, and the command that repeats a run.

import { SCENARIOS } from "./scenarios.js";

const COLOURS = ["#1769aa", "#c2571a"];
const CHART_HEIGHT = 150;
// A run begins this long after the last change of a control, milliseconds.
const PAUSE = 250;

// The simulator is compiled once. Each run has a worker with an instance of its own.
const engine = load();

async function load() {
  const response = await fetch("fadeout.wasm");
  if (!response.ok) throw new Error(`fadeout.wasm: ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

const find = (id) => document.getElementById(id);
const texts = new Map();
const state = { name: "blockage", values: {}, worker: null, timer: null, charts: [] };

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// The controls whose values differ from those of the file, in the notation of `--set`.
function overrides() {
  const { controls } = SCENARIOS[state.name];
  const changed = controls.filter((it) => String(state.values[it.key]) !== String(it.value));
  return changed.map((it) => `${it.key}=${it.text(state.values[it.key])}`);
}

// The text of the scenario without a line that the chosen values contradict.
function scenarioText() {
  const { without } = SCENARIOS[state.name];
  const text = texts.get(state.name);
  return without && state.values[without.key] === without.value ? text.replace(without.line, "") : text;
}

function showCommand() {
  const isChanged = scenarioText() !== texts.get(state.name);
  const quoted = overrides().map((it) => ` \\\n    --set '${it}'`);
  const note = isChanged ? "# Save the scenario below first.\n" : "";
  find("command").textContent = `${note}fadeout run ${isChanged ? "scenario.toml" : state.name}${quoted.join("")}`;
  find("text").textContent = scenarioText();
}

function control(it) {
  const shown = make("output", { textContent: it.options ? "" : `${state.values[it.key]} ${it.unit}` });
  const head = make("span", {}, it.label, shown);
  const input = it.options
    ? make("select", {}, ...it.options.map((name) => make("option", { textContent: name, value: name })))
    : make("input", { type: "range", min: it.min, max: it.max, step: it.step });
  input.name = it.key;
  input.value = state.values[it.key];
  input.addEventListener("input", () => {
    state.values[it.key] = input.value;
    if (!it.options) shown.textContent = `${input.value} ${it.unit}`;
    clearTimeout(state.timer);
    state.timer = setTimeout(run, PAUSE);
  });
  return make("label", {}, head, input);
}

function choose(name) {
  state.name = name;
  const scenario = SCENARIOS[name];
  state.values = Object.fromEntries(scenario.controls.map((it) => [it.key, it.value]));
  const button = (key) => {
    const made = make("button", { textContent: SCENARIOS[key].title, type: "button" });
    made.setAttribute("aria-pressed", String(key === name));
    made.addEventListener("click", () => choose(key));
    return made;
  };
  find("scenarios").replaceChildren(...Object.keys(SCENARIOS).map(button));
  const reset = make("button", { textContent: "Reset", type: "button" });
  reset.addEventListener("click", () => choose(name));
  find("controls").replaceChildren(...scenario.controls.map(control), reset);
  find("question").textContent = scenario.question;
  run();
}

function say(text, isError = false) {
  find("status").textContent = text;
  find("status").className = isError ? "error" : "";
}

function run() {
  clearTimeout(state.timer);
  state.worker?.terminate();
  const worker = new Worker("worker.js");
  state.worker = worker;
  showCommand();
  find("fingerprint").textContent = "";
  say("The run is in progress.");
  worker.onmessage = ({ data }) => {
    if (data.progress !== undefined) find("progress").value = data.progress;
    if (data.error !== undefined) say(data.error, true);
    if (data.done !== undefined) show(data.done, data.took);
  };
  worker.onerror = (event) => say(`The simulator cannot be loaded: ${event.message ?? "is the page served over HTTP?"}`, true);
  const request = { text: scenarioText(), set: overrides(), observe: SCENARIOS[state.name].observe };
  engine.then(
    (module) => worker.postMessage({ module, ...request }),
    (error) => say(error.message, true),
  );
}

// The values of a series. A rate is the growth of a counter from one sample to the next.
function points(series, times, columns) {
  const column = columns[SCENARIOS[state.name].observe.indexOf(series.name)];
  const scaled = column.map((value) => (Number.isFinite(value) ? value * (series.factor ?? 1) : null));
  if (!series.isRate) return scaled;
  return scaled.map((value, index) => (index === 0 ? null : (value - scaled[index - 1]) / (times[index] - times[index - 1])));
}

function chart({ title, series }, times, columns) {
  const colour = getComputedStyle(document.body).color;
  const axis = { stroke: colour, grid: { stroke: "#8883" }, ticks: { stroke: "#8883" } };
  const lines = series.map((it, index) => ({ label: it.label, stroke: COLOURS[index], width: 1.5, spanGaps: true }));
  const options = {
    title,
    width: find("charts").clientWidth,
    height: CHART_HEIGHT,
    cursor: { sync: { key: "time" } },
    scales: { x: { time: false } },
    axes: [{ ...axis, label: "s", labelSize: 18, size: 32 }, { ...axis, size: 60 }],
    series: [{ label: "s" }, ...lines],
  };
  const data = [times, ...series.map((it) => points(it, times, columns))];
  return new uPlot(options, data, find("charts"));
}

function show({ times, columns, results }, took) {
  state.charts.forEach((it) => it.destroy());
  state.charts = SCENARIOS[state.name].charts.map((it) => chart(it, times, columns));
  const headings = ["flow", "goodput, Mbit/s", "retransmitted segments", "timeouts", "mean round trip, ms"];
  const head = make("tr", {}, ...headings.map((it) => make("th", { textContent: it })));
  find("numbers").tHead.replaceChildren(head);
  const decimals = (value, digits) => (value == null ? "–" : value.toLocaleString("en", { maximumFractionDigits: digits }));
  const rows = results.summary.flows.map((flow) => {
    const cells = [
      flow.flow,
      decimals(flow.goodput_mbps, 2),
      decimals(flow.retransmitted_segments, 0),
      decimals(flow.timeouts, 0),
      decimals(flow.mean_rtt_s * 1e3, 1),
    ];
    return make("tr", {}, ...cells.map((it) => make("td", { textContent: it })));
  });
  find("numbers").tBodies[0].replaceChildren(...rows);
  find("fingerprint").textContent = results.fingerprint;
  find("progress").value = 1;
  const events = results.events.toLocaleString("en");
  say([`${events} events in ${took.toFixed(2)} s.`, ...results.remarks].join(" "));
}

addEventListener("resize", () => state.charts.forEach((it) => it.setSize({ width: find("charts").clientWidth, height: CHART_HEIGHT })));

const names = Object.keys(SCENARIOS);
const loaded = await Promise.all(names.map(async (name) => (await fetch(`${name}.toml`)).text()));
names.forEach((name, index) => texts.set(name, loaded[index]));
choose(names.includes(location.hash.slice(1)) ? location.hash.slice(1) : state.name);
