// Frames that the page keeps, and those it waits for: one request for each place at a time, and
// the newest counts.

import { frame } from "./api.js";

const most = 160 * 2 ** 20; // bytes

export class Frames {
  #kept = new Map(); // by view and number, the one used last at the end
  #bytes = 0;
  #pending = new Map(); // by place on the screen

  // forget drops what is kept, and cancels what was asked for: it may date from before an edit.
  forget() {
    for (const p of this.#pending.values()) p.abort.abort();
    this.#pending.clear();
    this.#kept.clear();
    this.#bytes = 0;
  }

  peek(view, number) { return this.#kept.get(`${view} ${number}`); }

  // get returns a frame for a place. An earlier request of the place for another frame is given
  // up, and so is what the server was making for it.
  async get(place, view, number) {
    const key = `${view} ${number}`;
    const before = this.#pending.get(place);
    const kept = this.#kept.get(key);
    if (kept) {
      before?.abort.abort();
      this.#pending.delete(place);
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept;
    }
    if (before?.key === key) return before.promise;
    before?.abort.abort();
    const abort = new AbortController();
    const promise = frame(view, number, abort.signal).then((f) => {
      abort.signal.throwIfAborted();
      this.#keep(key, f);
      return f;
    }).finally(() => { if (this.#pending.get(place)?.abort === abort) this.#pending.delete(place); });
    this.#pending.set(place, { key, abort, promise });
    return promise;
  }

  #keep(key, f) {
    const size = f.image.data.length;
    for (const [old, g] of this.#kept) {
      if (this.#bytes + size <= most) break;
      this.#kept.delete(old);
      this.#bytes -= g.image.data.length;
    }
    this.#kept.set(key, f);
    this.#bytes += size;
  }
}
