// The tools: what a press, a drag, a click or Enter does in the picture.

export const TOOLS = [
  { name: "look", key: "v", label: "Look", help: "choose a cell; drag its seed to move it" },
  { name: "add", key: "a", label: "Add seed", help: "a cell was missed: its nucleus is here" },
  { name: "move", key: "m", label: "Move seed", help: "the nucleus of the chosen cell is here" },
  { name: "pull", key: "d", label: "Drag outline", help: "the outline of the chosen cell goes through here" },
  { name: "join", key: "j", label: "Join nuclei", help: "the nucleus of the chosen cell and this one are one" },
  { name: "part", key: "p", label: "Part nucleus", help: "cut the nucleus of the chosen cell along a line" },
  { name: "paint", key: "b", label: "Paint clump", help: "there is cell here" },
  { name: "erase", key: "e", label: "Erase clump", help: "there is no cell here" },
];
export const ACTIONS = [
  { name: "delete", key: "x", label: "Delete", help: "there is no such cell (also Delete)" },
  { name: "leukocyte", key: "l", label: "Leukocyte", help: "this is a leukocyte, not a nucleus" },
  { name: "other", key: "o", label: "Debris", help: "this is debris, not a nucleus" },
  { name: "accept", key: "y", label: "Accept", help: "this cell is good as it is" },
  { name: "reject", key: "n", label: "Reject", help: "this cell is not to be used" },
  { name: "label", key: "t", label: "Label", help: "a grade or word of your own" },
];
const NEAR = 9; // screen pixels within which a seed is meant

export class Tools {
  constructor(view, cells, act) {
    Object.assign(this, { view, cells, act });
    this.tool = "look";
    this.stroke = null;
    this.draw();
    const osd = view.osd;
    osd.addHandler("canvas-press", (event) => this.press(event));
    osd.addHandler("canvas-drag", (event) => this.drag(event));
    osd.addHandler("canvas-release", (event) => this.release(event));
    osd.addHandler("canvas-click", (event) => event.quick && this.click(view.toImage(event.position), event.originalEvent));
  }

  draw() {
    const bar = document.getElementById("tools");
    const button = ({ name, key, label, help }, act, pressed) => {
      const made = document.createElement("button");
      const cap = document.createElement("kbd");
      made.dataset.name = name;
      made.title = `${help} (${key.toUpperCase()})`;
      cap.textContent = key.toUpperCase();
      made.append(label, cap);
      if (pressed !== undefined) made.setAttribute("aria-pressed", pressed);
      made.addEventListener("click", act);
      return made;
    };
    const gap = document.createElement("span");
    gap.className = "gap";
    bar.replaceChildren(
      ...TOOLS.map((tool) => button(tool, () => this.choose(tool.name), tool.name === this.tool)), gap,
      ...ACTIONS.map((action) => button(action, () => this.act.do(action.name))),
    );
  }

  choose(name) {
    this.tool = name;
    this.stroke = null;
    this.view.sketch = null;
    this.start = null;
    for (const button of document.querySelectorAll("#tools [aria-pressed]")) button.setAttribute("aria-pressed", button.dataset.name === name);
    this.view.host.style.cursor = name === "look" ? "" : "crosshair";
    this.view.redraw();
  }

  get brush() {
    return Number(document.getElementById("brush").value);
  }

  nearSeed(point) {
    const shape = this.cells.shapes.get(this.view.chosen);
    if (!shape) return null;
    const { scale } = this.view.frame();
    return Math.hypot(shape.seed[0] - point.row, shape.seed[1] - point.column) * scale < NEAR ? shape : null;
  }

  press(event) {
    if (!this.view.ready) return;
    const point = this.view.toImage(event.position);
    const drags = ["pull", "part", "paint", "erase"].includes(this.tool) || (this.tool === "look" && this.nearSeed(point)) || this.tool === "move";
    this.stroke = drags ? { points: [point], moved: false } : null;
  }

  drag(event) {
    if (!this.stroke) return;
    event.preventDefaultAction = true;
    this.stroke.moved = true;
    const point = this.view.toImage(event.position);
    this.stroke.points.push(point);
    const points = this.stroke.points;
    this.view.sketch = (pen, thin) => {
      const painting = this.tool === "paint" || this.tool === "erase";
      pen.setLineDash([]);
      pen.lineCap = "round";
      pen.strokeStyle = this.tool === "erase" ? "#d55e0080" : painting ? "#009e7380" : "#000";
      pen.lineWidth = painting ? 2 * this.brush : 2 * thin;
      pen.beginPath();
      const shown = painting ? points : [points[0], points[points.length - 1]];
      shown.forEach(({ row, column }, k) => pen[k ? "lineTo" : "moveTo"](column + 0.5, row + 0.5));
      pen.stroke();
      pen.lineCap = "butt";
    };
    this.view.redraw();
  }

  release() {
    const stroke = this.stroke;
    this.stroke = null;
    this.view.sketch = null;
    if (stroke?.moved) this.finish(stroke.points);
    this.view.redraw();
  }

  finish(points) {
    const last = points[points.length - 1], first = points[0];
    if (this.tool === "look" || this.tool === "move") this.use("move", last);
    else if (this.tool === "pull") this.use("pull", last);
    else if (this.tool === "part") this.part(first, last);
    else this.paint(points);
  }

  click(point, event) {
    if (this.tool === "look" || event?.shiftKey) this.act.choose(this.cells.at(point.row, point.column)?.n ?? null);
    else if (this.tool === "part") this.partAt(point);
    else if (this.tool === "paint" || this.tool === "erase") this.paint([point]);
    else this.use(this.tool, point);
  }

  // What Enter does at the cross.
  use(tool, point) {
    const chosen = this.view.chosen, { row, column } = point;
    if (tool === "look") return this.act.choose(this.cells.at(row, column)?.n ?? null);
    if (tool === "add") return this.act.edit({ edit: "add seed", row, column });
    if (tool === "paint" || tool === "erase") return this.paint([point]);
    if (tool === "part") return this.partAt(point);
    if (!chosen) {
      this.act.choose(this.cells.at(row, column)?.n ?? null);
      return this.act.say(this.view.chosen ? "" : "choose a cell first");
    }
    if (tool === "move") return this.act.edit({ edit: "move seed", cell: chosen, row, column });
    if (tool === "pull") return this.act.edit({ edit: "pull outline", cell: chosen, row, column });
    const other = this.cells.nearest(row, column, chosen);
    if (other) this.act.edit({ edit: "join nuclei", cell: chosen, other: other.n });
  }

  part(first, last) {
    const shape = this.cells.shapes.get(this.view.chosen) || this.cells.nearest((first.row + last.row) / 2, (first.column + last.column) / 2);
    if (shape) this.act.edit({ edit: "part nucleus", cell: shape.n, row: first.row, column: first.column, end_row: last.row, end_column: last.column });
  }

  // Two clicks, or two times Enter, are the ends of the line.
  partAt(point) {
    if (!this.start) {
      this.start = point;
      return this.act.say("now the other end of the line");
    }
    this.part(this.start, point);
    this.start = null;
  }

  paint(points) {
    this.act.edit({ edit: "paint clump", points: points.map(({ row, column }) => [row, column]), radius: this.brush, inside: this.tool === "paint" });
  }
}
