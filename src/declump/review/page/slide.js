// The cells of a slide: those of what is seen of it, asked for as the view moves.

import { openWindow } from "./api.js";

const ROUND = 0.25; // how much round the view is asked for, in views
const MOST = 3; // how much larger than that what is here may be
const PATIENCE = 120; // milliseconds that a view is left alone before its cells are asked for

const holds = (outer, inner) => outer && outer[0] <= inner[0] && outer[1] <= inner[1] && outer[2] >= inner[2] && outer[3] >= inner[3];
const area = ([top, left, bottom, right]) => (bottom - top) * (right - left);

export class SlideWindow {
  constructor(view, cells, page, refresh) {
    Object.assign(this, { view, cells, page, refresh });
    this.asked = 0;
    this.box = null;
    for (const name of ["animation-finish", "resize"]) view.osd.addHandler(name, () => this.soon());
  }

  get on() {
    return this.page.image?.kind === "slide";
  }

  soon() {
    if (!this.on) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), PATIENCE);
  }

  // Ask for the cells of the view, unless they are here, and few others: the table is that of the view.
  async load(anew = false) {
    if (!this.on || !this.view.ready) return;
    const seen = this.view.seenBox(), wanted = this.view.seenBox(ROUND);
    const enough = holds(this.box, seen) && area(this.box) < (this.cells.outlined ? MOST : 1.5) * area(wanted);
    if ((enough && !anew) || !area(seen)) return;
    const number = ++this.asked, id = this.page.id;
    const told = await openWindow(id, wanted);
    if (number !== this.asked || id !== this.page.id) return;
    this.box = told.window;
    this.count = told.count;
    this.cells.load(told);
    this.cells.outlined = told.outlined;
    this.cells.measured(told.measured);
    if (!this.cells.shapes.has(this.view.chosen)) this.view.chosen = null;
    const far = told.outlined ? "" : "; zoom in for outlines";
    document.getElementById("in-view").textContent = `${told.count} of ${this.page.image.total} cells here${far}`;
    this.refresh();
    this.view.redraw();
  }

  // Wait until the view has come to rest, and its cells are here.
  async settle() {
    await new Promise((done) => {
      const timer = setTimeout(done, 1000);
      this.view.osd.addOnceHandler("animation-finish", () => { clearTimeout(timer); done(); });
    });
    clearTimeout(this.timer);
    await this.load();
  }
}
