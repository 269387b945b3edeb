"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const { methods, frames, shots, worst, regions } = report;
  const colours = 8;

  // Plots: one panel for each measure, over a shared time axis.

  const measures = [
    { key: "psnr_y", title: `PSNR of ${report.clip.plane}, dB`, height: 240 },
    { key: "psnr_div", title: "PSNR_DIV, dB", height: 150 },
    { key: "ssim_y", title: `SSIM of ${report.clip.plane}`, height: 150 },
    { key: "vif", title: `VIF of ${report.clip.plane}`, height: 150 },
    { key: "lpips", title: "LPIPS", height: 150 },
    { key: "detail", title: "Detail kept", height: 150 },
    { key: "false_speckle", title: "False speckle, ppm", height: 150 },
    { key: "confidence", title: "Confidence of retime", height: 150 },
  ].filter((m) => methods.some((x) => (x.per_frame[m.key] || []).some((v) => v !== null)));
  const plots = document.getElementById("plots");
  const readout = document.getElementById("readout");
  const shown = methods.map(() => true);
  const margin = { left: 52, right: 14, top: 40, bottom: 26 };
  let cursor = -1; // the frame whose values are shown
  let cursors = [];

  function node(name, attributes = {}, text = "") {
    const n = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) n.setAttribute(k, v);
    n.textContent = text;
    return n;
  }

  // steps returns round numbers that divide [low, high] into about n parts.
  function steps(low, high, n) {
    const raw = (high - low) / n || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((f) => f * power >= raw);
    const out = [];
    for (let i = Math.ceil(low / step); i * step <= high + step * 1e-6; i++) out.push(i * step);
    return { out, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  }

  const begin = frames[0].time, end = frames[frames.length - 1].time;
  const extent = end - begin || 1;
  let width = 0;
  const across = (time) => margin.left + ((time - begin) / extent) * (width - margin.left - margin.right);

  // path draws values against time, with a gap at each cut. Where there are
  // more values than pixels, the least and the greatest of each column represent
  // all. Frames without any error are drawn on the upper edge.
  function path(values, y, top) {
    let d = "", shot = -1, column = null;
    const flush = () => {
      if (!column) return;
      const order = column.lowFirst ? [column.low, column.high] : [column.high, column.low];
      for (const v of new Set(order)) d += `${d.endsWith("M") ? "" : "L"}${column.x.toFixed(1)} ${v.toFixed(1)}`;
      column = null;
    };
    frames.forEach((f, i) => {
      const x = across(f.time), v = values[i] === null ? top : y(values[i]);
      if (f.shot !== shot) {
        flush();
        d += "M";
        shot = f.shot;
      }
      if (column && x - column.x < 0.5) {
        if (v < column.low) { column.low = v; column.lowFirst = false; }
        if (v > column.high) { column.high = v; column.lowFirst = true; }
      } else {
        flush();
        column = { x, low: v, high: v, lowFirst: true };
      }
    });
    flush();
    return d;
  }

  function panel(measure, last) {
    const bottom = last ? margin.bottom : 10;
    const height = measure.height, top = measure === measures[0] ? margin.top + 14 : margin.top - 12;
    const finite = methods.flatMap((m, i) => (shown[i] ? (m.per_frame[measure.key] || []).filter((v) => v !== null) : []));
    let low = finite.reduce((a, b) => Math.min(a, b), Infinity), high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!finite.length) [low, high] = [0, 1];
    const pad = (high - low) * 0.06 || 0.5;
    low -= pad;
    high += pad;
    const y = (v) => height - bottom - ((v - low) / (high - low)) * (height - bottom - top);
    const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": `${measure.title} over time`, "data-measure": measure.key });

    shots.forEach((s, i) => {
      const x0 = Math.max(margin.left, across(s.from)), x1 = Math.min(width - margin.right, i + 1 < shots.length ? across(shots[i + 1].from) : width);
      if (i % 2 && x1 > x0) svg.append(node("rect", { class: "shot", x: x0, y: top, width: x1 - x0, height: height - bottom - top }));
      if (i && x0 > margin.left) svg.append(node("line", { class: "cut", x1: x0, x2: x0, y1: top, y2: height - bottom }));
    });
    const vertical = steps(low, high, height / 45);
    for (const v of vertical.out) {
      svg.append(node("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: y(v), y2: y(v) }));
      svg.append(node("text", { x: margin.left - 8, y: y(v) + 4, "text-anchor": "end" }, v.toFixed(vertical.digits)));
    }
    if (last) {
      const horizontal = steps(begin, end, width / 110);
      for (const t of horizontal.out) svg.append(node("text", { x: across(t), y: height - 8, "text-anchor": "middle" }, `${t.toFixed(horizontal.digits)} s`));
    }
    svg.append(node("text", { class: "title", x: margin.left, y: 18 }, measure.title));

    methods.forEach((m, i) => {
      const values = m.per_frame[measure.key], colour = `m${i % colours}`;
      if (!shown[i] || !values) return;
      svg.append(node("path", { class: `curve ${m.kind} ${colour}`, d: path(values, y, top), "data-method": i }));
      if (m.kind === "retime" && frames.length < width / 8) {
        frames.forEach((f, k) => svg.append(node("circle", { class: `dot ${colour}`, cx: across(f.time), cy: values[k] === null ? top : y(values[k]), r: 2.5 })));
      }
    });
    if (measure === measures[0]) {
      let right = -Infinity; // x of the last flag on the lower line
      [...worst.entries()].sort((a, b) => a[1] - b[1]).forEach(([n, k]) => {
        const x = across(frames[k].time), crowded = x - right < 20, y = top - (crowded ? 32 : 14);
        if (!crowded) right = x;
        const link = node("a", { class: "flag", href: `#worst-${n + 1}`, "aria-label": `Worst frame ${n + 1}` });
        link.append(node("circle", { cx: x, cy: y, r: 9 }));
        link.append(node("text", { x, y: y + 4 }, n + 1));
        svg.append(link);
      });
    }
    const line = node("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" });
    svg.append(line);
    cursors.push(line);
    return svg;
  }

  const room = () => Math.max(320, plots.clientWidth - 24);

  function draw() {
    width = room();
    cursors = [];
    const focused = plots.contains(document.activeElement) && document.activeElement.getAttribute("href");
    plots.replaceChildren(...measures.map((m, i) => panel(m, i === measures.length - 1)));
    if (focused) plots.querySelector(`a[href="${focused}"]`).focus();
    point(cursor);
  }

  function point(k) {
    cursor = k;
    for (const c of cursors) {
      c.setAttribute("visibility", k < 0 ? "hidden" : "visible");
      if (k >= 0) for (const a of ["x1", "x2"]) c.setAttribute(a, across(frames[k].time));
    }
    if (k < 0) return;
    const f = frames[k];
    readout.replaceChildren(`Frame ${f.index}, ${f.time.toFixed(3)} s${f.across_cut ? ", across a cut" : ""}: `);
    methods.forEach((m, i) => {
      if (!shown[i]) return;
      const value = document.createElement("b");
      const v = m.per_frame.psnr_y[k];
      value.textContent = v === null ? "∞" : `${v.toFixed(2)} dB`;
      readout.append(value, ` ${m.name}   `);
    });
  }

  plots.addEventListener("pointermove", (e) => {
    const box = plots.querySelector("svg").getBoundingClientRect();
    const time = begin + (((e.clientX - box.left) / box.width) * width - margin.left) / (width - margin.left - margin.right) * extent;
    let low = 0, high = frames.length - 1;
    while (low < high) { // the last frame at or before time
      const middle = (low + high + 1) >> 1;
      if (frames[middle].time <= time) low = middle;
      else high = middle - 1;
    }
    point(low + 1 < frames.length && frames[low + 1].time - time < time - frames[low].time ? low + 1 : low);
  });
  plots.addEventListener("keydown", (e) => {
    const to = { ArrowLeft: cursor - 1, ArrowRight: cursor + 1, Home: 0, End: frames.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    point(Math.min(Math.max(to, 0), frames.length - 1));
  });
  document.getElementById("legend").addEventListener("change", (e) => {
    shown[Number(e.target.dataset.method)] = e.target.checked;
    draw();
  });
  draw();
  new ResizeObserver(() => {
    if (room() !== width) draw();
  }).observe(plots);

  // The worst regions and frames.

  const jpeg = (base64) => `data:image/jpeg;base64,${base64}`;
  const enlarged = document.getElementById("enlarged");
  enlarged.addEventListener("click", () => enlarged.close());

  function enlarge(source, text, pixels) {
    const image = enlarged.querySelector("img");
    image.src = source;
    image.alt = text;
    image.classList.toggle("pixels", pixels);
    enlarged.showModal();
  }

  document.querySelectorAll(".region").forEach((article) => {
    const n = Number(article.dataset.region);
    const { truth, before, after, made } = pictures.regions[n];
    const where = `Frame ${frames[regions[n].frame].index}, region ${n + 1}`;
    article.querySelectorAll("figure button").forEach((button) => {
      const kind = button.dataset.picture;
      const [data, name] = {
        truth: [truth, "truth"], before: [before, "source frame before"], after: [after, "source frame after"],
      }[kind] || [made[kind], `made by ${methods[kind].name}`];
      const image = button.querySelector("img");
      image.src = `data:image/png;base64,${data}`;
      image.alt = `${where}, ${name}, enlarge`;
      button.onclick = () => enlarge(image.src, `${where}, ${name}`, true);
    });
  });

  document.querySelectorAll(".exhibit").forEach((exhibit) => {
    const n = Number(exhibit.dataset.exhibit);
    const { truth, views } = pictures.worst[n];
    const frame = frames[worst[n]];
    const stage = exhibit.querySelector(".stage");
    const slider = stage.querySelector("input");

    function split() {
      stage.style.setProperty("--at", `${slider.value}%`);
      slider.setAttribute("aria-valuetext", `${Math.round(slider.value)} % truth`);
    }
    slider.addEventListener("input", split);
    split();

    function set(image, data, text) {
      image.src = jpeg(data);
      image.alt = text;
    }

    function choose(i) {
      const view = views[i], name = methods[i].name;
      const caption = {
        truth: "Truth", made: `Made by ${name}`, error: `Error of ${name}`,
        flow: view.flow && `Optical flow of ${name}, full colour at ${view.longest.toFixed(1)} pixels`,
      };
      const data = { truth, ...view };
      set(stage.querySelector(".truth"), truth, `Frame ${frame.index}, truth`);
      set(stage.querySelector(".made"), view.made, `Frame ${frame.index}, made by ${name}`);
      stage.querySelector(".right").textContent = name;
      exhibit.querySelectorAll(".strip figure").forEach((figure) => {
        const button = figure.querySelector("button"), kind = button.dataset.picture;
        figure.hidden = !data[kind];
        if (figure.hidden) return;
        set(button.querySelector("img"), data[kind], `${caption[kind]}, enlarge`);
        figure.querySelector("figcaption").textContent = caption[kind];
        button.onclick = () => enlarge(jpeg(data[kind]), caption[kind], false);
      });
    }
    exhibit.querySelectorAll(".picker input").forEach((input) => input.addEventListener("change", () => choose(Number(input.value))));
    choose(0);
  });
})();
