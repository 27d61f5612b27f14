"use strict";
// Shared by all parts of the page: data, colours, and the one time that everything shows.
const Report = (() => {
  const element = (id) => document.getElementById(id);
  const data = JSON.parse(element("data").textContent);
  let bytes = null;

  async function unpack() {
    const packed = Uint8Array.from(atob(element("blob").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Bytes of equal significance lie together.
  function read(place) {
    const width = place.type === "f8" ? 8 : 2;
    const joined = new Uint8Array(place.count * width);
    for (let plane = 0; plane < width; plane++) {
      const from = place.offset + plane * place.count;
      for (let i = 0; i < place.count; i++) joined[i * width + plane] = bytes[from + i];
    }
    return width === 8 ? new Float64Array(joined.buffer) : new Int16Array(joined.buffer);
  }

  function readFrames(place, objects) {
    const values = read(place);
    for (let i = objects; i < values.length; i++) values[i] += values[i - objects];
    return values;
  }

  // Okabe and Ito (2008). The third colour is the ink, which both themes show well.
  const PALETTE = ["--blue", "--orange", "--ink", "--green", "--sky", "--vermilion", "--purple", "--brown"];
  const color = (number) => css(PALETTE[number % PALETTE.length]);
  // The browser computes a style for some microseconds, and a frame needs thousands of colours.
  const styles = new Map();
  function css(name) {
    if (!styles.has(name)) styles.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return styles.get(name);
  }

  function make(tag, options = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(options)) {
      if (key === "class") made.className = value;
      else if (key in made) made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  // The index of the last value that is at most `t`, or -1.
  function lastAtMost(sorted, t) {
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] <= t) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  function format(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e15) return String(value);
    return size >= 1e6 || (size > 0 && size < 1e-3) ? value.toExponential(4) : String(Number(value.toPrecision(6)));
  }

  const [low, high] = data.view || [0, 0];
  const state = { t: low, low, high, held: false, playing: false };
  const listeners = { time: [], range: [], theme: [] };
  const on = (kind, call) => listeners[kind].push(call);
  function tell(kind) {
    if (kind === "theme") styles.clear();
    listeners[kind].forEach((call) => call());
  }

  function setTime(t) {
    state.t = Math.min(Math.max(t, 0), data.duration || 0);
    // While it plays, a zoomed range moves along.
    if (state.t > state.high || state.t < state.low) {
      const span = state.high - state.low;
      setRange(state.t - span * (state.t > state.high ? 0.1 : 0.9), state.t + span * (state.t > state.high ? 0.9 : 0.1));
    }
    tell("time");
  }

  function setRange(low, high) {
    const end = data.duration || 0;
    const span = Math.min(Math.max(high - low, end * 1e-6, 1e-6), end);
    low = Math.min(Math.max(low, 0), end - span);
    if (Math.abs(low - state.low) < 1e-12 && Math.abs(low + span - state.high) < 1e-12) return;
    state.low = low;
    state.high = low + span;
    tell("range");
  }

  return { element, data, unpack, read, readFrames, color, css, make, lastAtMost, format, state, on, tell, setTime, setRange };
})();
