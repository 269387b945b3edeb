// What is laid over the picture: shapes that are being drawn, regions, motion, masks.

const $ = (id) => document.getElementById(id);

export class Marks {
  outline = []; // of the shape that is drawn, in pixels of the picture
  drawn = []; // arrows of the shape: where they begin and where they end
  regions = []; // of the frame
  worst = null; // the worst place: left, top, width and height
  arrows = [];
  picture = null; // an image over all of the frame
  crop = null; // its part that counts, width and height
  #tool = "";
  #from = null;

  // changed is called with what was drawn, "shape" or "arrow", and pull when an arrow begins and ends.
  constructor(stage, changed, pull) {
    this.stage = stage;
    stage.resized = () => this.draw();
    const c = stage.marks;
    c.addEventListener("pointerdown", (e) => {
      if (!this.#tool || e.button > 0) return;
      c.setPointerCapture(e.pointerId);
      this.#from = stage.place(e);
      if (this.#tool === "arrow") { this.drawn.push([...this.#from, ...this.#from]); pull(true); } else this.outline = [this.#from];
      e.preventDefault();
    });
    c.addEventListener("pointermove", (e) => {
      if (!this.#from) return;
      const at = stage.place(e);
      if (this.#tool === "arrow") this.drawn.at(-1).splice(2, 2, ...at);
      else if (this.#tool === "rectangle") this.outline = box(this.#from, at);
      else if (Math.hypot(at[0] - this.outline.at(-1)[0], at[1] - this.outline.at(-1)[1]) * stage.scale >= 2) this.outline.push(at);
      this.draw();
    });
    const end = () => {
      if (!this.#from) return;
      this.#from = null;
      if (this.#tool === "arrow") {
        const [x, y, u, v] = this.drawn.pop().map(round);
        if (Math.hypot(u - x, v - y) * stage.scale >= 3) this.drawn.push([x, y, u, v]);
        this.draw();
        pull(false);
        changed("arrow");
        return;
      }
      if (this.outline.length < 3) this.outline = [];
      this.outline = thin(this.outline.map(([x, y]) => [round(x), round(y)]));
      this.drawn = [];
      this.draw();
      changed("shape");
    };
    c.addEventListener("pointerup", end);
    c.addEventListener("pointercancel", end);
  }

  set tool(name) {
    this.#tool = name;
    $("stage").classList.toggle("drawing", name !== "");
  }
  get tool() { return this.#tool; }

  draw() {
    const c = this.stage.marks, g = c.getContext("2d");
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, c.width, c.height);
    const thick = 1.5 / this.stage.scale;
    if (this.picture) {
      g.imageSmoothingEnabled = false;
      const [w, h] = this.crop ?? [this.picture.naturalWidth, this.picture.naturalHeight];
      g.globalAlpha = 0.8;
      g.drawImage(this.picture, 0, 0, w, h, 0, 0, c.width, c.height);
      g.globalAlpha = 1;
    }
    g.scale(this.stage.dots, this.stage.dots);
    for (const r of this.regions) {
      this.#shape(g, r.outline, "#5cc98b", thick, []);
      this.#flow(g, (r.arrows ?? []).map(arrow), thick, "#5cc98b");
    }
    if (this.worst) {
      const [x, y, w, h] = this.worst;
      this.#shape(g, box([x, y], [x + w, y + h]), "#ef6b5e", thick, [2 * thick, 3 * thick]);
    }
    this.#flow(g, this.arrows, thick, "#ffe08a");
    if (this.outline.length > 1) this.#shape(g, this.outline, "#f0b14a", thick, [5 * thick, 3 * thick]);
    this.#flow(g, this.drawn.map(arrow), thick, "#f0b14a");
  }

  #shape(g, outline, colour, thick, dash) {
    for (const [style, width, pattern] of [["rgb(0 0 0 / .7)", 3 * thick, []], [colour, 1.3 * thick, dash]]) {
      g.beginPath();
      outline.forEach(([x, y], i) => (i ? g.lineTo(x, y) : g.moveTo(x, y)));
      g.closePath();
      g.lineWidth = width; g.strokeStyle = style; g.setLineDash(pattern);
      g.stroke();
    }
    g.setLineDash([]);
  }

  #flow(g, arrows, thick, colour) {
    if (!arrows.length) return;
    for (const [style, width] of [["rgb(0 0 0 / .75)", 3 * thick], [colour, 1.2 * thick]]) {
      g.beginPath();
      for (const { x, y, dx, dy } of arrows) {
        const length = Math.hypot(dx, dy);
        if (length < 0.25) { g.rect(x, y, thick, thick); continue; }
        const head = Math.min(length * 0.4, 6 * thick), ux = dx / length, uy = dy / length;
        g.moveTo(x, y); g.lineTo(x + dx, y + dy);
        g.lineTo(x + dx - head * (ux + 0.6 * uy), y + dy - head * (uy - 0.6 * ux));
        g.moveTo(x + dx, y + dy);
        g.lineTo(x + dx - head * (ux - 0.6 * uy), y + dy - head * (uy + 0.6 * ux));
      }
      g.lineWidth = width; g.strokeStyle = style;
      g.stroke();
    }
  }
}

const arrow = ([x, y, u, v]) => ({ x, y, dx: u - x, dy: v - y });
const round = (v) => Math.round(v * 10) / 10;

export function box([x0, y0], [x1, y1]) { return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]; }

// thin leaves out corners until no more are left than the server takes.
function thin(outline) {
  while (outline.length > 1000) outline = outline.filter((_, i) => i % 2 === 0);
  return outline;
}
