// The page of a clip: what the parts do together.

import { get, post, Refused } from "./api.js";
import { Frames } from "./frames.js";
import { Stage } from "./stage.js";
import { Marks, box } from "./marks.js";
import { Timeline } from "./timeline.js";
import { Curve, lines } from "./curve.js";
import { Player } from "./player.js";
import { Sound } from "./sound.js";
import { Panels } from "./panels.js";
import { listen } from "./keyboard.js";
import { clock } from "./list.js";

const $ = (id) => document.getElementById(id);
const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;
const choose = (name, value) => { const i = document.querySelector(`input[name=${name}][value="${value}"]`); i.checked = true; i.dispatchEvent(new Event("change", { bubbles: true })); };

let state = null;
const frames = new Frames();
const stage = new Stage();
const marks = new Marks(stage, drawn, pull);
const timeline = new Timeline($("timeline"), (k) => player.seek(k, true));
const curve = new Curve($("curve"), timeline, (keys) => edit({ do: "curve", keys: lines(keys) }));
const sound = new Sound((what) => { $("sound").dataset.state = what; });
const player = new Player({ show, tick, shown: (pace) => {
  if (pace <= 0) { sound.stop(); return; }
  const k = Math.min(player.at, state.frames - 2);
  sound.follow(sourceTime(player.at), (sourceTime(k + 1) - sourceTime(k)) * state.rate * pace, 1 / (state.rate * pace));
} });
let between = null; // the frames between the same two source frames: {of, version, promise}
const panels = new Panels({ look, edit, overlay: (name) => { $("overlay").value = name; overlay(); }, curve, select,
  opened: () => { outlines(); marks.draw(); if (chosen("ground")) player.seek(player.at); } });

// What is shown.

// turn numbers the calls to show. Only the latest may ask for a frame, since asking cancels the request before it.
let turn = 0;
async function show(number, resting) {
  if (ground() && resting) return showGround(number, ground());
  const mine = ++turn;
  const view = resting ? "final" : frames.peek("final", number) ? "final" : "fast";
  const busy = setTimeout(() => { $("busy").hidden = false; }, 250);
  try {
    const compared = stage.layout === "single" ? null : $("against").value;
    const made = await frames.get("made", view, number);
    if (mine !== turn) return false;
    const other = compared && frames.peek(compared, number);
    stage.show(made, other ?? null);
    told(made);
    if (compared && !other) {
      const late = await frames.get("other", compared, number);
      if (mine !== turn) return false;
      stage.show(made, late);
    }
    if (resting) rested(number);
    return true;
  } catch (error) {
    if (error.name === "AbortError" || mine !== turn) return false;
    complain(error);
    player.stop();
    return false;
  } finally {
    clearTimeout(busy);
    $("busy").hidden = true;
  }
}

// ground is the source frame that somebody draws on: "before", "after", or "" for the retimed frame.
const ground = () => (panels.opened === "decide" ? chosen("ground") : "");

async function showGround(number, side) {
  const mine = ++turn;
  try {
    const [first, last] = await betweenAt(number);
    if (mine !== turn) return false;
    const f = await frames.get("made", side, side === "before" ? first : last);
    if (mine !== turn) return false;
    stage.show(f, null);
    $("readout-how").textContent = `the source frame ${side}`;
    $("badge-made").textContent = `Frame ${side}`;
    return true;
  } catch (error) {
    if (error.name === "AbortError" || mine !== turn) return false;
    choose("ground", "");
    complain(error);
    return false;
  }
}

// betweenAt returns the first and the last of the frames that lie between the same source frames.
function betweenAt(number) {
  if (between?.of === number && between.version === state.version) return between.promise;
  const asked = { of: number, version: state.version, promise: get(`between?frame=${number}`) };
  asked.promise.catch(() => { if (between === asked) between = null; });
  between = asked;
  return asked.promise;
}

function told(f) {
  const r = f.record, parts = [];
  $("badge-made").textContent = "Retimed";
  const seconds = f.number / state.rate;
  $("readout-frame").textContent = `frame ${f.number} of 0–${state.frames - 1}, ${clock(seconds)}`;
  parts.push(r.method === "source" ? `source frame ${r.sources[0]}` : r.method);
  if (r.cut) parts.push("scene cut");
  if (r.method !== "source" && !r.cut) parts.push(`confidence ${r.confidence.toFixed(2)}${r.worst ? `, ${r.worst.score.toFixed(2)} at the worst place` : ""}`);
  const own = ownOf(f.number);
  if (f.view === "fast" && (own?.preset ?? state.preset) !== "fast") parts.push("at preset fast");
  else if (own?.preset) parts.push(`at preset ${own.preset}`);
  if (own?.shutter !== undefined) parts.push(`shutter ${own.shutter}°`);
  $("readout-how").textContent = parts.join(", ");
}

// ownOf returns what is decided about a frame.
const ownOf = (number) => (state.decisions ?? []).find((d) => d.frame === number);

// tick follows the playhead at once, before its frame is there.
function tick(number) {
  timeline.at = number;
  timeline.draw();
  $("timeline").setAttribute("aria-valuenow", number);
  $("timeline").setAttribute("aria-valuetext", `frame ${number}, ${(number / state.rate).toFixed(2)} seconds`);
  if (document.activeElement !== $("goto")) $("goto").value = number;
  outlines();
  marks.arrows = [];
  if ($("overlay").value !== "mask") marks.picture = null;
  marks.draw();
  panels.at(number, range());
  history.replaceState(null, "", `#${number}`);
}

// outlines shows where decided regions lie, while somebody decides.
function outlines() {
  marks.regions = panels.opened === "decide" && !player.playing ? ownOf(player.at)?.regions ?? [] : [];
  marks.worst = panels.opened === "find" && !player.playing ? timeline.box.get(player.at) : null;
}

// rested shows what takes longer, once the playhead rests.
function rested(number) {
  panels.why(number);
  overlay();
}

async function overlay() {
  const kind = $("overlay").value, number = player.at;
  marks.arrows = []; marks.picture = null; marks.crop = null;
  try {
    if (kind === "mask") {
      if (state.mask) marks.picture = await load(`mask?version=${state.version}`);
    } else if (kind) {
      const why = await panels.ask(number);
      if (player.at !== number || $("overlay").value !== kind) return;
      const name = { flow: "flow-forward.png", holes: "holes.png", hypotheses: "hypotheses.png", confidence: "confidence.png", visibility: "visibility.png" }[kind];
      if (kind === "arrows") marks.arrows = why.arrows;
      else if (why.drawings.some((d) => d.name === name)) {
        marks.picture = await load(`drawing?frame=${number}&name=${name}&version=${state.version}`);
        marks.crop = why.grid;
      }
    }
  } catch (error) {
    if (error.name !== "AbortError") complain(error);
  }
  if (player.at === number) marks.draw();
}

async function load(source) {
  const image = new Image();
  image.src = source;
  await image.decode();
  return image;
}

const range = () => (timeline.range ? [...timeline.range] : [player.at, player.at]);

// Edits.

async function edit(what) {
  $("saved").textContent = "Saving";
  try {
    adopt(await post("edit", what));
    clearNotice();
    return true;
  } catch (error) {
    complain(error);
    adopt(await get("state"));
    return false;
  }
}

// decide makes the frame, the range or the shape in a way; "" leaves it to retime. A region that is decided
// already is the same while its shape is.
const decide = (method) => {
  const [first, last] = range();
  if (marks.outline.length < 3) return edit({ do: "method", first, last, method });
  return edit({ do: "region", first, last, method, outline: marks.outline }).then((ok) => ok && method === "" && unshape());
};

// decideMotion has what lies in the shape go as the arrows say, in all frames between the two source
// frames around, and on until the range ends.
async function decideMotion() {
  if (marks.outline.length < 3) { notice("Draw a shape around the thing first, in the frame before."); return; }
  if (!marks.drawn.length) { notice("Draw an arrow first, from the thing in the frame before to the same thing in the frame after."); return; }
  try {
    choose("ground", "");
    await edit({ do: "motion", first: player.at, last: Math.max(player.at, timeline.range?.[1] ?? player.at), outline: marks.outline, arrows: marks.drawn });
  } catch (error) { complain(error); }
}

// select takes up a region that is decided, in the frames from first to last.
function select(region, first, last) {
  marks.outline = region.outline; marks.drawn = [...region.arrows ?? []];
  timeline.range = first === last ? null : [first, last];
  if (player.at < first || player.at > last) player.seek(first);
  ranged();
  marks.draw();
  drawn("shape");
}
const cutHere = (cut) => edit({ do: "cut", first: player.at, last: player.at, cut });

function adopt(next) {
  if (state && next.version < state.version) return;
  const first = !state, edited = first || next.version !== state.version;
  const retimed = first || next.frames !== state.frames || next.curve.set !== state.curve.set || JSON.stringify(next.source) !== JSON.stringify(state.source) || next.shutter !== state.shutter;
  const moment = retimed && !first ? sourceTime(player.at) : null;
  state = next;
  timeline.decided = new Set((state.decisions ?? []).map((d) => d.frame));
  if (retimed) {
    if (moment !== null) player.at = frameAt(moment); // the playhead stays where it is in the source
    timeline.begin(state.frames);
    timeline.at = Math.min(player.at, state.frames - 1);
    $("timeline").setAttribute("aria-valuemax", state.frames - 1);
    $("goto").max = state.frames - 1;
    timeline.range = null;
    ratings();
  }
  $("rate").checked = state.rates;
  curve.rate = state.rate;
  curve.set(state);
  panels.state(state);
  $("undo").disabled = !state.undo; $("redo").disabled = !state.redo;
  $("saved").textContent = state.undo || state.redo ? "Saved" : "";
  if (state.elsewhere) notice(state.elsewhere, true);
  if (edited) {
    frames.forget();
    player.frames = state.frames; player.rate = state.rate;
    player.seek(Math.min(player.at, state.frames - 1));
  }
  panels.at(player.at, range());
  timeline.draw();
}

async function ratings() {
  for (const r of await get("ratings")) timeline.rate(r);
  ratingsChanged();
}

let due = 0, asked = 0;
function ratingsChanged() {
  if (due) return;
  due = setTimeout(async () => {
    due = 0;
    timeline.draw();
    outlines();
    marks.draw();
    $("rated").textContent = timeline.known < timeline.frames ? `${timeline.known} of ${timeline.frames} rated` : "all rated";
    try {
      const mine = ++asked, list = await get("places");
      if (mine === asked) panels.worst(timeline, list.filter((k) => timeline.made(k)));
    } catch (error) { complain(error); }
  }, 200);
}

// Messages.

function notice(text, reload = false) {
  $("notice-text").textContent = text;
  $("notice-reload").hidden = !reload;
  $("notice").hidden = false;
}
function clearNotice() { if (!state.elsewhere) $("notice").hidden = true; }
function complain(error) {
  const elsewhere = error instanceof Refused && error.status === 409;
  $("saved").textContent = "Not saved";
  notice(error instanceof TypeError ? "retime review does not answer; start it again." : error.message, elsewhere);
}
$("notice-close").addEventListener("click", () => { $("notice").hidden = true; });
$("notice-reload").addEventListener("click", () => { $("notice").hidden = true; edit({ do: "reload" }); });

// Shapes.

function drawn(what) {
  if (what === "arrow") { arrowDrawn(); return; }
  const xs = marks.outline.map((p) => p[0]), ys = marks.outline.map((p) => p[1]);
  const set = (id, v) => { $(id).value = Math.round(v); };
  if (xs.length) { set("box-x", Math.min(...xs)); set("box-y", Math.min(...ys)); set("box-w", Math.max(...xs) - Math.min(...xs)); set("box-h", Math.max(...ys) - Math.min(...ys)); }
  panels.shape = marks.outline.length >= 3 ? marks.outline : null;
  panels.at(player.at, range());
}
// arrowDrawn decides at once if there is a shape, too.
function arrowDrawn() {
  const last = marks.drawn.at(-1) ?? [0, 0, 0, 0];
  ["arrow-x", "arrow-y", "arrow-u", "arrow-v"].forEach((id, i) => { $(id).value = last[i]; });
  if (marks.drawn.length && marks.outline.length >= 3) decideMotion();
}
// pull shows the frame after while an arrow is drawn.
function pull(on) { if (!player.playing) showGround(player.at, on ? "after" : ground() || "before"); }
function unshape() { marks.outline = []; marks.drawn = []; for (const id of ["box-x", "box-y", "box-w", "box-h"]) $(id).value = 0; marks.draw(); drawn("shape"); }
for (const id of ["box-x", "box-y", "box-w", "box-h"]) $(id).addEventListener("change", () => {
  const [x, y, w, h] = ["box-x", "box-y", "box-w", "box-h"].map((i) => Number($(i).value));
  marks.outline = w > 0 && h > 0 ? box([x, y], [x + w, y + h]) : [];
  marks.drawn = [];
  marks.draw();
  panels.shape = marks.outline.length >= 3 ? marks.outline : null;
  panels.at(player.at, range());
});
const paint = async (still) => {
  if (marks.outline.length < 3) { notice("Draw a rectangle or a lasso first, or fill in its numbers."); return; }
  if (await edit({ do: "mask", outline: marks.outline, still })) { unshape(); $("overlay").value = "mask"; overlay(); }
};

// Controls.

const act = {
  back: () => player.step(-1), step: () => player.step(1), first: () => player.seek(0), last: () => player.seek(state.frames - 1), play: () => player.toggle(),
  worse: () => jump(1), "worse-back": () => jump(-1),
  in: () => { timeline.range = [player.at, Math.max(player.at, timeline.range?.[1] ?? state.frames - 1)]; ranged(); },
  out: () => { timeline.range = [Math.min(player.at, timeline.range?.[0] ?? 0), player.at]; ranged(); },
  "no-range": () => { timeline.range = null; ranged(); },
  wider: () => timeline.zoom(2), closer: () => timeline.zoom(0.5),
};
for (const b of document.querySelectorAll("[data-do]")) b.addEventListener("click", () => { act[b.dataset.do](); if (b.dataset.do === "wider" || b.dataset.do === "closer") curve.draw(); });
function ranged() { player.range = timeline.range; timeline.draw(); panels.at(player.at, range()); }
// look goes to a frame and zooms to its worst place.
function look(k) {
  player.seek(k);
  const box = timeline.box.get(k);
  if (!box) return;
  $("zoom").value = stage.zoomFor(box);
  stage.arrange(chosen("layout"), $("zoom").value);
  stage.center(box);
}
function jump(step) {
  const k = timeline.next(player.at, step);
  if (k >= 0) look(k);
  else $("readout-how").textContent = timeline.known < timeline.frames ? "nothing doubtful that way among the frames rated so far" : "nothing doubtful that way";
}
const arrange = () => { stage.arrange(chosen("layout"), $("zoom").value); $("badge-other").textContent = $("against").selectedOptions[0].textContent; player.seek(player.at); marks.draw(); };
for (const i of document.querySelectorAll("input[name=layout]")) i.addEventListener("change", arrange);
$("against").addEventListener("change", () => { if (chosen("layout") === "single") choose("layout", "wipe"); else arrange(); });
$("zoom").addEventListener("change", arrange);
$("overlay").addEventListener("change", overlay);
$("pace").addEventListener("change", (e) => { player.pace = Number(e.target.value); });
$("sound").addEventListener("change", (e) => { sound.on = e.target.checked; });
$("loop").addEventListener("change", (e) => { player.loop = e.target.checked; });
$("goto").addEventListener("change", (e) => player.seek(Number(e.target.value)));
$("rate").addEventListener("change", (e) => post("rate", { on: e.target.checked }).catch(complain));
$("undo").addEventListener("click", () => edit({ do: "undo" }));
$("redo").addEventListener("click", () => edit({ do: "redo" }));
$("help").addEventListener("click", () => $("keys-dialog").showModal());
for (const b of document.querySelectorAll("[data-method]")) b.addEventListener("click", () => (b.dataset.method === "motion" ? decideMotion() : decide(b.dataset.method)));
for (const b of document.querySelectorAll("[data-cut]")) b.addEventListener("click", () => cutHere(JSON.parse(b.dataset.cut)));
$("clear").addEventListener("click", () => { const [first, last] = range(); edit({ do: "clear", first, last }); });
for (const i of document.querySelectorAll("input[name=shape]")) i.addEventListener("change", () => {
  marks.tool = chosen("shape");
  if (marks.tool === "arrow") choose("ground", "before");
  if (!marks.tool) choose("ground", "");
});
for (const i of document.querySelectorAll("input[name=ground]")) i.addEventListener("change", () => player.seek(player.at));
$("arrow-add").addEventListener("click", () => {
  marks.drawn.push(["arrow-x", "arrow-y", "arrow-u", "arrow-v"].map((id) => Number($(id).value)));
  marks.draw();
  arrowDrawn();
});
$("arrow-none").addEventListener("click", () => { marks.drawn = []; marks.draw(); arrowDrawn(); });
$("still").addEventListener("click", () => paint(true));
$("moving").addEventListener("click", () => paint(false));
$("unshape").addEventListener("click", unshape);
$("key-add").addEventListener("click", () => curve.add(sourceTime(player.at), 50));
$("key-none").addEventListener("click", () => edit({ do: "curve", keys: [] }));
$("own-preset").addEventListener("change", (e) => { const [first, last] = range(); edit({ do: "preset of", first, last, value: e.target.value }); });
$("own-shutter").addEventListener("change", (e) => { const [first, last] = range(); edit({ do: "shutter of", first, last, value: e.target.value }).then((ok) => { if (!ok) e.target.value = ownOf(player.at)?.shutter ?? ""; }); });
$("preset").addEventListener("change", (e) => edit({ do: "preset", value: e.target.value }));
$("shutter").addEventListener("change", (e) => edit({ do: "shutter", value: e.target.value || "0" }));

function sourceTime(k) {
  const n = state.source.length - 1, at = k / Math.max(state.frames - 1, 1) * n, i = Math.min(Math.floor(at), n - 1);
  return state.source[i] + (at - i) * (state.source[i + 1] - state.source[i]);
}

// frameAt returns the frame that shows a source time, if time runs forward.
function frameAt(time) {
  const s = state.source, n = s.length - 1;
  let i = s.findIndex((t) => t > time) - 1;
  if (i < 0) i = time < s[0] ? 0 : n - 1;
  const part = s[i + 1] > s[i] ? Math.min(Math.max((time - s[i]) / (s[i + 1] - s[i]), 0), 1) : 0;
  return Math.round((i + part) / n * (state.frames - 1));
}

async function render(overwrite = false) {
  try {
    const next = await post("render", { overwrite });
    if (next.render.exists && confirm(`${next.render.output} exists. Overwrite it?`)) { await render(true); return; }
    adopt(next);
    panels.render(next.render);
  } catch (error) { complain(error); }
}
$("render").addEventListener("click", () => render());
$("render-cancel").addEventListener("click", () => post("cancel", {}).catch(complain));

listen({
  ArrowLeft: act.back, ArrowRight: act.step, ",": act.back, ".": act.step, Home: act.first, End: act.last, " ": act.play, n: act.worse, p: act["worse-back"],
  j: () => player.shuttle(-1), k: () => player.stop(), l: () => player.shuttle(1), i: act.in, o: act.out, "\\": act["no-range"],
  v: () => choose("layout", "single"), w: () => choose("layout", "wipe"), s: () => choose("layout", "side"), d: () => choose("layout", "difference"),
  z: () => { $("zoom").value = $("zoom").value === "fit" ? "4" : "fit"; arrange(); },
  0: () => decide(""), 1: () => decide("interpolated"), 2: () => decide("blend"), 3: () => decide("nearest"), 4: () => decide("source"), 5: decideMotion,
  c: () => cutHere(true), x: () => cutHere(false), r: () => { panels.open("decide"); choose("shape", "rectangle"); }, g: () => { panels.open("decide"); choose("shape", "lasso"); },
  m: () => { panels.open("decide"); choose("shape", "arrow"); }, b: () => { panels.open("decide"); choose("ground", { "": "before", before: "after", after: "" }[chosen("ground")]); },
  Escape: () => { choose("shape", ""); unshape(); }, "Control+z": () => edit({ do: "undo" }), "Control+Shift+z": () => edit({ do: "redo" }), "?": () => $("keys-dialog").showModal(),
}, () => $("single-keys").checked);

// Begin.

try {
  player.at = Math.max(Number(location.hash.slice(1)) || 0, 0);
  adopt(await get("state"));
  document.body.dataset.ready = "true";
} catch (error) { complain(error); }
const events = new EventSource("events");
events.addEventListener("state", (e) => adopt(JSON.parse(e.data)));
events.addEventListener("render", (e) => panels.render(JSON.parse(e.data)));
events.addEventListener("ratings", (e) => { for (const r of JSON.parse(e.data)) timeline.rate(r); ratingsChanged(); });
events.addEventListener("hello", async () => { adopt(await get("state")); ratings(); });
events.addEventListener("bye", () => { events.close(); notice("retime review has ended. Everything was saved."); });
