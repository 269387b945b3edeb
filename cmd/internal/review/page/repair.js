// The findings of a restoration: each beside the frames that are made for it.

import { get, post, Refused } from "./api.js";
import { Kept, arrange, change, clock, element } from "./list.js";
import { listen } from "./keyboard.js";

const $ = (id) => document.getElementById(id);
let state = { items: [] }, at = 0, part = 0; // the finding, and its frame
const lines = new Kept();

const item = () => state.items[at];
// count is how many frames a finding has, those to insert after it, or those that are missing.
const adds = (i) => i.insert || (i.kind === "gap" || i.kind === "jump" ? i.missing : 0);
const count = (i) => adds(i) || i.last - i.first + 1;
const span = (i) => `${i.first === i.last ? `frame ${i.first}` : `frames ${i.first} to ${i.last}`}${i.field ? `, ${i.field} field` : ""}`;
const said = (i) => (i.rejected ? "rejected" : i.restored ? "accepted" : "open");

function adopt(next) {
  state = next;
  at = Math.min(at, Math.max(state.items.length - 1, 0));
  $("undo").disabled = !state.undo;
  $("command").textContent = state.command;
  $("none").hidden = state.items.length > 0;
  change($("kind"), { disabled: !item() });
  if (!$("kind").options.length) $("kind").append(...state.kinds.map((k) => element("option", { value: k, textContent: k })));
  const shown = lines.all(state.items.map((_, k) => k), (k) => {
    const b = element("button", { type: "button" }, element("b"), element("span"));
    b.addEventListener("click", () => go(k));
    return element("li", {}, b);
  });
  state.items.forEach((i, k) => {
    const b = shown[k].firstChild;
    change(b.firstChild, { textContent: `${clock(i.time)} ${i.kind}` });
    change(b.lastChild, { textContent: `${span(i)}, score ${i.score.toFixed(2)}: ${said(i)}` });
    b.className = said(i);
  });
  arrange($("findings"), shown);
  show();
}

// parts says where regions are, or how many.
function parts(regions) {
  return regions.length > 3 ? `, ${regions.length} parts` : regions.map((r) => `, ${r.Width}x${r.Height} at ${r.X},${r.Y}`).join("");
}

const text = (regions) => regions.map((r) => `${r.X},${r.Y},${r.Width},${r.Height}`).join(" ");

// boxes shows regions over the frame as it is.
function boxes(regions) {
  const { naturalWidth: width, naturalHeight: height } = $("source");
  $("boxes").replaceChildren(...(width ? regions : []).map((r) => {
    const box = element("i"), percent = (part, whole) => `${100 * part / whole}%`;
    Object.assign(box.style, { left: percent(r.X, width), top: percent(r.Y, height), width: percent(r.Width, width), height: percent(r.Height, height) });
    return box;
  }));
}

// A region is drawn over the frame as it is; a touch scrolls.
let from = null; // the corner where it began, in pixels of the frame, and the finding
function place(e) {
  const at = $("source").getBoundingClientRect(), inside = (v, most) => Math.round(Math.min(Math.max(v, 0), 1) * most);
  return [inside((e.clientX - at.left) / at.width, $("source").naturalWidth), inside((e.clientY - at.top) / at.height, $("source").naturalHeight)];
}
function between([a, b], [c, d]) { return { X: Math.min(a, c), Y: Math.min(b, d), Width: Math.abs(a - c), Height: Math.abs(b - d) }; }
$("drawn").addEventListener("pointerdown", (e) => {
  if (!item() || e.button > 0 || e.pointerType === "touch" || !$("source").naturalWidth) return;
  $("drawn").setPointerCapture(e.pointerId);
  from = { corner: place(e), index: at };
});
const others = (e) => (e.shiftKey ? item()?.regions ?? [] : []);
$("drawn").addEventListener("pointermove", (e) => { if (from?.index === at) boxes([...others(e), between(from.corner, place(e))]); });
$("drawn").addEventListener("pointerup", (e) => {
  const began = from;
  from = null;
  if (began?.index !== at) return; // a key has shown another finding
  const region = between(began.corner, place(e));
  if (Math.min(region.Width, region.Height) < 2) show(); else edit("regions", text([...others(e), region]));
});
$("drawn").addEventListener("pointercancel", () => { from = null; show(); });
$("source").addEventListener("load", () => boxes(item()?.regions ?? []));

function show() {
  const i = item(), regions = i?.regions ?? [];
  for (const id of ["accept", "reject", "kind", "method", "parts", "back", "step"]) $(id).disabled = !i;
  [...$("findings").children].forEach((li, k) => { if (k === at) li.firstChild.setAttribute("aria-current", "true"); else li.firstChild.removeAttribute("aria-current"); });
  $("accept").setAttribute("aria-pressed", Boolean(i?.restored));
  $("reject").setAttribute("aria-pressed", Boolean(i?.rejected));
  $("parts").value = text(regions);
  boxes(regions);
  if (!i) {
    $("about").textContent = "no finding";
    for (const image of document.querySelectorAll(".pictures img")) image.removeAttribute("src");
    return;
  }
  part = Math.min(part, count(i) - 1);
  const added = adds(i), n = added ? i.last : i.first + part;
  $("about").textContent = `${added ? `${part + 1} of ${added} frames after frame ${i.last}` : `frame ${n}${i.field ? `, ${i.field} field` : ""}`}, ${i.kind}, ${said(i)}${parts(regions)}`;
  $("kind").value = i.kind;
  $("method").value = i.method;
  $("parts").disabled = Boolean(added);
  $("back").disabled = part === 0;
  $("step").disabled = part === count(i) - 1;
  const picture = (id, query) => change($(id), { src: `picture?${query}&version=${state.version}` });
  picture("before", `what=source&frame=${added ? i.last : Math.max(i.first - 1, 0)}`);
  picture("after", `what=source&frame=${Math.min(i.last + 1, state.frames - 1)}`);
  $("damaged").hidden = Boolean(added);
  if (!added) picture("source", `what=source&frame=${n}`);
  picture("made", `what=made&frame=${n}&index=${at}&inserted=${added ? part + 1 : 0}`);
  $("how").textContent = (i.rejected ? "As it would be made" : `Made${i.method ? `: ${$("method").selectedOptions[0].textContent}` : ""}`) + (state.woven ? ", woven fields" : "");
}

function go(k) {
  if (k < 0 || k >= state.items.length) return;
  at = k; part = 0;
  $("findings").children[k].scrollIntoView({ block: "nearest" });
  show();
}
function step(by) { if (item() && part + by >= 0 && part + by < count(item())) { part += by; show(); } }

function complain(error) {
  $("notice-text").textContent = error instanceof TypeError ? "retime review does not answer; start it again." : error.message;
  $("notice-reload").hidden = !(error instanceof Refused && error.status === 409);
  $("notice").hidden = false;
}
async function edit(what, value = "") {
  if (!item() && what !== "undo" && what !== "reload") return;
  $("saved").textContent = "Saving";
  try {
    adopt(await post("repairs", { do: what, index: at, value }));
    $("saved").textContent = "Saved";
    $("notice").hidden = true;
  } catch (error) { $("saved").textContent = "Not saved"; complain(error); show(); }
}
// broken says why a picture did not come.
for (const image of document.querySelectorAll(".pictures img")) image.addEventListener("error", async () => {
  try { await get(image.getAttribute("src")); } catch (error) { if (error instanceof Refused) complain(error); }
});

$("accept").addEventListener("click", () => edit("accept"));
$("reject").addEventListener("click", () => edit("reject"));
$("kind").addEventListener("change", (e) => edit("kind", e.target.value));
$("method").addEventListener("change", (e) => edit("method", e.target.value));
$("parts").addEventListener("change", (e) => edit("regions", e.target.value));
$("undo").addEventListener("click", () => edit("undo"));
$("back").addEventListener("click", () => step(-1));
$("step").addEventListener("click", () => step(1));
$("notice-close").addEventListener("click", () => { $("notice").hidden = true; });
$("notice-reload").addEventListener("click", () => edit("reload"));
const ways = ["", "interpolated", "blend", "nearest", "source"];
listen({
  n: () => go(at + 1), p: () => go(at - 1), ".": () => step(1), ",": () => step(-1), a: () => edit("accept"), r: () => edit("reject"), "Control+z": () => edit("undo"),
  ...Object.fromEntries(ways.map((way, k) => [k, () => edit("method", way)])),
}, () => $("single-keys").checked);

try {
  adopt(await get("repairs"));
  $("saved").textContent = "";
  document.body.dataset.ready = "true";
} catch (error) { $("saved").textContent = ""; complain(error); }
const events = new EventSource("events");
events.addEventListener("bye", () => { events.close(); $("saved").textContent = "retime review has ended."; });
