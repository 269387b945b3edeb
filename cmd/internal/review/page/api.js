// What the page asks of the server. Addresses are relative to the clip's page.

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

async function check(answer) {
  if (answer.ok) return answer;
  let message = answer.statusText;
  try { message = (await answer.json()).error ?? message; } catch { /* the answer is not the server's own */ }
  throw new Refused(answer.status, message);
}

export const get = async (what, signal) => (await check(await fetch(what, { signal }))).json();

export const post = async (what, body) => {
  const answer = await check(await fetch(what, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
};

// frame returns a frame's samples, exactly, with how it was made.
export async function frame(view, number, signal) {
  const answer = await check(await fetch(`frame?view=${view}&frame=${number}`, { signal }));
  const [width, height] = answer.headers.get("Retime-Size").split("x").map(Number);
  const record = JSON.parse(answer.headers.get("Retime-Record"));
  const digest = answer.headers.get("Retime-Digest");
  const image = new ImageData(new Uint8ClampedArray(await answer.arrayBuffer()), width, height);
  return { view, number, record, digest, image };
}
