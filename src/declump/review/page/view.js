// The image in deep zoom (OpenSeadragon), and the outlines drawn over what is seen of it.

import { COLOURS, rampColour } from "./cells.js";

const COARSE_FROM = 800, DOTS_FROM = 3000; // cells in view from which outlines are drawn coarsely, or as dots

const meets = (box, seen) => box && box[0] < seen[2] && box[2] > seen[0] && box[1] < seen[3] && box[3] > seen[1];

export class View {
  constructor(cells, show) {
    this.cells = cells;
    this.show = show; // { outlines, nuclei, clump, others, colour, range }
    this.chosen = null;
    this.lit = null;
    this.moving = new Set(); // cells on their way
    this.cross = null;
    this.sketch = null; // what a tool draws while it is used
    this.canvas = document.getElementById("overlay");
    this.host = document.getElementById("view");
    this.osd = OpenSeadragon({
      id: "osd", showNavigationControl: false, drawer: "canvas", animationTime: 0.25, maxZoomPixelRatio: 12, visibilityRatio: 0.3,
      gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: false, flickEnabled: false },
      gestureSettingsTouch: { clickToZoom: false, dblClickToZoom: false },
      keyboardNavEnabled: false, crossOriginPolicy: false, imageSmoothingEnabled: true,
    });
    this.osd.innerTracker.keyHandler = null;
    this.osd.innerTracker.keyDownHandler = null;
    for (const name of ["animation", "open", "resize", "animation-finish", "update-viewport"]) this.osd.addHandler(name, () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.host);
    this.drawn = () => {};
  }

  open(id, image) {
    const [height, width] = image.shape;
    this.size = { height, width };
    this.shown = id;
    return new Promise((done) => {
      this.osd.addOnceHandler("open", () => done());
      this.osd.open({
        height, width, tileSize: 512, minLevel: image.tiles.shallowest, maxLevel: image.tiles.deepest,
        getTileUrl: (level, column, row) => `/api/images/${id}/tiles/${level}/${column}_${row}.jpg`,
      });
    });
  }

  get ready() {
    return this.osd.world.getItemCount() > 0;
  }

  // Screen pixels an image pixel, and where the image begins on the screen.
  frame() {
    const item = this.osd.world.getItemAt(0);
    const origin = item.imageToViewerElementCoordinates(new OpenSeadragon.Point(0, 0));
    const corner = item.imageToViewerElementCoordinates(new OpenSeadragon.Point(this.size.width, this.size.height));
    return { x: origin.x, y: origin.y, scale: (corner.x - origin.x) / this.size.width };
  }

  toImage(point) {
    const { x, y, scale } = this.frame();
    return { row: (point.y - y) / scale - 0.5, column: (point.x - x) / scale - 0.5 };
  }

  toScreen(row, column) {
    const { x, y, scale } = this.frame();
    return { x: x + (column + 0.5) * scale, y: y + (row + 0.5) * scale };
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
      this.drawn();
    });
  }

  colourOf(shape) {
    if (!this.show.colour) return COLOURS[shape.n % COLOURS.length];
    const value = this.cells.value(shape.n, this.show.colour);
    const { low, high } = this.show.range;
    return rampColour(value === null ? NaN : high > low ? (value - low) / (high - low) : 0.5);
  }

  draw() {
    const density = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.host;
    if (this.canvas.width !== Math.round(width * density) || this.canvas.height !== Math.round(height * density)) {
      this.canvas.width = Math.round(width * density);
      this.canvas.height = Math.round(height * density);
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!this.ready || !this.size) return;
    const { x, y, scale } = this.frame();
    const seen = [-x / scale, -y / scale, (width - x) / scale, (height - y) / scale];
    pen.setTransform(scale * density, 0, 0, scale * density, x * density, y * density);
    pen.lineJoin = "round";
    const thin = 1 / scale;
    if (this.show.clump) {
      pen.strokeStyle = "#000000b0";
      pen.lineWidth = 1.2 * thin;
      pen.setLineDash([2 * thin, 3 * thin]);
      for (const { path, box } of this.cells.clump) if (meets(box, seen)) pen.stroke(path);
    }
    const shapes = [...this.cells.shapes.values()].filter(({ box }) => meets(box, seen));
    if (this.cells.outlined === false) this.drawDots(pen, shapes, thin);
    else if (shapes.length > COARSE_FROM) this.drawFar(pen, shapes, thin);
    else {
      if (this.show.outlines) for (const shape of shapes) this.drawShape(pen, shape, thin, 1.6);
      if (this.show.nuclei) for (const shape of shapes) this.drawNucleus(pen, shape, thin);
    }
    if (this.show.others) this.drawOthers(pen, thin);
    for (const n of [this.lit, this.chosen]) {
      const shape = this.cells.shapes.get(n);
      if (!shape) continue;
      pen.setLineDash([]);
      pen.strokeStyle = "#ffffffd0";
      pen.lineWidth = 5.5 * thin;
      pen.stroke(shape.whole);
      if (n === this.chosen) {
        pen.fillStyle = "#fff3c433";
        pen.fill(shape.whole);
      }
      this.drawShape(pen, shape, thin, 3);
      this.drawNucleus(pen, shape, thin);
    }
    if (this.sketch) this.sketch(pen, thin);
    if (this.cross) this.drawCross(pen, thin);
  }

  // Many cells at once: no dashes, no nuclei, few points; thousands are dots.
  drawFar(pen, shapes, thin) {
    if (shapes.length > DOTS_FROM) return this.drawDots(pen, shapes, thin);
    if (!this.show.outlines) return;
    pen.setLineDash([]);
    pen.lineWidth = 1.2 * thin;
    for (const shape of shapes) {
      pen.strokeStyle = this.colourOf(shape);
      pen.stroke(shape.coarse);
    }
  }

  drawDots(pen, shapes, thin) {
    if (!this.show.outlines) return;
    for (const shape of shapes) {
      const [row, column] = shape.seed;
      pen.fillStyle = this.colourOf(shape);
      pen.fillRect(column + 0.5 - 2 * thin, row + 0.5 - 2 * thin, 4 * thin, 4 * thin);
    }
  }

  // The box [top, left, bottom, right] of the image that is seen, widened by a share of the view on every side.
  seenBox(margin = 0) {
    const { x, y, scale } = this.frame(), { clientWidth: width, clientHeight: height } = this.host;
    const round = [margin * (height / scale), margin * (width / scale)];
    const box = [-y / scale - round[0], -x / scale - round[1], (height - y) / scale + round[0], (width - x) / scale + round[1]];
    const inside = (value, size) => Math.min(Math.max(Math.round(value), 0), size);
    return box.map((value, k) => inside(value, k % 2 ? this.size.width : this.size.height));
  }

  drawShape(pen, shape, thin, width) {
    if (!shape.reach) return;
    pen.strokeStyle = this.colourOf(shape);
    pen.globalAlpha = shape.verdict === "rejected" ? 0.35 : 1;
    pen.lineWidth = width * thin;
    pen.setLineDash([]);
    pen.stroke(shape.open);
    pen.setLineDash([6 * thin, 5 * thin]);
    pen.stroke(shape.hidden);
    pen.globalAlpha = 1;
  }

  drawNucleus(pen, shape, thin) {
    const colour = this.colourOf(shape);
    pen.setLineDash([]);
    if (shape.nucleusPath && shape.nucleus.length) {
      pen.strokeStyle = colour;
      pen.lineWidth = 1.2 * thin;
      pen.stroke(shape.nucleusPath);
    }
    const [row, column] = shape.seed, size = 3 * thin;
    pen.fillStyle = colour;
    pen.strokeStyle = "#fff";
    pen.lineWidth = thin;
    pen.beginPath();
    pen.arc(column + 0.5, row + 0.5, size, 0, 7);
    pen.fill();
    pen.stroke();
    if (shape.verdict === "accepted") {
      pen.strokeStyle = "#009e73";
      pen.lineWidth = 2 * thin;
      pen.beginPath();
      pen.arc(column + 0.5, row + 0.5, 2 * size, 0, 7);
      pen.stroke();
    }
  }

  drawOthers(pen, thin) {
    pen.setLineDash([]);
    pen.lineWidth = 1.5 * thin;
    for (const { kind, place: [row, column] } of this.cells.others) {
      const size = 4 * thin, x = column + 0.5, y = row + 0.5;
      pen.strokeStyle = kind === "leukocyte" ? "#7a0177" : "#555";
      pen.beginPath();
      pen.moveTo(x - size, y - size);
      pen.lineTo(x + size, y + size);
      pen.moveTo(x + size, y - size);
      pen.lineTo(x - size, y + size);
      pen.stroke();
    }
  }

  drawCross(pen, thin) {
    const x = this.cross.column + 0.5, y = this.cross.row + 0.5;
    for (const [colour, width] of [["#ffffffd0", 4], ["#000", 1.5]]) {
      pen.setLineDash([]);
      pen.strokeStyle = colour;
      pen.lineWidth = width * thin;
      pen.beginPath();
      for (const [across, down] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        pen.moveTo(x + 4 * thin * across, y + 4 * thin * down);
        pen.lineTo(x + 14 * thin * across, y + 14 * thin * down);
      }
      pen.stroke();
    }
  }

  // Bring a cell, or a place, into view.
  lookAt(shape, closer = false) {
    if (!this.ready) return;
    const item = this.osd.world.getItemAt(0);
    const side = Math.max(2.5 * shape.reach, 60);
    const rect = item.imageToViewportRectangle(shape.seed[1] - side, shape.seed[0] - side, 2 * side, 2 * side);
    const bounds = this.osd.viewport.getBounds();
    const centre = item.imageToViewportCoordinates(shape.seed[1], shape.seed[0]);
    if (closer || rect.width > bounds.width) this.osd.viewport.fitBounds(rect);
    else if (!bounds.containsPoint(centre)) this.osd.viewport.panTo(centre);
  }

  keepCross() {
    const item = this.osd.world.getItemAt(0);
    const point = item.imageToViewportCoordinates(this.cross.column, this.cross.row);
    if (!this.osd.viewport.getBounds().containsPoint(point)) this.osd.viewport.panTo(point);
  }

  zoom(factor) {
    const item = this.ready && this.osd.world.getItemAt(0);
    const about = this.cross && item ? item.imageToViewportCoordinates(this.cross.column, this.cross.row) : undefined;
    this.osd.viewport.zoomBy(factor, about);
    this.osd.viewport.applyConstraints();
  }
}
