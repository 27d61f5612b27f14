"use strict";
// Playback, keys, links, themes and print.
(() => {
  const R = Report;
  const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const STEPS = 500;
  let speed = 1, before = 0, events = [];

  function setSpeed(value) {
    speed = value;
    R.element("speed").value = String(value);
  }

  function play(wanted) {
    R.state.playing = wanted;
    R.state.held = false;
    const button = R.element("play");
    button.textContent = wanted ? "Pause" : "Play";
    button.setAttribute("aria-pressed", String(wanted));
    if (!wanted) return;
    if (R.state.t >= R.data.duration) R.setTime(0);
    before = performance.now();
    requestAnimationFrame(tick);
  }

  function tick(now) {
    if (!R.state.playing) return;
    // With reduced motion there are two still pictures a second.
    if (!calm.matches || now - before >= 500) {
      R.setTime(R.state.t + ((now - before) / 1000) * speed);
      before = now;
    }
    if (R.state.t >= R.data.duration) play(false);
    else requestAnimationFrame(tick);
  }

  function step(count) {
    R.state.held = true;
    R.setTime(R.state.t + (count * (R.state.high - R.state.low)) / STEPS);
  }

  function jump(direction) {
    const at = direction > 0 ? events.find((t) => t > R.state.t + 1e-9) : events.findLast((t) => t < R.state.t - 1e-9);
    if (at === undefined) return;
    R.state.held = true;
    R.setTime(at);
  }

  function zoom(factor) {
    const { t, low, high } = R.state;
    R.setRange(t - (t - low) * factor, t + (high - t) * factor);
  }

  function fromAddress() {
    const match = /^#t=(-?[0-9.]+(?:e-?[0-9]+)?)$/.exec(window.location.hash);
    if (!match) return;
    const t = Number(match[1]);
    if (!Number.isFinite(t)) return;
    R.state.held = true;
    if (R.state.playing) play(false);
    R.setTime(t);
  }

  function theme(wanted) {
    document.documentElement.dataset.theme = wanted;
    R.element("theme")?.replaceChildren(wanted === "dark" ? "Light" : "Dark");
    R.tell("theme");
  }

  const isDark = () => (document.documentElement.dataset.theme || (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

  const KEYS = {
    " ": () => play(!R.state.playing),
    ArrowLeft: (event) => step(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => step(event.shiftKey ? 10 : 1),
    Home: () => { R.state.held = true; R.setTime(0); },
    End: () => { R.state.held = true; R.setTime(R.data.duration); },
    "[": () => jump(-1),
    "]": () => jump(1),
    "<": () => setSpeed(SPEEDS[Math.max(SPEEDS.indexOf(speed) - 1, 0)]),
    ">": () => setSpeed(SPEEDS[Math.min(SPEEDS.indexOf(speed) + 1, SPEEDS.length - 1)]),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    0: () => R.setRange(0, R.data.duration),
    l: link,
    d: () => theme(isDark() ? "light" : "dark"),
    Escape: () => { R.state.held = false; play(false); },
  };

  function link() {
    R.state.held = true;
    window.location.replace(`#t=${Number(R.state.t.toPrecision(9))}`);
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tag = event.target.tagName;
    // Space presses a button, and arrows choose in a list.
    if (tag === "SELECT" || (event.key === " " && (tag === "BUTTON" || tag === "SUMMARY"))) return;
    // A table or a text that is scrolled keeps its keys.
    if (event.target.closest(".scroll, pre") && !["[", "]", "l", "d"].includes(event.key)) return;
    const call = KEYS[event.key];
    if (!call) return;
    event.preventDefault();
    call(event);
  }

  function controls() {
    const press = (id, call) => R.element(id).addEventListener("click", call);
    press("play", () => play(!R.state.playing));
    press("earlier", () => jump(-1));
    press("later", () => jump(1));
    press("closer", () => zoom(0.5));
    press("wider", () => zoom(2));
    press("whole", () => R.setRange(0, R.data.duration));
    press("link", link);
    press("theme", () => theme(isDark() ? "light" : "dark"));
    const list = R.element("speed");
    SPEEDS.forEach((one) => list.append(R.make("option", { value: String(one) }, `${one} ×`)));
    list.addEventListener("change", () => { speed = Number(list.value); });
    // A run plays in about 20 s.
    setSpeed(SPEEDS.reduce((best, one) => (Math.abs(Math.log(one * 20 / R.data.duration)) < Math.abs(Math.log(best * 20 / R.data.duration)) ? one : best)));
    const slider = R.element("slider");
    slider.addEventListener("input", () => { R.state.held = true; R.setTime((Number(slider.value) / 10000) * R.data.duration); });
    R.on("time", () => {
      slider.value = String(Math.round((R.state.t / R.data.duration) * 10000));
      const text = `${R.state.t.toFixed(3)} s${R.state.held ? " (held)" : ""}`;
      document.documentElement.toggleAttribute("data-held", R.state.held);
      R.element("held-note").textContent = `Values and map at ${R.state.t.toFixed(3)} s`;
      R.element("clock").textContent = text;
      slider.setAttribute("aria-valuetext", text);
    });
    document.addEventListener("keydown", onKey);
    window.addEventListener("hashchange", fromAddress);
    theme(isDark() ? "dark" : "light");
  }

  function copies() {
    document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = "Copied";
    }));
    document.querySelectorAll("[data-save]").forEach((button) => button.addEventListener("click", () => {
      const address = URL.createObjectURL(new Blob([R.element(button.dataset.from).textContent], { type: "text/plain" }));
      R.make("a", { href: address, download: button.dataset.save }).click();
      URL.revokeObjectURL(address);
    }));
  }

  function print() {
    let was = "light";
    window.addEventListener("beforeprint", () => {
      was = document.documentElement.dataset.theme;
      document.documentElement.classList.add("printing");
      if (was) { document.documentElement.dataset.theme = "light"; R.tell("theme"); }
      R.charts.resize(690);
      R.map.fit();
      R.map.draw();
    });
    window.addEventListener("afterprint", () => {
      document.documentElement.classList.remove("printing");
      if (was) { document.documentElement.dataset.theme = was; R.tell("theme"); }
      R.charts.resize();
      R.map.fit();
      R.map.draw();
    });
  }

  async function start() {
    copies();
    sortable();
    if (R.data.duration && R.element("controls")) {
      await R.unpack();
      events = Array.from(R.read(R.data.events));
      R.charts.build();
      R.map.build();
      controls();
      print();
      R.setTime(R.state.t);
      fromAddress();
    }
    document.documentElement.dataset.ready = "yes";
  }

  // A click on a heading sorts the table of a campaign.
  function sortable() {
    document.querySelectorAll("table[data-sortable] th button").forEach((button) => button.addEventListener("click", () => {
      const heading = button.closest("th"), body = heading.closest("table").tBodies[0];
      const column = Array.from(heading.parentElement.children).indexOf(heading);
      const up = heading.getAttribute("aria-sort") !== "ascending";
      heading.parentElement.querySelectorAll("th").forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = (row) => { const cell = row.children[column]; return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value); };
      const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
      body.append(...Array.from(body.rows).sort((a, b) => (up ? 1 : -1) * order(value(a), value(b))));
    }));
  }

  start();
})();
