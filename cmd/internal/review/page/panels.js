// The tools beside the picture.

import { get } from "./api.js";
import { lines } from "./curve.js";
import { Kept, arrange, change, element } from "./list.js";

const $ = (id) => document.getElementById(id);

const names = ["find", "why", "decide", "render"];
// What a drawing's name is in the list of overlays.
const overlays = { "flow-forward.png": "flow", "holes.png": "holes", "hypotheses.png": "hypotheses", "confidence.png": "confidence", "visibility.png": "visibility" };

export class Panels {
  shape = null; // the outline that is drawn or selected
  opened = names[0];
  #answer = null; // why of a frame: {number, version, promise}
  #version = 0;
  #abort = null;
  #worst = new Kept();

  constructor(to) {
    this.to = to;
    for (const name of names) {
      const tab = $(`tab-${name}`);
      tab.addEventListener("click", () => this.open(name));
      tab.addEventListener("keydown", (e) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        const next = by ? names[(names.indexOf(name) + by + names.length) % names.length] : { Home: names[0], End: names.at(-1) }[e.key];
        if (!next) return;
        e.preventDefault();
        this.open(next);
        $(`tab-${next}`).focus();
      });
    }
    $("copy").addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText($("command").textContent);
      } catch { // the browser does not let the page write there
        getSelection().selectAllChildren($("command"));
      }
      $("copy").textContent = "Copied";
      setTimeout(() => { $("copy").textContent = "Copy"; }, 1500);
    });
    for (const hint of document.querySelectorAll(".hint")) {
      const hide = element("button", { type: "button", textContent: "Got it" });
      hide.setAttribute("aria-label", `Got it: ${hint.textContent}`);
      hide.addEventListener("click", () => hint.remove());
      hint.append(" ", hide);
    }
  }

  open(name) {
    this.opened = name;
    for (const n of names) {
      const on = n === name;
      $(`tab-${n}`).setAttribute("aria-selected", on);
      $(`tab-${n}`).tabIndex = on ? 0 : -1;
      $(`panel-${n}`).hidden = !on;
    }
    if (name === "why") this.why(this.number);
    this.to.opened();
  }

  at(number, [first, last]) {
    this.number = number;
    const place = first === last ? `frame ${first}` : `frames ${first} to ${last}`;
    $("about").textContent = this.shape ? `the drawn region in ${place}` : place;
    const own = this.decisions?.get(number);
    const way = (this.shape ? own?.regions?.find((r) => same(r.outline, this.shape)) : own)?.method ?? "";
    for (const b of document.querySelectorAll("[data-method]")) b.setAttribute("aria-pressed", way === b.dataset.method);
    for (const b of $("regions").querySelectorAll(".region")) b.setAttribute("aria-pressed", Boolean(this.shape) && b.dataset.outline === JSON.stringify(this.shape));
    for (const b of document.querySelectorAll("[data-cut]")) b.setAttribute("aria-pressed", String(own?.cut ?? null) === b.dataset.cut);
    $("own-preset").value = own?.preset ?? "";
    if (document.activeElement !== $("own-shutter")) $("own-shutter").value = own?.shutter ?? "";
  }

  state(s) {
    this.#version = s.version;
    this.decisions = new Map((s.decisions ?? []).map((d) => [d.frame, d]));
    this.preset = s.preset;
    $("preset").value = s.preset;
    if (document.activeElement !== $("shutter")) $("shutter").value = Number(s.shutter);
    $("command").textContent = s.command;
    $("files").replaceChildren(...(s.files.length ? s.files.map((f) => element("li", { textContent: f })) : [element("li", { className: "soft", textContent: "No edits yet." })]));
    this.#keys();
    this.#regions();
    this.render(s.render);
  }

  // regions lists what is decided about regions: their way, and the frames that have them.
  #regions() {
    const list = [];
    for (const d of this.decisions.values()) for (const r of d.regions ?? []) {
      const run = list.find((o) => o.last === d.frame - 1 && o.region.method === r.method && same(o.region.outline, r.outline));
      if (run) run.last = d.frame; else list.push({ region: r, first: d.frame, last: d.frame });
    }
    $("regions-none").hidden = list.length > 0;
    $("regions").replaceChildren(...list.map(({ region, first, last }) => {
      const xs = region.outline.map((p) => p[0]), ys = region.outline.map((p) => p[1]);
      const size = `${Math.round(Math.max(...xs) - Math.min(...xs))}x${Math.round(Math.max(...ys) - Math.min(...ys))} at ${Math.round(Math.min(...xs))},${Math.round(Math.min(...ys))}`;
      const text = `${region.method}, ${first === last ? `frame ${first}` : `frames ${first} to ${last}`}, ${size}`;
      const choose = element("button", { type: "button", className: "region", textContent: text });
      choose.dataset.outline = JSON.stringify(region.outline);
      choose.addEventListener("click", () => this.to.select(region, first, last));
      const remove = element("button", { type: "button", textContent: "×" });
      remove.setAttribute("aria-label", `Remove the region: ${text}`);
      remove.addEventListener("click", () => this.to.edit({ do: "region", first, last, method: "", outline: region.outline }));
      return element("li", {}, choose, remove);
    }));
  }

  #keys() {
    const { curve } = this.to, body = $("keys").tBodies[0];
    $("curve-fixed").hidden = curve.editable;
    $("keys").hidden = !curve.keys.length;
    $("key-add").disabled = !curve.editable || !curve.duration;
    body.replaceChildren(...curve.keys.map((k, i) => {
      const field = (value, label, props) => { const f = element("input", { type: "number", value, ...props }); f.setAttribute("aria-label", label); return f; };
      const at = field(k.source.toFixed(2), `Keyframe ${i + 1}, seconds`, { min: 0, step: 0.01, disabled: k.end || i === 0 });
      const speed = field(k.speed, `Keyframe ${i + 1}, speed in per cent`, { step: 1 });
      const shape = element("select", {}, ...["linear", "smooth", "hold"].map((v) => element("option", { textContent: v, selected: v === k.shape })));
      shape.setAttribute("aria-label", `Keyframe ${i + 1}, way to the next`);
      const remove = element("button", { type: "button", textContent: "×" });
      remove.setAttribute("aria-label", `Remove keyframe ${i + 1}`);
      remove.addEventListener("click", () => curve.remove(i));
      for (const f of [at, speed, shape]) f.addEventListener("change", () => {
        const keys = curve.keys.map((other, j) => (j === i ? { ...other, source: k.end ? k.source : Number(at.value), speed: Number(speed.value), shape: shape.value } : other));
        this.to.edit({ do: "curve", keys: lines(keys) });
      });
      return element("tr", {}, ...[at, speed, shape, remove].map((f) => element("td", {}, f)));
    }));
  }

  // worst lists frames, those with the worst places among the frames that are rated.
  worst(timeline, list) {
    const nothing = !list.some((k) => timeline.doubtful(k));
    $("worst-none").hidden = !nothing;
    $("worst-none").textContent = timeline.known < timeline.frames ? "Nothing doubtful so far; frames are rated while nothing else is made." : "Nothing in this clip is doubtful; these are its lowest.";
    const shown = this.#worst.all(list, (k) => {
      const b = element("button", { type: "button" }, element("img", { alt: "", width: 96, height: 54, loading: "lazy" }),
        element("div", {}, element("b", { textContent: `Frame ${k}` }), element("span")));
      b.dataset.frame = k;
      b.addEventListener("click", () => this.to.look(k));
      return element("li", {}, b);
    });
    list.forEach((k, i) => {
      change(shown[i].querySelector("img"), { src: `thumbnail?frame=${k}&version=${this.#version}` });
      change(shown[i].querySelector("span"), { textContent: `${timeline.rating[k].toFixed(2)}${timeline.box.has(k) ? ` at ${timeline.box.get(k).slice(0, 2).join()}` : ""}${timeline.doubtful(k) ? ", doubtful" : ""}${timeline.final(k) || this.preset === "fast" ? "" : ", at preset fast"}` });
    });
    arrange($("worst"), shown);
  }

  // ask returns how a frame was made.
  ask(number) {
    if (this.#answer?.number === number && this.#answer.version === this.#version) return this.#answer.promise;
    this.#abort?.abort();
    this.#abort = new AbortController();
    const answer = { number, version: this.#version, promise: get(`why?frame=${number}`, this.#abort.signal) };
    answer.promise.catch(() => { if (this.#answer === answer) this.#answer = null; });
    this.#answer = answer;
    return answer.promise;
  }

  async why(number) {
    if ($("panel-why").hidden) return;
    let why;
    try {
      why = await this.ask(number);
    } catch (error) {
      if (error.name !== "AbortError") $("sentence").textContent = error.message;
      return;
    }
    if (this.number !== number) return;
    const r = why.record;
    $("sentence").textContent = why.sentence;
    const rows = [["between", r.sources.length > 1 ? `source frames ${r.sources[0]} and ${r.sources[1]}, at ${(100 * r.phase).toFixed(0)} %` : `source frame ${r.sources[0]}`],
      ["made as", r.method], ["confidence", r.confidence.toFixed(3)], ["error", `${r.error.toFixed(2)} grey levels`], ["holes", `${r.holes.toFixed(2)} %`],
      ["flows disagree", `${r.lost.toFixed(2)} %`], ["cut score", r.cut_score.toFixed(3)]];
    $("numbers").replaceChildren(...rows.flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value })]));
    $("drawings").replaceChildren(...why.drawings.filter((d) => d.name !== "2-made.png").map((d) => {
      const source = `drawing?frame=${number}&name=${d.name}&version=${this.#version}`;
      const parts = [element("img", { src: source, alt: "", loading: "lazy" }), element("span", { textContent: d.about })];
      const b = overlays[d.name] ? element("button", { type: "button" }, ...parts) : element("div", {}, ...parts);
      if (overlays[d.name]) {
        b.setAttribute("aria-pressed", $("overlay").value === overlays[d.name]);
        b.addEventListener("click", () => {
          const on = $("overlay").value !== overlays[d.name];
          this.to.overlay(on ? overlays[d.name] : "");
          for (const other of $("drawings").querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", other === b && on);
        });
      }
      return b;
    }));
  }

  render(r) {
    $("render").disabled = r.state === "running";
    $("render-cancel").disabled = r.state !== "running";
    $("render-bar").value = r.total ? r.frames / r.total : 0;
    const kept = r.segments ? `${r.kept} of ${r.segments} parts kept` : "";
    const left = r.left >= 0 ? `${span(r.left)} left` : "";
    $("render-status").dataset.state = r.state;
    $("render-status").textContent = {
      idle: r.exists ? `${r.output} exists and was not overwritten.` : "Not rendered in this session.",
      running: [r.doing, r.total ? `${r.frames} of ${r.total} frames` : "", kept, left].filter(Boolean).join(", "),
      done: [`Rendered ${r.total} frames in ${span(r.seconds)}`, kept].filter(Boolean).join(", ") + (r.version < this.#version ? ". Edits since then are not in it." : "."),
      failed: r.error, cancelled: "Cancelled. The parts that are whole are kept for the next time.",
    }[r.state];
  }
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const span = (s) => (s >= 90 ? `${Math.round(s / 60)} min` : `${s.toFixed(s < 10 ? 1 : 0)} s`);
