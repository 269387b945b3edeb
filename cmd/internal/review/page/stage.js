// The picture: the retimed frame, what it is compared with, and what is laid over both.

const $ = (id) => document.getElementById(id);

export class Stage {
  layout = "single";
  zoom = "fit";
  split = 50; // per cent from the left
  resized = null; // is called when marks are to be drawn again
  dots = 1; // of the screen for a pixel of the picture
  #made = null;
  #other = null;

  constructor() {
    this.stage = $("stage"); this.sheet = $("sheet"); this.marks = $("marks");
    this.canvases = { made: $("made"), other: $("other") };
    new ResizeObserver(() => this.#size()).observe(this.stage);
    const divider = $("divider");
    divider.addEventListener("pointerdown", (e) => divider.setPointerCapture(e.pointerId));
    divider.addEventListener("pointermove", (e) => {
      if (!divider.hasPointerCapture(e.pointerId)) return;
      const box = this.canvases.made.getBoundingClientRect();
      this.wipe(100 * (e.clientX - box.left) / box.width);
    });
    $("wipe").addEventListener("input", (e) => this.wipe(Number(e.target.value)));
  }

  get width() { return this.#made?.image.width ?? 16; }
  get height() { return this.#made?.image.height ?? 9; }

  wipe(percent) {
    this.split = Math.min(Math.max(percent, 0), 100);
    $("wipe").value = this.split;
    $("divider").style.left = `${this.split}%`;
    this.canvases.other.style.clipPath = this.layout === "wipe" ? `inset(0 ${100 - this.split}% 0 0)` : "";
  }

  arrange(layout, zoom) {
    this.layout = layout; this.zoom = zoom;
    this.sheet.classList.toggle("beside", layout === "side");
    this.canvases.other.hidden = layout === "single" || layout === "difference";
    $("divider").hidden = $("wiper").hidden = layout !== "wipe";
    $("badge-other").hidden = layout === "single";
    this.wipe(this.split);
    this.#size();
    this.#draw();
  }

  // show draws frames; other may be null while it is not there.
  show(made, other) {
    this.#made = made; this.#other = other;
    this.#draw();
    this.#size();
  }

  #draw() {
    if (!this.#made) return;
    const paint = (canvas, image) => {
      if (canvas.width !== image.width || canvas.height !== image.height) { canvas.width = image.width; canvas.height = image.height; }
      canvas.getContext("2d").putImageData(image, 0, 0);
    };
    const differ = this.layout === "difference" && this.#other;
    paint(this.canvases.made, differ ? difference(this.#made.image, this.#other.image) : this.#made.image);
    this.canvases.made.dataset.frame = this.#made.number;
    this.canvases.made.dataset.view = this.#made.view;
    this.canvases.made.dataset.digest = this.#made.digest;
    if (this.#other) {
      paint(this.canvases.other, this.#other.image);
      this.canvases.other.dataset.frame = this.#other.number;
      this.canvases.other.dataset.view = this.#other.view;
    }
  }

  #size() {
    const across = this.layout === "side" ? 2 : 1;
    const room = this.stage;
    const fit = Math.min((room.clientWidth - 4 * (across - 1)) / (across * this.width), room.clientHeight / this.height);
    const dots = window.devicePixelRatio || 1;
    const scale = this.zoom === "fit" ? fit : Number(this.zoom) / dots;
    this.scale = scale;
    this.sheet.classList.toggle("pixels", scale * dots >= 1.5);
    for (const c of [...Object.values(this.canvases), this.marks]) {
      c.style.width = `${Math.max(this.width * scale, 1)}px`;
      c.style.height = `${Math.max(this.height * scale, 1)}px`;
    }
    // Marks are drawn in the screen's dots, however large the picture's pixels are.
    this.dots = Math.min(scale * dots, 4096 / this.width, 4096 / this.height);
    const wide = Math.max(Math.round(this.width * this.dots), 1), high = Math.max(Math.round(this.height * this.dots), 1);
    if (this.marks.width !== wide || this.marks.height !== high) { this.marks.width = wide; this.marks.height = high; this.resized?.(); }
  }

  // zoomFor returns the zoom at which a box, left, top, width and height, fills a third of the view; a smaller one
  // than that if there is none.
  zoomFor([, , w, h]) {
    const dots = window.devicePixelRatio || 1, most = Math.min(this.stage.clientWidth / w, this.stage.clientHeight / h) / 3 * dots;
    return ["8", "4", "2", "1"].find((z) => Number(z) <= most && this.width * Number(z) / dots > this.stage.clientWidth) ?? "fit";
  }

  // center scrolls a box into the middle.
  center([x, y, w, h]) {
    this.stage.scrollTo((x + w / 2) * this.scale - this.stage.clientWidth / 2, (y + h / 2) * this.scale - this.stage.clientHeight / 2);
  }

  // place returns the pixel of the picture under a pointer.
  place(event) {
    const box = this.marks.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * this.width, y = (event.clientY - box.top) / box.height * this.height;
    return [Math.min(Math.max(x, 0), this.width), Math.min(Math.max(y, 0), this.height)];
  }
}

// difference returns how two pictures differ, eight times as strong, over grey.
function difference(a, b) {
  const out = new ImageData(a.width, a.height);
  if (a.width !== b.width || a.height !== b.height) return out;
  const p = a.data, q = b.data, d = out.data;
  for (let i = 0; i < p.length; i += 4) {
    d[i] = 128 + 8 * (p[i] - q[i]);
    d[i + 1] = 128 + 8 * (p[i + 1] - q[i + 1]);
    d[i + 2] = 128 + 8 * (p[i + 2] - q[i + 2]);
    d[i + 3] = 255;
  }
  return out;
}
