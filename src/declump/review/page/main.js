// The page: one image at a time, its cells, its edits; every tab hears what any tab does.

import { Live, Refused, findDoubtful, listImages, logIn, openImage, save, sendEdit } from "./api.js";
import { Cells } from "./cells.js";
import { Grid } from "./grid.js";
import { ImageList } from "./images.js";
import { SlideWindow } from "./slide.js";
import { Table } from "./table.js";
import { ACTIONS, TOOLS, Tools } from "./tools.js";
import { View } from "./view.js";

const element = (id) => document.getElementById(id);
const cells = new Cells();
const show = { outlines: true, nuclei: true, clump: false, others: true, colour: "", range: { low: 0, high: 1 } };
const page = { id: null, image: null, wanted: 0, facts: {}, busy: 0, labels: new Set() };
// When edits were sent and their outlines seen, in milliseconds: for whoever measures it.
const times = (window.declumpTimes = []);

const view = new View(cells, show);
const act = { choose, edit, say, do: doAction };
const tools = new Tools(view, cells, act);
const table = new Table(cells, (n) => choose(n, true));
table.hover = (n) => light(n);
const grid = new Grid(cells, table, (n) => { toggleGrid(false); choose(n, true); });
const images = new ImageList((id) => id && open(id));
const slide = new SlideWindow(view, cells, page, () => { fillColours(); refreshTable(); });
let live = null;
window.declump = { page, cells, view, table, images, slide, edit };

function say(text, bad = false) {
  const box = element("message");
  box.hidden = !text;
  box.textContent = text;
  clearTimeout(say.timer);
  if (text) say.timer = setTimeout(() => (box.hidden = true), bad ? 8000 : 4000);
}

function choose(n, look = false) {
  view.chosen = n;
  table.show(n);
  const shape = cells.shapes.get(n);
  if (shape && slide.on) live.look(n);
  if (shape && look) view.lookAt(shape, slide.on && !shape.reach);
  if (shape && look) view.cross = view.cross && { row: Math.round(shape.seed[0]), column: Math.round(shape.seed[1]) };
  view.redraw();
}

function light(n) {
  if (view.lit === n) return;
  view.lit = n;
  view.redraw();
}

async function edit(record) {
  if (!page.id) return;
  const timing = { edit: record.edit, sent: performance.now(), first: null, final: null, revision: null };
  times.push(timing);
  say("");
  try {
    const { facts } = await sendEdit(page.id, record);
    timing.revision = facts.revision;
    if (seen.final?.revision >= facts.revision) {
      timing.final = seen.final.at; // it was known already, and came before this answer
      timing.first ??= timing.final;
    }
    takeFacts(facts);
  } catch (error) {
    times.splice(times.indexOf(timing), 1);
    say(error.message, true);
    if (!(error instanceof Refused)) reload();
  }
}

function doAction(name) {
  const chosen = view.chosen;
  if (!chosen) return say("choose a cell first");
  const shape = cells.shapes.get(chosen);
  if (name === "delete") edit({ edit: "delete cell", cell: chosen });
  else if (name === "leukocyte" || name === "other") edit({ edit: "mark spot", cell: chosen, kind: name });
  else if (name === "accept" || name === "reject") {
    const verdict = `${name}ed`;
    edit({ edit: "judge cell", cell: chosen, verdict: shape?.verdict === verdict ? "" : verdict });
  } else {
    element("label-input").value = shape?.label || "";
    element("labels").replaceChildren(...[...page.labels].map((label) => new Option(label)));
    element("label-dialog").returnValue = "";
    element("label-dialog").showModal();
  }
}

function takeFacts(facts) {
  if (facts.revision < page.facts.revision) return;
  page.facts = facts;
  element("undo").disabled = !facts.undo;
  element("redo").disabled = !facts.redo;
  element("save").disabled = facts.edits <= facts.saved;
  element("finished").checked = facts.finished;
  status();
  images.take({ id: page.id, edits: facts.edits, unsaved: facts.edits > facts.saved, finished: facts.finished });
}

function status(text, bad = false) {
  const { edits = 0, saved = 0 } = page.facts;
  const box = element("state");
  box.classList.toggle("busy", page.busy > 0);
  box.classList.toggle("bad", bad);
  box.textContent = text || (page.busy ? "evolving" : edits > saved ? `${edits - saved} edit${edits - saved === 1 ? "" : "s"} kept, not in the results yet` : edits ? "saved" : "");
}

async function open(id) {
  if (page.id && page.id !== id && page.facts.edits > page.facts.saved) saveNow(page.id);
  page.id = id;
  page.image = null;
  seen.final = null; // revisions are counted image by image
  say("");
  images.open(id);
  live.show(id);
  view.chosen = view.lit = view.cross = null;
  await reload();
}

async function reload() {
  const id = page.id;
  if (!id) return;
  page.missed = []; // what is told while the image is on its way
  element("where").textContent = images.images.get(id)?.name || "";
  let image;
  try {
    image = await openImage(id);
  } catch (error) {
    page.missed = null;
    return say(error.message, true);
  }
  if (page.id !== id) return;
  const missed = page.missed;
  page.missed = null;
  if (image.status !== "ready") {
    cells.load({});
    table.update();
    if (view.shown !== id) await view.open(id, image);
    return sayProgress();
  }
  const fresh = page.image === null;
  page.image = image;
  page.facts = { revision: -1 };
  page.wanted = image.wanted;
  const { columns, places, values } = cells;
  cells.outlined = undefined; // of a slide its window says so
  if (image.kind !== "slide") cells.load(image);
  if (!fresh) Object.assign(cells, { columns, places, values });
  for (const shape of cells.shapes.values()) if (shape.label) page.labels.add(shape.label);
  takeFacts(image);
  if (fresh && view.shown !== id) await view.open(id, image);
  element("in-view").textContent = "";
  if (image.kind === "slide") await slide.load(true);
  page.busy = image.evolving ? image.wanted : 0;
  if (image.measured) hear(image.measured);
  for (const message of missed || []) hear(message);
  refreshTable();
  view.redraw();
}

function refreshTable() {
  table.update();
  if (show.colour) findRange();
  if (grid.open && page.image) grid.show(page.id, view.size);
}

function hear(message) {
  if (message.type === "reload") return refreshAll();
  if (message.type === "image") {
    images.take(message.image);
    if (page.image) return;
    if (message.image.id === page.id && message.image.status === "working") return sayProgress();
    if (images.images.get(page.id)?.status === "failed") return openFirst();
    if (message.image.id === page.id) reload();
    return;
  }
  if (message.id !== page.id) return;
  if (page.missed) return void page.missed.push(message);
  if (!page.image) return;
  if (message.type === "trouble") return say(message.reason, true);
  if (message.type === "edited") {
    if (message.evolves) page.wanted = page.busy = message.revision;
    for (const n of message.gone) cells.shapes.delete(n);
    for (const mark of message.marks) {
      cells.take(mark);
      if (mark.label) page.labels.add(mark.label);
    }
    for (const start of message.starts) cells.take(start);
    if (!cells.shapes.has(view.chosen)) view.chosen = null;
    if (message.gone.includes(view.lit)) view.lit = null;
    const added = message.starts.find(({ n }) => !cells.values.has(n));
    if (added && document.hasFocus()) choose(added.n);
    if (message.starts.length || message.gone.length) seen("first", message.revision);
    takeFacts(message);
    table.update();
  } else if (message.type === "step") {
    if (message.revision < page.wanted) return;
    for (const cell of message.cells) if (!slide.on || cells.shapes.has(cell.n)) cells.take(cell);
    seen("first", message.revision);
  } else if (message.type === "result" && message.box) {
    cells.replacePart(message);
    if (message.revision >= page.wanted && !message.evolving) page.busy = 0;
    status();
    refreshTable();
    seen("final", message.revision);
  } else if (message.type === "result") {
    for (const cell of message.cells) cells.take(cell);
    const there = new Set(message.numbers);
    if (message.revision >= page.wanted) for (const n of [...cells.shapes.keys()]) if (!there.has(n)) cells.shapes.delete(n);
    if (message.clump) cells.takeClump(message.clump);
    if (message.revision >= page.wanted) page.busy = 0;
    status();
    table.update();
    seen("final", message.revision);
  } else if (message.type === "measured") {
    cells.measured(message);
    fillColours();
    refreshTable();
  } else if (message.type === "saved") {
    takeFacts({ ...page.facts, saved: message.saved });
  }
  view.redraw();
}

// Tell what was waited for, once it is on the screen.
function seen(what, revision) {
  const before = view.drawn;
  view.drawn = () => {
    view.drawn = before;
    before();
    const now = performance.now();
    if (what === "final") seen.final = { revision, at: now };
    for (const timing of times) {
      if (timing.revision === null && what === "first" && timing === times[times.length - 1]) timing.first ??= now;
      if (timing.revision !== null && timing.revision <= revision) {
        timing.first ??= now;
        if (what === "final") timing.final ??= now;
      }
    }
  };
  view.redraw();
}

// An image that is not segmented yet is shown already, and what is being done to it said.
function sayProgress() {
  const { status: said, doing, kind } = images.images.get(page.id) || {};
  if (said !== "failed") status(said === "working" ? `this ${kind} is being segmented${doing ? `: ${doing}` : ""}` : `this ${kind} waits to be segmented`);
}

async function refreshAll() {
  const listed = await listImages();
  images.load(listed.images);
  await reload();
}

async function saveNow(id = page.id) {
  status("saving");
  try {
    const facts = await save(id);
    if (id === page.id) takeFacts(facts);
    else images.take({ id, edits: facts.edits, unsaved: facts.edits > facts.saved });
  } catch (error) {
    say(error.message, true);
  }
  status();
}

function fillColours() {
  const select = element("colour");
  if (select.options.length > 1) return;
  for (const { name, label, kind } of cells.columns) if (kind === "number" && name !== "id") select.add(new Option(label, name));
}

function findRange() {
  const values = [...cells.shapes.keys()].map((n) => cells.value(n, show.colour)).filter((value) => value !== null);
  show.range = { low: Math.min(...values), high: Math.max(...values) };
  element("low").textContent = values.length ? Number(show.range.low.toPrecision(3)) : "";
  element("high").textContent = values.length ? Number(show.range.high.toPrecision(3)) : "";
}

function toggleGrid(on = !grid.open) {
  element("grid").hidden = !on;
  element("view").hidden = on;
  element("view").style.display = on ? "none" : "";
  element("grid-button").setAttribute("aria-pressed", on);
  if (on && page.image) grid.show(page.id, view.size);
  else view.redraw();
}

async function nextDoubtful() {
  if (slide.on) {
    const found = await findDoubtful(page.id, view.chosen);
    if (!found) return say("every cell of this slide has a verdict");
    view.lookAt({ seed: found.seed, reach: 3 * page.image.diameter }, true);
    await slide.settle();
    return choose(found.n);
  }
  const doubtful = [...cells.shapes.values()].filter(({ verdict }) => !verdict).sort((a, b) => cells.confidence(a.n) - cells.confidence(b.n));
  if (!doubtful.length) return say("every cell of this image has a verdict");
  const index = doubtful.findIndex(({ n }) => n === view.chosen);
  choose(doubtful[(index + 1) % doubtful.length].n, true);
}

function moveCross(across, down, far) {
  if (!view.ready) return;
  const centre = view.toImage({ x: view.host.clientWidth / 2, y: view.host.clientHeight / 2 });
  const shape = cells.shapes.get(view.chosen);
  const from = view.cross || (shape ? { row: shape.seed[0], column: shape.seed[1] } : centre);
  const step = far ? 20 : Math.max(1, Math.round(2 / view.frame().scale));
  const inside = (value, size) => Math.min(Math.max(Math.round(value), 0), size - 1);
  view.cross = { row: inside(from.row + step * down, view.size.height), column: inside(from.column + step * across, view.size.width) };
  element("place").textContent = `row ${view.cross.row}, column ${view.cross.column}`;
  view.keepCross();
  view.redraw();
}

const KEYS = [
  ["Arrows, Shift+Arrows", "move the cross by a little, or far"],
  ["Enter or Space", "use the tool at the cross"],
  ["Tab, [ and ]", "next part of the page; cell before or after, in the order of the table"],
  [".", "next doubtful cell, the least confident first"],
  ["PageUp, PageDown", "image before or after"],
  ["+ − 0", "zoom in, out, whole image"],
  ["C", "zoom to the chosen cell"],
  ...[...TOOLS, ...ACTIONS].map(({ key, help }) => [key.toUpperCase(), help]),
  ["U or Ctrl+Z", "undo"],
  ["Shift+U or Ctrl+Y", "redo"],
  ["S", "write the results"],
  ["R", "this image is reviewed, or not"],
  ["H", "hide or show outlines"],
  ["G", "grid of cells"],
  ["F", "filter of the table"],
  ["Esc", "back to looking"],
];

function press(event) {
  if (event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const command = event.ctrlKey || event.metaKey;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (command && key === "z") edit({ edit: event.shiftKey ? "redo" : "undo" });
  else if (command && key === "y") edit({ edit: "redo" });
  else if (command && key === "s") saveNow();
  else if (command || event.altKey) return;
  else if (key.startsWith("Arrow")) moveCross((key === "ArrowRight") - (key === "ArrowLeft"), (key === "ArrowDown") - (key === "ArrowUp"), event.shiftKey);
  else if (key === "Enter" || key === " ") {
    if (event.target.matches("button, summary, a")) return;
    if (view.cross) tools.use(tools.tool, view.cross);
  } else if (key === "Escape") {
    tools.choose("look");
    view.cross = null;
    toggleGrid(false);
  } else if (key === "]" || key === "[") choose(table.step(key === "]" ? 1 : -1), true);
  else if (key === ".") nextDoubtful();
  else if (key === "PageDown" || key === "PageUp") open(images.step(key === "PageDown" ? 1 : -1));
  else if (key === "+" || key === "=") view.zoom(1.5);
  else if (key === "-") view.zoom(1 / 1.5);
  else if (key === "0") view.osd.viewport.goHome();
  else if (key === "c") cells.shapes.has(view.chosen) && view.lookAt(cells.shapes.get(view.chosen), true);
  else if (key === "u") edit({ edit: event.shiftKey ? "redo" : "undo" });
  else if (key === "s") saveNow();
  else if (key === "r") element("finished").click();
  else if (key === "h") element("show-outlines").click();
  else if (key === "g") toggleGrid();
  else if (key === "f") element("filter").focus();
  else if (key === "?") element("help").showModal();
  else if (key === "Delete" || key === "Backspace") doAction("delete");
  else if (TOOLS.some((tool) => tool.key === key)) {
    tools.choose(TOOLS.find((tool) => tool.key === key).name);
    if (!view.cross && tools.tool !== "look") moveCross(0, 0, false);
  } else if (ACTIONS.some((action) => action.key === key)) doAction(ACTIONS.find((action) => action.key === key).name);
  else return;
  event.preventDefault();
}

function hover(event) {
  const tip = element("tip");
  if (!view.ready || !page.image) return;
  const box = view.host.getBoundingClientRect();
  const point = view.toImage({ x: event.clientX - box.left, y: event.clientY - box.top });
  const shape = cells.at(point.row, point.column);
  element("place").textContent = `row ${Math.round(point.row)}, column ${Math.round(point.column)}`;
  light(shape ? shape.n : null);
  tip.hidden = !shape || tools.stroke !== null;
  if (tip.hidden) return;
  const words = [`cell ${shape.n}`];
  for (const { name, label, shown } of cells.columns) {
    const value = cells.value(shape.n, name);
    if (!shown || name === "id" || value === null || value === "") continue;
    words.push(`${label} ${typeof value === "number" ? Number(value.toPrecision(3)) : value}`);
  }
  if (shape.verdict) words.push(shape.verdict);
  if (shape.label) words.push(shape.label);
  tip.textContent = words.join(" · ");
  tip.style.left = `${Math.min(event.clientX - box.left + 14, box.width - 220)}px`;
  tip.style.top = `${Math.min(event.clientY - box.top + 14, box.height - 60)}px`;
}

function wire() {
  document.addEventListener("keydown", press);
  view.host.addEventListener("pointermove", hover);
  view.host.addEventListener("pointerleave", () => { element("tip").hidden = true; light(null); });
  view.host.addEventListener("pointerdown", () => { view.cross = null; view.host.focus({ preventScroll: true }); });
  element("undo").addEventListener("click", () => edit({ edit: "undo" }));
  element("redo").addEventListener("click", () => edit({ edit: "redo" }));
  element("save").addEventListener("click", () => saveNow());
  element("finished").addEventListener("change", (event) => edit({ edit: "finish image", done: event.target.checked }));
  element("help-button").addEventListener("click", () => element("help").showModal());
  element("grid-button").addEventListener("click", () => toggleGrid());
  for (const name of ["outlines", "nuclei", "clump", "others"]) {
    element(`show-${name}`).addEventListener("change", (event) => { show[name] = event.target.checked; view.redraw(); });
  }
  element("colour").addEventListener("change", (event) => {
    show.colour = event.target.value;
    element("legend").hidden = !show.colour;
    if (show.colour) findRange();
    view.redraw();
  });
  element("label-dialog").addEventListener("close", () => {
    if (element("label-dialog").returnValue === "ok") edit({ edit: "label cell", cell: view.chosen, label: element("label-input").value.trim() });
  });
  element("label-input").addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); element("label-dialog").close("ok"); }
  });
  element("keys").replaceChildren(...KEYS.flatMap(([keys, meaning]) => {
    const term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = keys;
    text.textContent = meaning;
    return [term, text];
  }));
}

// The first image that can be shown.
async function openFirst() {
  const first = images.sorted.find(({ status: said }) => said === "ready") || images.sorted.find(({ status: said }) => said !== "failed");
  if (first && first.id !== page.id) await open(first.id);
}

async function begin() {
  try {
    await logIn();
    const listed = await listImages();
    element("title").textContent = listed.title;
    document.title = `${listed.title}: declump review`;
    images.load(listed.images);
  } catch (error) {
    status(error.message, true);
    return say(error.message, true);
  }
  wire();
  live = new Live(hear, (lost) => status(lost ? "the server does not answer; edits wait" : "", lost));
  await openFirst();
  window.declump.begun = true;
}

begin();
