"use strict";
// Panels of series (uPlot) and ribbons, all with the same time axis and cursor.
Report.charts = (() => {
  const R = Report;
  const GUTTER = 60, RIGHT = 22;
  const panels = [], lanes = [];

  function load(series) {
    const x = R.read(series.x), y = R.read(series.y);
    return { ...series, x, y, shown: true };
  }

  // The value at the cursor: what the line shows there.
  function valueAt(series, t) {
    const at = R.lastAtMost(series.x, t);
    if (series.mode === "before") {
      const exact = at >= 0 && series.x[at] === t;
      const next = exact ? at : at + 1;
      // Before the first bin there is no value.
      if (next === 0 && t < series.x[0] - (series.x[1] - series.x[0]) * 1.001) return NaN;
      return next < series.x.length ? series.y[next] : NaN;
    }
    return at < 0 ? NaN : series.y[at];
  }

  function joined(panel) {
    const tables = panel.series.map((s) => [Array.from(s.x), Array.from(s.y, (v) => (Number.isNaN(v) ? null : v))]);
    // A null is a gap up to the next row of its series (mode 2). Without a null, a line goes on.
    return uPlot.join(tables, tables.map(() => [0, 2]));
  }

  function options(panel, width) {
    const paths = { after: uPlot.paths.stepped({ align: 1 }), before: uPlot.paths.stepped({ align: -1 }), line: uPlot.paths.linear() };
    const axis = { stroke: R.css("--muted"), grid: { stroke: R.css("--grid"), width: 1 }, ticks: { stroke: R.css("--grid"), width: 1 }, font: "11px system-ui, sans-serif" };
    return {
      width, height: 150, legend: { show: false }, padding: [8, RIGHT, 0, 0],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      scales: { x: { time: false, auto: false, range: () => [R.state.low, R.state.high] }, y: { range: (u, low, high) => rangeOf(panel, low, high) } },
      axes: [{ ...axis, size: 26, values: (u, ticks) => ticks.map((t) => `${Number(t.toPrecision(9))} s`) }, { ...axis, size: GUTTER }],
      series: [{}, ...panel.series.map((s) => ({ label: s.name, show: s.shown, stroke: R.color(s.color), width: s.dashed ? 1 : 1.4, dash: s.dashed ? [5, 3] : dashOf(s.color), paths: paths[s.mode], points: { show: s.x.length < 2 } }))],
      hooks: { drawClear: [shade], setSelect: [(u) => { if (u.select.width > 4) R.setRange(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")); u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false); }] },
    };
  }

  const dashOf = (color) => (color < 8 ? undefined : [6, 2, 1, 2]);

  function rangeOf(panel, low, high) {
    if (low === null || high === null) return [0, 1];
    if (panel.id === "sinr" || panel.id === "rsrp") {
      const room = Math.max((high - low) * 0.08, 1);
      return [low - room, high + room];
    }
    return [0, high > 0 ? high * 1.08 : 1];
  }

  function shade(u) {
    u.ctx.fillStyle = R.css("--shade");
    for (const [start, end] of R.data.shades) {
      const left = Math.max(u.valToPos(start, "x", true), u.bbox.left);
      const right = Math.min(u.valToPos(end, "x", true), u.bbox.left + u.bbox.width);
      if (right > left) u.ctx.fillRect(left, u.bbox.top, Math.max(right - left, 1), u.bbox.height);
    }
  }

  function swatch(series) {
    const line = R.make("span", { class: series.dashed ? "swatch dashed" : "swatch" });
    line.dataset.color = series.color % 8;
    return line;
  }

  function addPanel(root, document_) {
    const panel = { ...document_, series: document_.series.map(load) };
    const box = R.make("figure", { class: "panel" });
    box.dataset.panel = panel.id;
    const legend = R.make("div", { class: "legend" });
    panel.values = panel.series.map((series, number) => {
      const value = R.make("output", { class: "value" });
      const button = R.make("button", { type: "button", title: "Show or hide" }, swatch(series), R.make("span", { class: "name" }, series.name), value);
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        series.shown = !series.shown;
        button.setAttribute("aria-pressed", String(series.shown));
        panel.plot.setSeries(number + 1, { show: series.shown });
      });
      legend.append(button);
      return value;
    });
    const unit = panel.unit ? ` (${panel.unit})` : "";
    box.append(R.make("figcaption", {}, R.make("b", {}, panel.title + unit), legend));
    if (panel.note) box.append(R.make("p", { class: "small" }, panel.note));
    panel.holder = R.make("div", { class: "plot" });
    box.append(panel.holder);
    root.append(box);
    panel.table = joined(panel);
    panel.cursor = R.make("div", { class: "cursor" });
    draw(panel);
    panels.push(panel);
  }

  function draw(panel) {
    panel.plot?.destroy();
    panel.plot = new uPlot(options(panel, panel.holder.clientWidth || 600), panel.table, panel.holder);
    panel.plot.over.append(panel.cursor);
    follow(panel.plot.over, (x) => panel.plot.posToVal(x, "x"));
    moveCursor(panel);
  }

  // The mouse moves the cursor, and a click without a drag holds it.
  function follow(target, timeAt) {
    let down = 0;
    target.addEventListener("mousemove", (event) => { if (!R.state.held && !R.state.playing && !event.buttons) R.setTime(timeAt(event.offsetX)); });
    target.addEventListener("mousedown", (event) => { down = event.clientX; });
    target.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - down) > 3) return;
      const held = R.state.held;
      if (!R.state.playing) R.state.held = !held;
      R.setTime(timeAt(event.offsetX));
    });
    target.addEventListener("dblclick", () => R.setRange(0, R.data.duration));
  }

  function moveCursor(panel) {
    const { t, low, high } = R.state;
    panel.cursor.hidden = t < low || t > high;
    panel.cursor.style.left = `${panel.plot.valToPos(t, "x")}px`;
    panel.series.forEach((series, number) => {
      const value = valueAt(series, t);
      panel.values[number].textContent = R.format(value);
    });
  }

  function addLane(root, document_) {
    const lane = { ...document_, start: R.read(document_.start), end: R.read(document_.end), label: R.read(document_.label) };
    lane.value = R.make("output", { class: "value" });
    lane.canvas = R.make("canvas", { class: "lane-canvas" });
    lane.cursor = R.make("div", { class: "cursor" });
    const box = R.make("figure", { class: "lane" });
    box.dataset.lane = lane.kind;
    const note = lane.note ? ` (${lane.note})` : "";
    box.append(R.make("figcaption", {}, R.make("b", {}, lane.kind), ` ${lane.name}${note} `, lane.value), R.make("div", { class: "lane-plot" }, lane.canvas, lane.cursor));
    root.append(box);
    const holder = lane.canvas.parentElement;
    follow(lane.canvas, (x) => R.state.low + (x / lane.canvas.clientWidth) * (R.state.high - R.state.low));
    lane.holder = holder;
    lanes.push(lane);
    drawLane(lane);
  }

  const KIND_COLORS = { open: "--calm", disorder: "--sky", cwr: "--orange", recovery: "--purple", loss: "--vermilion", blocked: "--blocked", "no cell": "--shade", none: "--shade", clear: "--calm", vehicle: "--vermilion", building: "--brown", misalignment: "--purple", deafness: "--sky", handover: "--shade" };

  function laneColor(lane, label) {
    if (lane.kind.endsWith("cell") && Object.hasOwn(R.data.cells, label)) return R.cellColor(label);
    return R.css(Object.hasOwn(KIND_COLORS, label) ? KIND_COLORS[label] : "--muted");
  }

  function drawLane(lane) {
    const ratio = window.devicePixelRatio || 1, width = lane.canvas.clientWidth, height = 16;
    lane.width = width;
    lane.canvas.width = Math.max(1, Math.round(width * ratio));
    lane.canvas.height = height * ratio;
    const context = lane.canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const { low, high } = R.state, scale = width / (high - low);
    for (let i = 0; i < lane.start.length; i++) {
      if (lane.end[i] < low || lane.start[i] > high) continue;
      const left = Math.max(0, (lane.start[i] - low) * scale), right = Math.min(width, (lane.end[i] - low) * scale);
      const label = lane.labels[lane.label[i]];
      context.fillStyle = laneColor(lane, label);
      // Worse states are higher, so the ribbon can be read without colour.
      const tall = label === "open" || label === "clear" ? 5 : height;
      context.fillRect(left, height - tall, Math.max(right - left, 1), tall);
      const wide = context.measureText(label).width;
      if (right - left > wide + 8 && tall === height) {
        context.fillStyle = R.inkOn(context.fillStyle);
        context.fillText(label, left + 4, height / 2 + 0.5);
      }
    }
  }

  function moveLane(lane) {
    const { t, low, high } = R.state;
    lane.cursor.hidden = t < low || t > high;
    lane.cursor.style.left = `${GUTTER + ((t - low) / (high - low)) * lane.width}px`;
    const at = R.lastAtMost(lane.start, t);
    lane.value.textContent = at >= 0 && t <= lane.end[at] ? lane.labels[lane.label[at]] : "–";
  }

  function build() {
    const root = R.element("charts");
    if (!root) return;
    R.data.lanes.filter((lane) => lane.kind !== "TCP state").forEach((lane) => addLane(root, lane));
    R.data.panels.forEach((panel) => {
      addPanel(root, panel);
      if (panel.id === "cwnd") R.data.lanes.filter((lane) => lane.kind === "TCP state").forEach((lane) => addLane(root, lane));
    });
    if (!R.data.panels.some((panel) => panel.id === "cwnd")) R.data.lanes.filter((lane) => lane.kind === "TCP state").forEach((lane) => addLane(root, lane));
    R.on("time", () => { panels.forEach(moveCursor); lanes.forEach(moveLane); });
    R.on("range", () => { panels.forEach((panel) => panel.plot.setScale("x", { min: R.state.low, max: R.state.high })); lanes.forEach(drawLane); R.tell("time"); });
    R.on("theme", redraw);
    let timer = 0;
    new ResizeObserver(() => { clearTimeout(timer); timer = setTimeout(resize, 60); }).observe(root);
  }

  function resize(width) {
    panels.forEach((panel) => panel.plot.setSize({ width: width || panel.holder.clientWidth, height: 150 }));
    lanes.forEach(drawLane);
    panels.forEach(moveCursor);
    lanes.forEach(moveLane);
  }

  function redraw() {
    panels.forEach(draw);
    lanes.forEach(drawLane);
  }

  return { build, resize, redraw, panels, lanes, valueAt };
})();

// The colour of a cell, the same in the map, the ribbons and the panels.
Report.cellColor = (cell) => (Object.hasOwn(Report.data.cells, cell) ? Report.color(Report.data.cells[cell]) : Report.css("--muted"));
// Black or white, whichever is easier to read on a colour.
Report.inkOn = (color) => {
  const parts = color.startsWith("#") ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) : color.match(/\d+/g).map(Number);
  return 0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2] > 140 ? "#000000" : "#ffffff";
};
