// The speed curve below the timeline: keyframes to drag, on the timeline's scale.

import { sharp, colours } from "./timeline.js";

const slowest = 5, fastest = 400; // per cent

export class Curve {
  keys = []; // {source, speed, shape}: seconds, per cent
  duration = 0;
  editable = true;
  source = []; // times of evenly spread frames
  #held = -1;

  constructor(canvas, timeline, commit) {
    this.canvas = canvas; this.timeline = timeline; this.commit = commit;
    canvas.addEventListener("pointerdown", (e) => {
      if (!this.editable) return;
      this.#held = this.#near(e);
      if (this.#held >= 0) canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (this.#held < 0) { canvas.style.cursor = this.#near(e) >= 0 ? "grab" : "crosshair"; return; }
      this.#move(e);
      this.draw();
    });
    const drop = () => {
      if (this.#held < 0) return;
      this.#held = -1;
      commit(this.keys);
    };
    canvas.addEventListener("pointerup", drop);
    canvas.addEventListener("pointercancel", drop);
    canvas.addEventListener("dblclick", (e) => {
      if (!this.editable || this.#near(e) >= 0) return;
      const [x, y] = this.#place(e);
      this.add(this.#time(x), this.#speed(y));
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.draw());
  }

  set(state) {
    this.editable = state.curve.keys !== null;
    this.duration = state.curve.duration;
    this.source = state.source;
    this.keys = (state.curve.keys ?? []).map((k) => ({ source: k.source === "end" ? this.duration : Number(k.source), end: k.source === "end", speed: parseFloat(k.speed), shape: k.shape || "linear" }));
    this.draw();
  }

  // add puts a keyframe at a source time; the first one brings those at both ends along.
  add(time, speed) {
    const keys = this.keys.length ? this.keys : [
      { source: 0, end: false, speed: 100, shape: "smooth" }, { source: this.duration, end: true, speed: 100, shape: "linear" }];
    time = Math.min(Math.max(time, 0.001), this.duration - 0.001);
    if (keys.some((k) => Math.abs(k.source - time) < 0.001)) return;
    this.keys = [...keys, { source: time, end: false, speed, shape: "smooth" }].sort((a, b) => a.source - b.source);
    this.commit(this.keys);
  }

  remove(i) { this.commit(this.keys.length <= 2 ? [] : this.keys.filter((_, j) => j !== i)); }

  #place(e) { const box = this.canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; }

  #near(e) {
    const [x, y] = this.#place(e);
    let best = -1, least = 12;
    this.keys.forEach((k, i) => {
      const d = Math.hypot(this.#x(k.source) - x, this.#y(k.speed) - y);
      if (d < least) { best = i; least = d; }
    });
    return best;
  }

  #move(e) {
    const [x, y] = this.#place(e), k = this.keys[this.#held];
    k.speed = Math.round(this.#speed(y));
    if (this.#held > 0 && !k.end) {
      const low = this.keys[this.#held - 1].source + 0.01, high = (this.keys[this.#held + 1]?.source ?? this.duration) - 0.01;
      k.source = Math.round(Math.min(Math.max(this.#time(x), low), high) * 1000) / 1000;
    }
  }

  // The frames' source times, which rise, tell where a source time lies.
  #x(time) {
    const s = this.source, n = s.length - 1;
    let lo = 0, hi = n;
    while (hi - lo > 1) { const m = (lo + hi) >> 1; if (s[m] <= time) lo = m; else hi = m; }
    const part = s[hi] > s[lo] ? Math.min(Math.max((time - s[lo]) / (s[hi] - s[lo]), 0), 1.5) : 0;
    return Math.min(this.timeline.x((lo + part) / n * (this.timeline.frames - 1) + 0.5), this.canvas.clientWidth - 6);
  }

  #time(x) {
    const t = this.timeline, n = this.source.length - 1;
    const k = t.view[0] + x / this.canvas.clientWidth * (t.view[1] - t.view[0]);
    const at = Math.min(Math.max(k / Math.max(t.frames - 1, 1), 0), 1) * n, i = Math.min(Math.floor(at), n - 1);
    return this.source[i] + (at - i) * (this.source[i + 1] - this.source[i]);
  }

  #y(speed) {
    const h = this.canvas.clientHeight - 16, v = Math.min(Math.max(Math.abs(speed), slowest), fastest);
    return 8 + h * (1 - Math.log(v / slowest) / Math.log(fastest / slowest));
  }

  #speed(y) {
    const h = this.canvas.clientHeight - 16;
    return slowest * (fastest / slowest) ** Math.min(Math.max(1 - (y - 8) / h, 0), 1);
  }

  draw() {
    if (this.source.length < 2 || !this.canvas.clientWidth) return;
    const { g, width, height } = sharp(this.canvas), colour = colours(this.canvas);
    g.clearRect(0, 0, width, height);
    g.font = "11px system-ui, sans-serif";
    for (const v of [10, 30, 100, 300]) {
      const y = Math.round(this.#y(v)) + 0.5;
      g.strokeStyle = colour("--line"); g.beginPath(); g.moveTo(0, y); g.lineTo(width, y); g.stroke();
      g.fillStyle = colour("--soft"); g.fillText(`${v}%`, 12, y - 3);
    }
    const line = new Path2D(), t = this.timeline, n = this.source.length - 1;
    if (this.keys.length) this.keys.forEach((k, i) => {
      const x = this.#x(k.source), y = this.#y(k.speed);
      if (!i) { line.moveTo(x, y); return; }
      const before = this.keys[i - 1], x0 = this.#x(before.source), y0 = this.#y(before.speed);
      if (before.shape === "hold") { line.lineTo(x, y0); line.lineTo(x, y); }
      else if (before.shape === "smooth") line.bezierCurveTo((x0 + x) / 2, y0, (x0 + x) / 2, y, x, y);
      else line.lineTo(x, y);
    });
    else {
      for (let i = 1; i <= n; i++) { // what the source times of the frames say
        const seconds = (t.frames - 1) / n / this.rate, speed = Math.abs((this.source[i] - this.source[i - 1]) / seconds) * 100;
        const x = t.x(i / n * (t.frames - 1));
        if (i === 1) line.moveTo(t.x(0), this.#y(speed));
        line.lineTo(x, this.#y(speed));
      }
    }
    g.strokeStyle = colour("--accent"); g.lineWidth = 1.5; g.stroke(line);
    this.keys.forEach((k, i) => {
      g.beginPath(); g.arc(this.#x(k.source), this.#y(k.speed), i === this.#held ? 6 : 4.5, 0, 7);
      g.fillStyle = colour("--panel"); g.fill(); g.lineWidth = 2; g.stroke();
      if (i === this.#held) { g.fillStyle = colour("--ink"); g.fillText(`${k.speed}% at ${k.source.toFixed(2)} s`, Math.min(this.#x(k.source) + 10, width - 110), this.#y(k.speed) < 24 ? this.#y(k.speed) + 16 : this.#y(k.speed) - 8); }
    });
  }
}

// lines returns keyframes as the server takes them.
export const lines = (keys) => keys.map((k) => ({ source: k.end ? "end" : k.source.toFixed(3), speed: `${k.speed}%`, shape: k.shape }));
