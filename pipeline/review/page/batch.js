// The clips of a batch, those with the worst places first.

const list = document.getElementById("clips"), rated = document.getElementById("rated");

function element(tag, props = {}, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
}

function show(clips) {
  const frames = clips.reduce((n, c) => n + c.frames, 0), known = clips.reduce((n, c) => n + c.rated, 0);
  rated.textContent = frames ? `${clips.length} clips, ${known} of ${frames} frames rated` : `${clips.length} clips`;
  list.replaceChildren(...clips.map((c) => {
    const line = element("li", {}, element("a", { href: `clip/${c.index}/`, textContent: c.name }), element("span", { className: `pill ${c.state}`, textContent: c.state }));
    const share = c.frames ? `${Math.floor(100 * c.rated / c.frames)} % rated` : "not rated";
    line.append(element("span", { className: "soft", textContent: c.decided ? `${share}, ${c.decided} decisions` : share }));
    const places = element("div", { className: "places" });
    for (const w of c.worst) {
      const about = `frame ${w.frame}, confidence ${w.confidence.toFixed(2)}`;
      places.append(element("a", { href: `clip/${c.index}/#${w.frame}`, title: about }, element("img", { src: `clip/${c.index}/thumbnail?frame=${w.frame}`, alt: `${c.name}, ${about}`, loading: "lazy", width: 96, height: 54 })));
    }
    if (!c.worst.length) places.append(element("span", { className: "soft", textContent: c.rated ? "nothing doubtful so far" : "" }));
    line.append(places);
    if (c.problem) line.append(element("span", { className: "problem", textContent: c.problem }));
    return line;
  }));
}

show(await (await fetch("clips")).json());
const events = new EventSource("events");
events.addEventListener("clips", (e) => show(JSON.parse(e.data)));
events.addEventListener("bye", () => { events.close(); rated.textContent = "retime review has ended."; });
