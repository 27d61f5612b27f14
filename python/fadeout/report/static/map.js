"use strict";
// The map at the time of the cursor: buildings, sites, beams, rays, UEs and vehicles.
Report.map = (() => {
  const R = Report;
  const ABSENT = -32768, ANGLES = 80, LINE = 12;
  const view = { x: 0, y: 0, scale: 1, width: 600, height: 320 };
  let scene = null, canvas = null, ues = [];
  // The boxes of the names of the current picture.
  let labelled = [];

  function build() {
    if (!R.data.map) return;
    const document_ = R.data.map;
    const objects = document_.objects.length;
    ues = document_.objects.map((one, at) => ({ ...one, at })).filter((one) => one.is_ue);
    scene = { ...document_, times: R.read(document_.times) };
    for (const name of ["x", "y", "heading"]) scene[name] = R.readFrames(document_[name], objects);
    scene.legs = [document_, document_.secondary].filter(Boolean).map((leg) => Object.fromEntries(["serving", "state", "beam"].map((name) => [name, R.readFrames(leg[name], ues.length)])));
    canvas = R.element("map");
    bounds();
    const follow = R.element("follow");
    ues.slice(0, 200).forEach((ue) => follow.append(R.make("option", { value: String(ue.at) }, ue.name)));
    follow.addEventListener("change", () => { if (follow.value) zoom(3 * fitScale() / view.scale); draw(); });
    R.element("map-in").addEventListener("click", () => zoom(1.5));
    R.element("map-out").addEventListener("click", () => zoom(1 / 1.5));
    R.element("map-fit").addEventListener("click", () => { follow.value = ""; fit(); draw(); });
    drag();
    legend();
    fit();
    draw();
    R.on("time", draw);
    R.on("theme", () => { legend(); draw(); });
    new ResizeObserver(() => { fit(); draw(); }).observe(R.element("map-box"));
  }

  // The part of the world that the run uses, with some room around it.
  function bounds() {
    let [west, south, east, north] = scene.box;
    const include = (x, y) => { west = Math.min(west, x); south = Math.min(south, y); east = Math.max(east, x); north = Math.max(north, y); };
    scene.cells.forEach((cell) => include(cell.x, cell.y));
    const wide = Math.max(east - west, north - south, 10);
    for (const rings of scene.buildings) for (const [x, y] of rings[0]) if (x > west - wide && x < east + wide && y > south - wide && y < north + wide) include(x, y);
    const room = Math.max(east - west, north - south, 10) * 0.06;
    scene.bounds = [west - room, south - room, east + room, north + room];
  }

  function fitScale() {
    const [west, south, east, north] = scene.bounds;
    return Math.min(view.width / (east - west), view.height / (north - south));
  }

  function fit() {
    if (!scene) return;
    const [west, south, east, north] = scene.bounds;
    // A long road gets the whole width of the page.
    R.element("map-box").parentElement.classList.toggle("wide", east - west > 2.5 * (north - south));
    // The width is read once, as each reading lets the browser lay out the page.
    view.width = canvas.clientWidth || 600;
    view.height = Math.round(Math.min(Math.max((view.width * (north - south)) / (east - west), 170), 460));
    canvas.style.height = `${view.height}px`;
    view.scale = fitScale();
    view.x = (west + east) / 2;
    view.y = (south + north) / 2;
  }

  function zoom(factor) {
    view.scale *= factor;
    draw();
  }

  function drag() {
    let last = null;
    canvas.addEventListener("pointerdown", (event) => { last = event; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { last = null; });
    canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      view.x -= (event.clientX - last.clientX) / view.scale;
      view.y += (event.clientY - last.clientY) / view.scale;
      last = event;
      draw();
    });
    // Without Ctrl the wheel scrolls the page.
    canvas.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2); } }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (!event.altKey) return;
      const step = 60 / view.scale;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (!moves[event.key]) return;
      event.preventDefault();
      view.x += moves[event.key][0];
      view.y += moves[event.key][1];
      draw();
    });
  }

  const px = (x) => view.width / 2 + (x - view.x) * view.scale;
  const py = (y) => view.height / 2 - (y - view.y) * view.scale;

  // The place of an object, between two frames if it did not jump.
  function place(at, frame, part) {
    const n = scene.objects.length, i = frame * n + at;
    if (scene.x[i] === ABSENT && scene.y[i] === ABSENT) return null;
    let x = scene.x[i], y = scene.y[i];
    const j = i + n;
    if (part > 0 && j < scene.x.length && scene.x[j] !== ABSENT && Math.hypot(scene.x[j] - x, scene.y[j] - y) * scene.step < 120 * (scene.times[frame + 1] - scene.times[frame]) + 5) {
      x += (scene.x[j] - x) * part;
      y += (scene.y[j] - y) * part;
    }
    return { x: scene.west + (x + 30000) * scene.step, y: scene.south + (y + 30000) * scene.step, heading: (scene.heading[i] + 14400) / ANGLES };
  }

  function draw() {
    if (!scene) return;
    const ratio = window.devicePixelRatio || 1, width = view.width;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(view.height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(view.height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, view.height);
    const frame = Math.max(0, R.lastAtMost(scene.times, R.state.t + 1e-9));
    const next = Math.min(frame + 1, scene.times.length - 1);
    const part = next > frame ? Math.min(1, (R.state.t - scene.times[frame]) / (scene.times[next] - scene.times[frame])) : 0;
    const followed = R.element("follow").value;
    if (followed) {
      const spot = place(Number(followed), frame, part);
      if (spot) { view.x = spot.x; view.y = spot.y; }
    }
    drawBuildings(context);
    if (ues.length <= 20) ues.forEach((ue) => drawTrack(context, ue));
    const spots = scene.objects.map((_, at) => place(at, frame, part));
    drawVehicles(context, spots);
    for (const leg of scene.legs) ues.forEach((ue, number) => drawPath(context, leg, spots[ue.at], frame, number));
    labelled = [];
    drawSites(context);
    ues.forEach((ue, number) => drawUe(context, spots[ue.at], ue, frame, number));
    drawScale(context);
    words(frame);
  }

  function drawBuildings(context) {
    context.fillStyle = R.css("--building");
    context.strokeStyle = R.css("--building-edge");
    context.lineWidth = 0.7;
    for (const rings of scene.buildings) {
      context.beginPath();
      for (const ring of rings) {
        ring.forEach(([x, y], at) => (at ? context.lineTo(px(x), py(y)) : context.moveTo(px(x), py(y))));
        context.closePath();
      }
      context.fill("evenodd");
      context.stroke();
    }
  }

  function drawTrack(context, ue) {
    context.strokeStyle = R.css("--track");
    context.lineWidth = 1;
    context.beginPath();
    let before = null;
    for (let frame = 0; frame < scene.frames; frame++) {
      const spot = place(ue.at, frame, 0);
      if (!spot) { before = null; continue; }
      const near = before && Math.hypot(spot.x - before.x, spot.y - before.y) < 120 * (scene.times[1] - scene.times[0]) + 5;
      if (near) context.lineTo(px(spot.x), py(spot.y)); else context.moveTo(px(spot.x), py(spot.y));
      before = spot;
    }
    context.stroke();
  }

  function drawVehicles(context, spots) {
    context.fillStyle = R.css("--vehicle");
    scene.objects.forEach((one, at) => {
      const spot = spots[at];
      if (!spot || one.length === null) return;
      context.save();
      context.translate(px(spot.x), py(spot.y));
      context.rotate((-spot.heading * Math.PI) / 180);
      const long = Math.max(one.length * view.scale, 4), wide = Math.max(one.width * view.scale, 2);
      context.fillRect(-long / 2, -wide / 2, long, wide);
      context.restore();
    });
  }

  const cellOf = (frame, number, leg = scene.legs[0]) => leg.serving[frame * ues.length + number];

  const cellColor = (index) => R.cellColor(scene.cells[index].name);

  // Beam and ray. A cut ray is dashed and has a cross, so it can be told without colour.
  function drawPath(context, leg, spot, frame, number) {
    if (!spot || !scene.has_rays || ues.length > 60) return;
    const index = cellOf(frame, number, leg);
    if (index < 0) return;
    const cell = scene.cells[index], at = frame * ues.length + number;
    const x = px(spot.x), y = py(spot.y), cx = px(cell.x), cy = py(cell.y);
    if (leg.beam[at] !== ABSENT && ues.length <= 12) {
      const angle = (-(leg.beam[at] + 14400) / ANGLES) * Math.PI / 180, half = (((cell.width || 8) / 2) * Math.PI) / 180;
      const reach = Math.hypot(x - cx, y - cy) * 1.05;
      context.fillStyle = cellColor(index) + "40";
      context.beginPath();
      context.moveTo(cx, cy);
      context.arc(cx, cy, reach, angle - half, angle + half);
      context.fill();
    }
    const state = leg.state[at];
    context.strokeStyle = state ? R.css("--vermilion") : cellColor(index);
    context.lineWidth = 1.2;
    context.setLineDash(state ? [4, 4] : []);
    context.beginPath();
    context.moveTo(cx, cy);
    context.lineTo(x, y);
    context.stroke();
    context.setLineDash([]);
    if (state) {
      const mx = (x + cx) / 2, my = (y + cy) / 2;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(mx - 4, my - 4); context.lineTo(mx + 4, my + 4);
      context.moveTo(mx - 4, my + 4); context.lineTo(mx + 4, my - 4);
      context.stroke();
    }
  }

  function drawSites(context) {
    const named = new Map();
    scene.cells.forEach((cell, index) => {
      const x = px(cell.x), y = py(cell.y);
      if (cell.azimuth !== null) {
        const angle = (-cell.azimuth * Math.PI) / 180;
        context.strokeStyle = cellColor(index);
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x + 16 * Math.cos(angle), y + 16 * Math.sin(angle));
        context.stroke();
      }
      context.fillStyle = cellColor(index);
      context.strokeStyle = R.css("--ink");
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x, y - 7); context.lineTo(x + 6, y + 5); context.lineTo(x - 6, y + 5);
      context.closePath();
      context.fill();
      context.stroke();
      const key = `${cell.x} ${cell.y}`;
      named.set(key, { x, y, names: [...(named.get(key)?.names || []), cell.name] });
    });
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "top";
    if (named.size <= 40) named.forEach(({ x, y, names }) => label(context, names.length > 3 ? `${names[0]} … (${names.length})` : names.join(", "), x, y - 20, true));
  }

  function label(context, text, x, y, centred) {
    const wide = context.measureText(text).width;
    const left = Math.min(Math.max(centred ? x - wide / 2 : x, 2), view.width - wide - 2);
    // A name that would cover another one is drawn below it, or above the place if there is no room below.
    const covers = (top) => labelled.some((one) => left < one.right + 3 && left + wide + 3 > one.left && Math.abs(top - one.top) < LINE);
    const lines = centred ? [0, -1, -2, -3] : [0, 1, 2, 3, -2, -3, -4];
    y = lines.map((line) => y + line * LINE).find((top) => top > 2 && top < view.height - 4 && !covers(top)) ?? y;
    labelled.push({ left, right: left + wide, top: y });
    context.lineWidth = 3;
    context.strokeStyle = R.css("--paper");
    context.strokeText(text, left, y);
    context.fillStyle = R.css("--ink");
    context.fillText(text, left, y);
  }

  function drawUe(context, spot, ue, frame, number) {
    if (!spot) return;
    const index = cellOf(frame, number), x = px(spot.x), y = py(spot.y), size = ues.length > 100 ? 2.5 : 5;
    context.fillStyle = index < 0 ? R.css("--paper") : cellColor(index);
    context.strokeStyle = R.css("--ink");
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x, y, size, 0, 2 * Math.PI);
    context.fill();
    if (ues.length <= 100) context.stroke();
    if (ues.length <= 12) { context.font = "11px system-ui, sans-serif"; context.textBaseline = "middle"; label(context, ue.name, x + 8, y + 9, false); }
  }

  function drawScale(context) {
    const most = 120 / view.scale, power = 10 ** Math.floor(Math.log10(most));
    const length = [5, 2, 1].map((step) => step * power).find((one) => one <= most);
    const y = view.height - 10;
    context.strokeStyle = R.css("--ink");
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(10, y); context.lineTo(10 + length * view.scale, y);
    context.stroke();
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "bottom";
    label(context, length >= 1000 ? `${length / 1000} km` : `${length} m`, 14 + length * view.scale, y + 5, false);
  }

  const PATHS = { clear: "path clear", vehicle: "vehicle in the way", building: "building in the way", misalignment: "beam misaligned", deafness: "receiver's beam misaligned", handover: "changes cell" };

  function words(frame) {
    const list = R.element("map-state");
    if (ues.length > 12) { list.hidden = true; return; }
    const texts = ues.map((ue, number) => {
      const paths = scene.legs.map((leg) => {
        const index = cellOf(frame, number, leg);
        if (index < 0) return null;
        return scene.cells[index].name + (scene.has_rays ? `, ${PATHS[scene.states[leg.state[frame * ues.length + number]]]}` : "");
      });
      return `${ue.name}: ${paths.filter((path) => path !== null).join("; ") || "no cell"}`;
    });
    while (list.children.length < texts.length) list.append(R.make("li"));
    texts.forEach((text, at) => { if (list.children[at].textContent !== text) list.children[at].textContent = text; });
  }

  function legend() {
    const items = [["triangle", "site"], ["dot", "UE, in the colour of its cell"]];
    if (scene.objects.some((one) => one.length !== null)) items.push(["box", "vehicle"]);
    if (scene.buildings.length) items.push(["building", "building"]);
    if (scene.has_rays && ues.length <= 60) items.push(["ray", scene.legs.length > 1 ? "paths to the serving cell and the secondary cell" : "path to the serving cell"], ["cut", "blocked path"]);
    R.element("map-key").replaceChildren(...items.map(([kind, text]) => R.make("li", {}, R.make("span", { class: `sign ${kind}` }), text)));
  }

  return { build, draw, fit, names: () => labelled, bench: (count) => { const from = performance.now(); for (let i = 0; i < count; i++) { R.state.t = (R.data.duration * i) / count; draw(); } return (performance.now() - from) / count; } };
})();
