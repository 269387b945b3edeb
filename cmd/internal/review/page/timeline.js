// The timeline: what is known of every frame, and the playhead.

export class Timeline {
  frames = 0;
  at = 0;
  range = null; // [first, last]
  decided = new Set();
  view = [0, 1]; // the frames that are shown, from and to
  known = 0;

  constructor(canvas, seek) {
    this.canvas = canvas;
    const go = (e) => seek(this.number(e));
    canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); go(e); });
    canvas.addEventListener("pointermove", (e) => { if (canvas.hasPointerCapture(e.pointerId)) go(e); });
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.draw());
  }

  // begin makes room for a number of frames, of which nothing is known.
  begin(frames) {
    this.frames = frames;
    this.view = [0, frames];
    this.forget();
  }

  forget() {
    this.known = 0;
    this.rating = new Float32Array(this.frames).fill(NaN);
    this.box = new Map(); // of the worst place, by frame
    this.flags = new Uint8Array(this.frames);
  }

  rate(r) {
    if (r.frame >= this.frames) return;
    if (Number.isNaN(this.rating[r.frame])) this.known++;
    this.rating[r.frame] = r.rating;
    if (r.box) this.box.set(r.frame, r.box); else this.box.delete(r.frame);
    this.flags[r.frame] = (r.cut ? cut : 0) | (r.fallback ? fallback : 0) | (r.repeated ? repeated : 0) | (r.speckle >= 400 ? speckle : 0) | (r.method !== "source" ? made : 0) | (r.final ? final : 0);
  }

  // made reports whether a frame is rated, and was made from motion.
  made(k) { return Boolean(this.flags[k] & made) && !(this.flags[k] & cut); }

  // final reports whether a frame is rated as it will be rendered.
  final(k) { return Boolean(this.flags[k] & final); }

  doubtful(k) { return this.made(k) && (this.rating[k] < doubtfulBelow || Boolean(this.flags[k] & speckle)); }

  // next returns the first frame of the next doubtful place in a direction, -1 for none.
  next(from, step) {
    let k = from + step;
    if (this.doubtful(from)) { // leave the place; a frame or two that were shot do not part it
      for (let gap = 0; gap <= 2 && k >= 0 && k < this.frames; k += step) gap = this.doubtful(k) ? 0 : gap + 1;
    }
    for (; k >= 0 && k < this.frames; k += step) if (this.doubtful(k)) return k;
    return -1;
  }

  zoom(factor) {
    const width = Math.min(Math.max((this.view[1] - this.view[0]) * factor, 24), this.frames);
    const from = Math.min(Math.max(this.at - width / 2, 0), this.frames - width);
    this.view = [from, from + width];
    this.draw();
  }

  number(e) {
    const box = this.canvas.getBoundingClientRect();
    const k = Math.floor(this.view[0] + (e.clientX - box.left) / box.width * (this.view[1] - this.view[0]));
    return Math.min(Math.max(k, 0), this.frames - 1);
  }

  x(k) { return (k - this.view[0]) / (this.view[1] - this.view[0]) * this.canvas.clientWidth; }

  // reveal moves the view so that the playhead is in it.
  reveal() {
    const width = this.view[1] - this.view[0];
    if (this.at >= this.view[0] && this.at < this.view[1]) return;
    const from = Math.min(Math.max(this.at - width / 2, 0), this.frames - width);
    this.view = [from, from + width];
  }

  draw() {
    if (!this.frames) return;
    this.reveal();
    const { g, width, height } = sharp(this.canvas);
    const colour = colours(this.canvas);
    const [from, to] = this.view, each = (to - from) / width;
    const top = 14, bottom = height - 12, deep = bottom - top;
    g.clearRect(0, 0, width, height);
    if (this.range) {
      g.fillStyle = colour("--line");
      g.fillRect(this.x(this.range[0]), 0, Math.max(this.x(this.range[1] + 1) - this.x(this.range[0]), 1), height);
    }
    g.fillStyle = colour("--line");
    for (const level of [doubtfulBelow, 1]) g.fillRect(0, Math.round(bottom - level * deep), width, 1);
    for (let x = 0; x < width; x++) {
      const first = Math.floor(from + x * each), last = Math.max(Math.ceil(from + (x + 1) * each), first + 1);
      let lowest = Infinity, flags = 0, decided = false;
      for (let k = first; k < last && k < this.frames; k++) {
        if (this.rating[k] < lowest && !(this.flags[k] & cut)) lowest = this.rating[k];
        flags |= this.flags[k];
        decided ||= this.decided.has(k);
      }
      if (lowest <= 1) {
        const h = Math.max(lowest * deep, 2);
        g.fillStyle = colour(lowest < doubtfulBelow / 2 ? "--bad" : lowest < doubtfulBelow ? "--doubt" : "--good");
        g.fillRect(x, bottom - h, 1, h);
      }
      if (flags & cut && !((this.flags[first - 1] ?? 0) & cut && x > 0)) { g.fillStyle = colour("--cut"); g.fillRect(x + Math.min(0.5 / each, 8) - 1, top, 2, deep); }
      if (flags & fallback) { g.fillStyle = colour("--bad"); g.fillRect(x, 2, 1, 4); }
      if (flags & speckle) { g.fillStyle = colour("--speckle"); g.fillRect(x, 7, 1, 4); }
      if (flags & repeated) { g.fillStyle = colour("--repeat"); g.fillRect(x, bottom + 2, 1, 3); }
      if (decided) { g.fillStyle = colour("--decided"); g.fillRect(x, bottom + 7, 1, 4); }
    }
    const x = Math.round(this.x(this.at + 0.5));
    g.fillStyle = colour("--accent");
    g.fillRect(x - 1, 0, 2, height);
    g.beginPath(); g.moveTo(x - 5, 0); g.lineTo(x + 5, 0); g.lineTo(x, 7); g.fill();
  }
}

const doubtfulBelow = 0.2; // as the server has it
const cut = 1, fallback = 2, repeated = 4, speckle = 8, made = 16, final = 32;

// sharp fits a canvas to its place on the screen.
export function sharp(canvas) {
  const dots = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
    canvas.width = Math.round(width * dots); canvas.height = Math.round(height * dots);
  }
  const g = canvas.getContext("2d");
  g.setTransform(dots, 0, 0, dots, 0, 0);
  return { g, width, height };
}

// colours returns a function that tells a colour of the style sheet.
export function colours(element) {
  const style = getComputedStyle(element), found = {};
  return (name) => (found[name] ??= style.getPropertyValue(name).trim());
}
