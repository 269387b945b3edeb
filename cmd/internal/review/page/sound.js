// The source's own sound, while the frames keep step with time.

const length = 20; // seconds of an answer
const slack = 0.12; // seconds by which the sound may lie beside the frames
const settling = 0.3; // seconds for which frames must keep step before sound begins
const slowest = 1 / 16, fastest = 8; // of the speeds that are played

export class Sound {
  #context = null;
  #parts = new Map(); // by their first second: a promise of a buffer, null for none
  #playing = null; // {node, from}
  #step = null; // {at, time, speed, since}: a frame that was in step, in seconds of the clock, and of the source
  #on = true;
  #late = 0; // timer that ends the sound if the next frame is late
  silent = false; // the clip has no sound

  // changed is called with "playing" or "off"; load returns a part as WAV, null if there is no sound.
  constructor(changed, load = wav) { this.changed = changed; this.load = load; }

  set on(v) { this.#on = v; if (!v) this.stop(); }

  // follow says that a frame of a source time is shown now, while time goes by at a speed, and the next is due after a
  // period in seconds. Sound plays at that speed; it is silent until frames have kept step for a while, and once one is late.
  async follow(time, speed, period, now = performance.now() / 1000) {
    clearTimeout(this.#late);
    if (!this.#on || this.silent || !(speed >= slowest && speed <= fastest)) { this.stop(); return; }
    const s = this.#step;
    const inStep = s && Math.abs(s.time + (now - s.at) * s.speed - time) <= slack * Math.max(speed, s.speed);
    if (!inStep) {
      this.stop();
      this.#step = { at: now, time, speed, since: now };
    } else if (Math.abs(s.speed - speed) > 0.01 * speed) {
      Object.assign(s, { at: now, time, speed });
      if (this.#playing) this.#playing.node.playbackRate.value = speed;
    }
    this.#late = setTimeout(() => this.stop(), 1000 * (period + slack));
    this.#context ??= new AudioContext();
    const from = Math.max(Math.floor(time / length) * length, 0);
    const part = this.#part(from);
    if (time > from + length / 2) this.#part(from + length);
    const step = this.#step;
    const buffer = await part;
    if (step !== this.#step || this.#playing || !buffer || now - step.since < settling) return;
    const offset = step.time + (performance.now() / 1000 - step.at) * step.speed - from;
    if (offset >= buffer.duration || time < 0) return;
    const node = this.#context.createBufferSource();
    node.buffer = buffer;
    node.playbackRate.value = step.speed;
    node.connect(this.#context.destination);
    node.addEventListener("ended", () => { if (this.#playing?.node === node) this.#playing = null; });
    node.start(0, Math.max(offset, 0));
    this.#playing = { node, from };
    this.changed("playing");
  }

  stop() {
    clearTimeout(this.#late);
    this.#step = null;
    if (!this.#playing) return;
    this.#playing.node.stop();
    this.#playing = null;
    this.changed("off");
  }

  // #part returns a part, and keeps two.
  #part(from) {
    if (!this.#parts.has(from)) {
      for (const old of [...this.#parts.keys()].slice(0, -1)) this.#parts.delete(old);
      this.#parts.set(from, this.load(from).then((b) => {
        if (!b) this.silent = true;
        return b && this.#context.decodeAudioData(b);
      }).catch(() => null)); // what cannot be played stays silent
    }
    return this.#parts.get(from);
  }
}

async function wav(from) {
  const answer = await fetch(`sound?from=${from}`);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.status === 204 ? null : answer.arrayBuffer();
}
