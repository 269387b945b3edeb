// Keys that are commands. In fields they are what they always are.

export function listen(commands, single) {
  document.addEventListener("keydown", (e) => {
    if (document.querySelector("dialog[open]")) return;
    const control = e.ctrlKey || e.metaKey;
    const target = e.target;
    const writes = target.matches("input:not([type=range]):not([type=radio]):not([type=checkbox]), textarea");
    let name = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    if (control) name = `Control+${e.shiftKey ? "Shift+" : ""}${name}`;
    if (e.altKey || writes || target.matches("select") && !control) return;
    if (name === " " && target.matches("button, input, summary, a")) return;
    if (/^Arrow|^Home|^End/.test(name) && target.matches("input, [role=tab]")) return;
    if (!control && e.key.length === 1 && e.key !== " " && !single()) return;
    const command = commands[name];
    if (!command) return;
    e.preventDefault();
    command(e);
  });
}
