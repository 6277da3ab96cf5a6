// The grid of cells: each cut out of the image, in the order of the table.

import { COLOURS } from "./cells.js";

const MOST = 400;

export class Grid {
  constructor(cells, table, choose) {
    Object.assign(this, { cells, table, choose });
    this.box = document.getElementById("grid");
    this.seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.fill(target);
    }, { root: this.box });
  }

  get open() {
    return !this.box.hidden;
  }

  show(image, size) {
    Object.assign(this, { image, size });
    this.seen.disconnect();
    this.box.replaceChildren(...this.table.order.slice(0, MOST).map((n) => {
      const button = document.createElement("button"), canvas = document.createElement("canvas");
      button.dataset.n = n;
      button.className = n === this.table.chosen ? "chosen" : "";
      canvas.width = canvas.height = 160;
      const shape = this.cells.shapes.get(n);
      const words = [n, this.cells.confidence(n).toFixed(2), shape.verdict, shape.label].filter(Boolean);
      button.append(canvas, words.join(" · "));
      button.addEventListener("click", () => this.choose(n));
      this.seen.observe(button);
      return button;
    }));
  }

  fill(button) {
    this.seen.unobserve(button);
    const shape = this.cells.shapes.get(Number(button.dataset.n));
    if (!shape?.reach) return;
    const side = Math.ceil(1.15 * shape.reach), [row, column] = shape.seed.map(Math.round);
    const [top, left] = [Math.max(row - side, 0), Math.max(column - side, 0)];
    const [bottom, right] = [Math.min(row + side, this.size.height), Math.min(column + side, this.size.width)];
    const picture = new Image();
    picture.onload = () => {
      const canvas = button.querySelector("canvas"), pen = canvas.getContext("2d"), scale = canvas.width / (2 * side);
      pen.scale(scale, scale);
      pen.translate(side - column, side - row);
      pen.drawImage(picture, left, top, right - left, bottom - top);
      pen.strokeStyle = COLOURS[shape.n % COLOURS.length];
      pen.lineWidth = 2 / scale;
      pen.stroke(shape.open);
      pen.setLineDash([5 / scale, 4 / scale]);
      pen.stroke(shape.hidden);
    };
    picture.src = `/api/images/${this.image}/crops/${top}_${left}_${bottom}_${right}.jpg`;
  }
}
