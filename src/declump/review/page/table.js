// The table of cells: sorted, filtered, linked with the picture; only the rows that are seen exist.

const HEIGHT = 26;
const OWN = [
  { name: "n", label: "cell", meaning: "number of the cell in this review", shown: true },
  { name: "verdict", label: "verdict", meaning: "accepted or rejected", shown: false },
  { name: "label", label: "label", meaning: "your own grade or word", shown: true },
];

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === "") return 1;
  if (b === null || b === "") return -1;
  return a < b ? -1 : 1;
}

// "confidence < 0.5" compares a column; any other text is looked for in labels and verdicts.
export function readFilter(text, columns) {
  const said = text.trim().match(/^(.+?)\s*(<=|>=|<|>|=)\s*(-?[\d.]+)$/);
  if (!said) {
    const word = text.trim().toLowerCase();
    return (value) => !word || `${value("label")} ${value("verdict")} ${value("n")}`.toLowerCase().includes(word);
  }
  const wanted = said[1].trim().toLowerCase();
  const column = [...OWN, ...columns].find(({ name, label }) => name === wanted || label.toLowerCase().startsWith(wanted));
  const limit = Number(said[3]);
  const tests = { "<": (v) => v < limit, ">": (v) => v > limit, "<=": (v) => v <= limit, ">=": (v) => v >= limit, "=": (v) => v === limit };
  return (value) => column !== undefined && value(column.name) !== null && tests[said[2]](Number(value(column.name)));
}

export class Table {
  constructor(cells, choose) {
    this.cells = cells;
    this.choose = choose;
    this.sorted = { name: "confidence", down: false };
    this.shown = null;
    this.order = [];
    this.chosen = null;
    this.box = document.getElementById("table");
    this.heads = document.getElementById("heads");
    this.rows = document.getElementById("rows");
    this.filter = document.getElementById("filter");
    this.box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.filter.addEventListener("input", () => this.update());
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest("[data-n]");
      if (row) this.choose(Number(row.dataset.n), true);
    });
    this.rows.addEventListener("pointerover", (event) => {
      const row = event.target.closest("[data-n]");
      if (row) this.hover?.(Number(row.dataset.n));
    });
    this.rows.addEventListener("pointerleave", () => this.hover?.(null));
  }

  // What doubt is sorted by stands beside the number.
  get columns() {
    const measured = this.cells.columns.filter(({ name }) => name !== "id");
    const first = measured.filter(({ name }) => name === "confidence");
    return [OWN[0], ...first, ...OWN.slice(1), ...measured.filter((column) => !first.includes(column))];
  }

  value(n, name) {
    const shape = this.cells.shapes.get(n);
    if (name === "n") return n;
    if (name === "verdict" || name === "label") return shape ? shape[name] : "";
    return this.cells.value(n, name);
  }

  update() {
    const columns = this.columns;
    if (this.known !== columns.length) this.shown = new Set(columns.filter(({ shown }) => shown).map(({ name }) => name));
    this.known = columns.length;
    const passes = readFilter(this.filter.value, this.cells.columns);
    const { name, down } = this.sorted;
    this.order = [...this.cells.shapes.keys()].filter((n) => passes((column) => this.value(n, column)));
    this.order.sort((a, b) => (down ? -1 : 1) * compare(this.value(a, name), this.value(b, name)) || a - b);
    this.drawHeads(columns);
    this.rows.style.height = `${this.order.length * HEIGHT}px`;
    this.draw();
  }

  drawHeads(columns) {
    const seen = columns.filter(({ name }) => this.shown.has(name));
    this.heads.replaceChildren(...seen.map(({ name, label, meaning }) => {
      const head = document.createElement("button");
      head.textContent = label;
      head.title = meaning;
      head.setAttribute("role", "columnheader");
      head.setAttribute("aria-sort", this.sorted.name !== name ? "none" : this.sorted.down ? "descending" : "ascending");
      head.addEventListener("click", () => {
        this.sorted = { name, down: this.sorted.name === name && !this.sorted.down };
        this.update();
      });
      return head;
    }));
    const field = document.querySelector("#columns fieldset");
    if (field.childElementCount === columns.length) return;

    field.replaceChildren(...columns.map(({ name, label, meaning }) => {
      const box = document.createElement("label"), tick = document.createElement("input");
      tick.type = "checkbox";
      tick.checked = this.shown.has(name);
      tick.addEventListener("change", () => {
        this.shown[tick.checked ? "add" : "delete"](name);
        this.update();
      });
      box.title = meaning;
      box.append(tick, ` ${label}`);
      return box;
    }));
  }

  draw() {
    const seen = this.columns.filter(({ name }) => this.shown?.has(name));
    const first = Math.max(Math.floor(this.box.scrollTop / HEIGHT) - 5, 0);
    const last = Math.min(first + Math.ceil(this.box.clientHeight / HEIGHT) + 12, this.order.length);
    const rows = [];
    for (let index = first; index < last; index++) {
      const n = this.order[index], row = document.createElement("div"), shape = this.cells.shapes.get(n);
      row.dataset.n = n;
      row.setAttribute("role", "row");
      row.className = `${n === this.chosen ? "chosen" : ""} ${shape?.verdict || ""}`;
      row.style.top = `${index * HEIGHT}px`;
      for (const { name } of seen) {
        const place = document.createElement("span"), value = this.value(n, name);
        place.setAttribute("role", "gridcell");
        place.textContent = value === null ? "" : typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
        row.append(place);
      }
      rows.push(row);
    }
    this.rows.replaceChildren(...rows);
  }

  show(n) {
    this.chosen = n;
    const index = this.order.indexOf(n);
    if (index >= 0) {
      const top = index * HEIGHT, room = this.box.clientHeight - 2 * HEIGHT;
      if (top < this.box.scrollTop || top > this.box.scrollTop + room) this.box.scrollTop = Math.max(top - room / 2, 0);
    }
    this.draw();
  }

  // The cell after or before the chosen one, in the order of the table.
  step(by) {
    if (!this.order.length) return null;
    const index = this.order.indexOf(this.chosen);
    return this.order[index < 0 ? (by > 0 ? 0 : this.order.length - 1) : (index + by + this.order.length) % this.order.length];
  }
}
