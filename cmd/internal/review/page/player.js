// The playhead: steps, playback, loops.

const rest = 160; // ms until a playhead that does not move rests

export class Player {
  at = 0;
  frames = 1;
  rate = 25;
  pace = 1;
  loop = false;
  range = null;
  #speed = 0; // -4 to 4, 0 for a stop
  #timer = 0;
  #run = 0;

  // shown is called with the pace at which frames follow each other, negative backward, once a frame of them is shown, and with 0 at a stop.
  constructor({ show, tick, shown }) { this.show = show; this.tick = tick; this.shown = shown; }

  // seek goes to a frame. While somebody scrubs, frames come quickly, and well once they rest.
  seek(number, scrubbing = false) {
    this.#speed = 0;
    this.shown(0);
    this.#button();
    this.#go(number);
    clearTimeout(this.#timer);
    if (!scrubbing) { this.show(this.at, true); return; }
    this.show(this.at, false);
    this.#timer = setTimeout(() => this.show(this.at, true), rest);
  }

  get playing() { return this.#speed !== 0; }

  step(by) { this.seek(this.at + by); }

  toggle() { if (this.#speed) this.stop(); else this.shuttle(1); }

  stop() {
    if (!this.#speed) return;
    this.seek(this.at);
  }

  // shuttle plays; again in the same direction is twice as fast.
  shuttle(direction) {
    const was = this.#speed;
    this.#speed = Math.sign(was) === direction ? Math.max(-4, Math.min(4, was * 2)) : direction;
    this.#button();
    if (!was) this.#play();
  }

  #go(number) {
    this.at = Math.min(Math.max(Math.round(number), 0), this.frames - 1);
    this.tick(this.at);
  }

  #button() { document.getElementById("play").textContent = this.#speed ? "Stop" : "Play"; }

  async #play() {
    const run = ++this.#run;
    let due = performance.now();
    while (this.#speed && run === this.#run) {
      const [first, last] = this.range ?? [0, this.frames - 1];
      let next = this.at + Math.sign(this.#speed);
      if (this.loop || this.range) {
        if (next > last) next = this.loop ? first : last;
        if (next < first) next = this.loop ? last : first;
      }
      if (next < 0 || next >= this.frames || next === this.at) { this.stop(); return; }
      this.#go(next);
      if (!await this.show(this.at, false)) { if (run === this.#run && this.#speed) this.stop(); return; }
      if (run === this.#run && this.#speed) this.shown(this.pace * this.#speed);
      due = Math.max(due + 1000 / (this.rate * this.pace * Math.abs(this.#speed)), performance.now());
      await new Promise((done) => setTimeout(done, Math.max(due - performance.now(), 0)));
    }
  }
}
