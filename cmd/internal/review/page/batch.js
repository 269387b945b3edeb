// The clips of a batch, those with the worst places first.

import { post } from "./api.js";
import { Kept, arrange, change, element } from "./list.js";

const list = document.getElementById("clips"), rated = document.getElementById("rated");

// Line is a clip's line in the list.
class Line {
  #name = element("a");
  #state = element("span");
  #share = element("span", { className: "soft" });
  #places = element("div", { className: "places" });
  #nothing = element("span", { className: "soft" });
  #problem = element("span", { className: "problem" });
  #links = new Kept();
  root = element("li", {}, this.#name, this.#state, this.#share, this.#places, this.#problem);

  show(c) {
    change(this.#name, { href: `clip/${c.index}/`, textContent: c.name });
    change(this.#state, { className: `pill ${c.state}`, textContent: c.state });
    const share = c.frames ? `${Math.floor(100 * c.rated / c.frames)} % rated` : "not rated";
    change(this.#share, { textContent: c.decided ? `${share}, ${c.decided} decisions` : share });
    const links = this.#links.all(c.worst.map((w) => w.frame), () => element("a", {}, element("img", { loading: "lazy", width: 96, height: 54 })));
    c.worst.forEach((w, i) => {
      const about = `frame ${w.frame}, rated ${w.rating.toFixed(2)}`;
      change(links[i], { href: `clip/${c.index}/#${w.frame}`, title: about });
      change(links[i].firstChild, { src: `clip/${c.index}/thumbnail?frame=${w.frame}&version=${c.version}`, alt: `${c.name}, ${about}` });
    });
    change(this.#nothing, { textContent: c.rated ? "nothing doubtful so far" : "" });
    arrange(this.#places, links.length ? links : [this.#nothing]);
    change(this.#problem, { textContent: c.problem, hidden: !c.problem });
  }
}

const lines = new Kept();

function show(clips) {
  const frames = clips.reduce((n, c) => n + c.frames, 0), known = clips.reduce((n, c) => n + c.rated, 0);
  rated.textContent = frames ? `${clips.length} clips, ${known} of ${frames} frames rated` : `${clips.length} clips`;
  const shown = lines.all(clips.map((c) => c.index), () => new Line());
  clips.forEach((c, i) => shown[i].show(c));
  arrange(list, shown.map((line) => line.root));
  const running = clips.some((c) => c.state === "running");
  document.getElementById("render-all").disabled = running;
  document.getElementById("cancel-all").disabled = !running;
}

const ask = (what) => post(what, {}).catch((error) => {
  document.getElementById("notice-text").textContent = error.message;
  document.getElementById("notice").hidden = false;
});
document.getElementById("render-all").addEventListener("click", () => ask("render"));
document.getElementById("cancel-all").addEventListener("click", () => ask("cancel"));

show(await (await fetch("clips")).json());
const events = new EventSource("events");
events.addEventListener("clips", (e) => show(JSON.parse(e.data)));
events.addEventListener("bye", () => { events.close(); rated.textContent = "retime review has ended."; });
