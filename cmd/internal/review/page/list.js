// Lists that change while people use them: a line that stays is the same element before and after,
// so that it keeps the focus, and a click that has begun on it ends on it.

export function element(tag, props = {}, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
}

// clock writes seconds as m:ss.mmm.
export const clock = (s) => `${Math.floor(s / 60)}:${(s % 60).toFixed(3).padStart(6, "0")}`;

// change sets the properties that differ: an image whose source is set is loaded again.
export function change(e, props) {
  for (const [name, value] of Object.entries(props)) if (e[name] !== value && e.getAttribute(name) !== value) e[name] = value;
}

// arrange gives a parent these children in this order. It moves only those that are out of place.
export function arrange(parent, children) {
  const focused = document.activeElement;
  for (const e of [...parent.children]) if (!children.includes(e)) e.remove();
  children.forEach((e, i) => { if (parent.children[i] !== e) parent.insertBefore(e, parent.children[i] ?? null); });
  if (document.activeElement !== focused && parent.contains(focused)) focused.focus();
}

// Kept holds the lines of a list by their keys.
export class Kept {
  #lines = new Map();

  // all returns the lines of these keys, made where there was none, and forgets all others.
  all(keys, make) {
    this.#lines = new Map(keys.map((k) => [k, this.#lines.get(k) ?? make(k)]));
    return [...this.#lines.values()];
  }
}
