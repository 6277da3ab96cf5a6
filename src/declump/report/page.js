"use strict";
// Draws the cells over their pictures, fills the table, and keeps the two in step. Names are only ever set as text,
// never as markup, so that no name of a file can do anything.

const ROWS = 300; // Rows of the table at first: a browser lays out thousands slowly, and nobody reads them at once.
const SVG = "http://www.w3.org/2000/svg";
const find = (selector) => document.querySelector(selector);
const content = (id) => JSON.parse(document.getElementById(id).textContent);

const { columns, images, categories, ramp, unknown, filter: asked } = content("cells-data");
const cells = [];
const cellsOf = images.map((image, number) =>
  image.colours.map((category, index) => {
    const cell = { key: cells.length, image: number, index, category, row: null, group: null, seed: null };
    cells.push(cell);
    return cell;
  }),
);
let sorting = { column: 0, descending: false };
let order = cells;
let rows = ROWS;
let chosen = null; // Column to colour by; null for a colour of its own for each cell.
let range = null;
let lit = null;
let filter = { column: null, least: null, most: null };

// Values

function value(cell, column) {
  return column === 0 ? images[cell.image].name : images[cell.image].values[column - 1][cell.index];
}

function written(given, kind) {
  if (given === null) return "–";
  if (kind === "text") return given;
  if (kind === "truth") return given ? "yes" : "no";
  return String(Math.abs(given) >= 1000 ? Math.round(given) : Number(given.toPrecision(4)));
}

function made(name, options = {}, ...children) {
  const element = Object.assign(document.createElement(name), options);
  element.append(...children);
  return element;
}

function drawn(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, given] of Object.entries(attributes)) element.setAttribute(key, given);
  element.append(...children);
  return element;
}

// Colours

function mixed(share) {
  const place = share * (ramp.length - 1);
  const before = Math.min(Math.floor(place), ramp.length - 2);
  const part = place - before;
  const channels = ramp[before].map((low, channel) => Math.round(low + part * (ramp[before + 1][channel] - low)));
  return `rgb(${channels.join(",")})`;
}

function colour(cell) {
  if (chosen === null) return categories[cell.category];
  const given = value(cell, chosen);
  if (given === null) return unknown;
  const share = (given - range.low) / (range.high - range.low);
  return mixed(range.high > range.low ? Math.min(Math.max(share, 0), 1) : 0.5);
}

function colourBy(column) {
  chosen = column;
  const known = column === null ? [] : cells.map((cell) => value(cell, column)).filter((given) => given !== null);
  // A few extreme cells must not leave all others in one colour: one in twenty at either end may lie outside.
  const sorted = Float64Array.from(known).sort();
  const last = sorted.length - 1;
  range = { low: sorted[Math.floor(0.05 * last)], high: sorted[Math.ceil(0.95 * last)] };
  find("#legend").hidden = column === null;
  if (column !== null) {
    const { kind } = columns[column];
    const ends = known.length ? [written(range.low, kind), written(range.high, kind)] : ["no value", ""];
    find("#low").textContent = (sorted[0] < range.low ? "\u2264 " : "") + ends[0];
    find("#high").textContent = (sorted[last] > range.high ? "\u2265 " : "") + ends[1];
    find("#bar").style.background = `linear-gradient(to right, ${ramp.map((rgb) => `rgb(${rgb.join(",")})`).join(",")})`;
    find("#unknown").style.background = unknown;
  }
  for (const svg of document.querySelectorAll(".picture svg")) svg.classList.toggle("coloured", column !== null);
  for (const cell of cells) if (cell.group) cell.group.style.color = colour(cell);
}

// Filter

// What is not known passes only where nothing is asked of the column.
function passes(cell) {
  if (filter.column === null || (filter.least === null && filter.most === null)) return true;
  const given = value(cell, filter.column);
  return given !== null && given >= (filter.least ?? -Infinity) && given <= (filter.most ?? Infinity);
}

function filterBy(column, least, most) {
  filter = { column, least, most };
  for (const cell of cells) cell.group?.classList.toggle("out", !passes(cell));
  fillTable();
}

// Pictures

function path(points, closed) {
  return "M" + points.map((point) => point.map((part) => part.toFixed(1)).join(" ")).join("L") + (closed ? "Z" : "");
}

function cellGroup(cell, { seed, radii, runs, nucleus }, size) {
  const group = drawn("g", { class: "cell", "data-cell": cell.key });
  const turn = (2 * Math.PI) / radii.length;
  const points = radii.map((tenths, ray) => [
    seed[0] + (tenths / 10) * Math.cos(turn * ray),
    seed[1] + (tenths / 10) * Math.sin(turn * ray),
  ]);
  if (points.length) {
    group.append(drawn("path", { class: "area", d: path(points, true) }));
    for (const layer of ["rim", "line"])
      for (const [first, edges, hidden] of runs) {
        const part = Array.from({ length: edges + 1 }, (_, step) => points[(first + step) % points.length]);
        group.append(drawn("path", { class: hidden ? `${layer} hidden` : `${layer} open`, d: path(part, false) }));
      }
  }
  for (const line of nucleus) {
    const corners = Array.from({ length: line.length / 2 }, (_, step) => line.slice(2 * step, 2 * step + 2));
    group.append(drawn("path", { class: "nucleus", d: path(corners, true) }));
  }
  group.append(drawn("path", { class: "seed", d: `M${seed[0]} ${seed[1]}h0` }));
  const text = { x: seed[0] + 0.4 * size, y: seed[1], "font-size": size };
  group.append(drawn("text", text, String(value(cell, 1))));
  return group;
}

function draw(number) {
  const place = find(`.image[data-image="${number}"] .picture`);
  if (place.firstChild) return;
  const { width, height, picture, burnt, cells: outlines } = content(`image-${number}`);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": images[number].name });
  svg.classList.toggle("burnt", burnt);
  svg.classList.toggle("coloured", chosen !== null);
  if (picture) svg.append(drawn("image", { width, height, href: picture, preserveAspectRatio: "none" }));
  outlines.forEach((outline, index) => {
    const cell = cellsOf[number][index];
    cell.seed = outline.seed;
    cell.group = cellGroup(cell, outline, Math.max(width, height) / 55);
    cell.group.style.color = colour(cell);
    cell.group.classList.toggle("out", !passes(cell));
    svg.append(cell.group);
  });
  svg.addEventListener("pointermove", (event) => {
    const cell = cellUnder(event, svg);
    light(cell ?? kept(), cell && event);
  });
  svg.addEventListener("pointerleave", () => light(kept()));
  svg.addEventListener("click", (event) => {
    const cell = cellUnder(event, svg);
    if (cell) showRow(cell);
  });
  place.append(svg);
}

// Where cells overlap, the one whose seed is nearest is meant.
function cellUnder(event, svg) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const distance = (cell) => Math.hypot(cell.seed[0] - point.x, cell.seed[1] - point.y);
  const under = document
    .elementsFromPoint(event.clientX, event.clientY)
    .filter((element) => element.classList.contains("area"))
    .map((element) => cells[element.parentNode.dataset.cell]);
  return under.reduce((best, cell) => (best && distance(best) <= distance(cell) ? best : cell), null);
}

// Light up

// The cell whose row has the focus, by a click or the keyboard, stays lit when the pointer is elsewhere.
function kept() {
  const row = document.activeElement.closest("#cells tbody tr");
  return row ? cells[row.dataset.cell] : null;
}

function light(cell, event = null) {
  if (cell !== lit) {
    for (const part of [lit?.row, lit?.group]) part?.classList.remove("lit");
    for (const part of [cell?.row, cell?.group]) part?.classList.add("lit");
    lit = cell;
  }
  const tip = find("#tip");
  tip.hidden = !cell || !event;
  if (tip.hidden) return;
  const list = made("dl");
  columns.forEach(({ label, kind, shown }, column) => {
    if (shown && column > 1) list.append(made("dt", {}, label), made("dd", {}, written(value(cell, column), kind)));
  });
  tip.replaceChildren(made("strong", {}, `${value(cell, 0)}, cell ${value(cell, 1)}`), list);
  const beside = (at, extent, whole) => Math.max(0, at + 16 + extent > whole ? at - 16 - extent : at + 16);
  tip.style.left = `${beside(event.clientX, tip.offsetWidth, innerWidth)}px`;
  tip.style.top = `${beside(event.clientY, tip.offsetHeight, innerHeight)}px`;
}

function showRow(cell) {
  const place = order.indexOf(cell);
  if (place >= rows) {
    rows = place + ROWS;
    fillBody();
  }
  light(cell);
  focusRow(cell.row);
}

function showPicture(cell) {
  const place = find(`.image[data-image="${cell.image}"]`);
  place.open = true;
  draw(cell.image);
  light(null);
  light(cell);
  place.scrollIntoView({ block: "nearest" });
}

// Table

function sortBy(column) {
  sorting = { column, descending: sorting.column === column && !sorting.descending };
  fillTable();
  find(`#cells th[data-column="${column}"] button`).focus();
}

// What is not known stands last, whichever way round; equals keep the order of images and cells.
function compared(one, other) {
  const [first, second] = [value(one, sorting.column), value(other, sorting.column)];
  if (first === null || second === null) return (first === null) - (second === null);
  return (sorting.descending ? -1 : 1) * ((first > second) - (first < second));
}

function fillTable() {
  const { label } = columns[sorting.column];
  order = cells.filter(passes).sort(compared);
  const number = order.length < cells.length ? `${order.length} of ${cells.length}` : cells.length;
  find("#cells caption").textContent = `${number} cells by ${label}, ${sorting.descending ? "falling" : "rising"}`;
  const head = made("tr");
  columns.forEach(({ label, meaning, kind, shown }, column) => {
    if (!shown) return;
    const button = made("button", { type: "button", title: meaning, onclick: () => sortBy(column) }, label);
    const cell = made("th", { scope: "col", className: kind }, button);
    cell.dataset.column = column;
    const direction = sorting.descending ? "descending" : "ascending";
    cell.setAttribute("aria-sort", sorting.column === column ? direction : "none");
    head.append(cell);
  });
  find("#cells thead").replaceChildren(head);
  fillBody();
}

function fillBody() {
  for (const cell of cells) cell.row = null;
  const lines = order.slice(0, rows).map((cell, place) => {
    cell.row = made("tr", { tabIndex: place === 0 ? 0 : -1, className: cell === lit ? "lit" : "" });
    cell.row.dataset.cell = cell.key;
    columns.forEach(({ kind, shown }, column) => {
      if (shown) cell.row.append(made("td", { className: kind }, written(value(cell, column), kind)));
    });
    return cell.row;
  });
  find("#cells tbody").replaceChildren(...lines);
  find("#more").hidden = rows >= order.length;
  find("#more").textContent = `Show all ${order.length} rows`;
}

// One row at a time is in the order of the tab key; arrows go from row to row.
function focusRow(row) {
  if (!row) return;
  for (const other of document.querySelectorAll('#cells tr[tabindex="0"]')) other.tabIndex = -1;
  row.tabIndex = 0;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

const cellOf = (event) => cells[event.target.closest("tr").dataset.cell];
const keys = {
  ArrowDown: (row) => focusRow(row.nextElementSibling),
  ArrowUp: (row) => focusRow(row.previousElementSibling),
  Home: (row) => focusRow(row.parentNode.firstElementChild),
  End: (row) => focusRow(row.parentNode.lastElementChild),
  Enter: (row) => showPicture(cells[row.dataset.cell]),
  Escape: (row) => row.blur(),
};
const body = find("#cells tbody");
body.addEventListener("pointerover", (event) => light(cellOf(event)));
body.addEventListener("pointerleave", () => light(kept()));
body.addEventListener("focusin", (event) => light(cellOf(event)));
body.addEventListener("focusout", () => light(null));
body.addEventListener("click", (event) => showPicture(cellOf(event)));
body.addEventListener("keydown", (event) => {
  if (!(event.key in keys)) return;
  event.preventDefault();
  keys[event.key](event.target.closest("tr"));
});
find("#more").addEventListener("click", () => {
  rows = cells.length;
  fillBody();
});

// Controls

columns.forEach((column, index) => {
  if (column.kind !== "text" && column.name !== "id")
    for (const list of ["#colour", "#filter"])
      find(list).append(made("option", { value: index, title: column.meaning }, column.label));
  const box = made("input", { type: "checkbox", checked: column.shown });
  box.addEventListener("change", () => {
    column.shown = box.checked;
    fillTable();
  });
  find("#columns fieldset").append(made("label", { title: column.meaning }, box, ` ${column.label}`));
});
find("#colour").addEventListener("change", (event) =>
  colourBy(event.target.value === "" ? null : Number(event.target.value)),
);
const limit = (selector) => (find(selector).value === "" ? null : Number(find(selector).value));
function heedFilter() {
  const column = find("#filter").value;
  filterBy(column === "" ? null : Number(column), limit("#least"), limit("#most"));
}
for (const selector of ["#filter", "#least", "#most"])
  for (const event of ["input", "change"]) find(selector).addEventListener(event, heedFilter);
if (asked) {
  filter = { column: columns.findIndex(({ name }) => name === asked.name), least: asked.least, most: null };
  find("#filter").value = filter.column;
  find("#least").value = asked.least;
}
for (const box of document.querySelectorAll("input[data-class]"))
  box.addEventListener("change", () => document.body.classList.toggle(box.dataset.class, box.checked));
for (const image of document.querySelectorAll(".image")) {
  image.addEventListener("toggle", () => image.open && draw(Number(image.dataset.image)));
  if (image.open) draw(Number(image.dataset.image));
}
fillTable();
