// The cells of the open image: their outlines as paths, where they lie, and what is known of them.

export const COLOURS = ["#e69f00", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#0072b2", "#f0e442"];
const RAMP = [[68, 1, 84], [71, 45, 123], [59, 82, 139], [44, 114, 142], [33, 145, 140], [40, 174, 128], [94, 201, 98], [173, 220, 48], [253, 231, 37]];
const UNKNOWN = "#969696";

export function rampColour(share) {
  if (!Number.isFinite(share)) return UNKNOWN;
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(place), RAMP.length - 2);
  const mixed = RAMP[low].map((part, k) => Math.round(part + (RAMP[low + 1][k] - part) * (place - low)));
  return `rgb(${mixed.join(",")})`;
}

function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const radii = new Float32Array(bytes.length / 2);
  for (let k = 0; k < radii.length; k++) radii[k] = (bytes[2 * k] | (bytes[2 * k + 1] << 8)) / 10;
  return radii;
}

const directions = new Map();
function directionsOf(count) {
  if (!directions.has(count)) {
    const angles = Array.from({ length: count }, (_, k) => (2 * Math.PI * k) / count);
    directions.set(count, [angles.map(Math.cos), angles.map(Math.sin)]);
  }
  return directions.get(count);
}

// Pixel centres are at whole numbers for rows and columns; on the screen a pixel begins there.
const HALF = 0.5;
const COARSE_RAYS = 36; // of an outline seen from afar

export class CellShape {
  constructor(record) {
    this.n = record.n;
    this.verdict = "";
    this.label = "";
    this.nucleus = [];
    this.paths = {};
    this.runs = [];
    this.reach = 0;
    this.take(record);
  }

  take(record) {
    for (const name of ["verdict", "label", "bare", "clump"]) if (name in record) this[name] = record[name];
    if (record.seed) {
      this.seed = record.seed;
      if (!this.radii) this.box = [record.seed[1], record.seed[0], record.seed[1] + 1, record.seed[0] + 1];
    }
    if (record.nucleus) {
      this.nucleus = record.nucleus;
      this.nucleusPath = new Path2D();
      for (const line of record.nucleus) {
        line.forEach((_, k) => k % 2 || this.nucleusPath[k ? "lineTo" : "moveTo"](line[k] + HALF, line[k + 1] + HALF));
        this.nucleusPath.closePath();
      }
    }
    if (record.radii) this.outline(unpack(record.radii), record.runs);
  }

  outline(radii, runs) {
    this.radii = radii;
    this.runs = runs || [[0, radii.length, 0]];
    this.reach = radii.reduce((most, radius) => Math.max(most, radius), 0);
    const x = this.seed[1] + HALF, y = this.seed[0] + HALF;
    this.box = [x - this.reach, y - this.reach, x + this.reach, y + this.reach];
    this.paths = {};
  }

  // Paths are made when they are drawn first: of thousands of cells most are seen from afar, or not at all.
  get open() {
    return (this.paths.open ??= this.trace(this.runs.filter(([, , dashed]) => !dashed)));
  }

  get hidden() {
    return (this.paths.hidden ??= this.trace(this.runs.filter(([, , dashed]) => dashed)));
  }

  get whole() {
    return (this.paths.whole ??= this.trace());
  }

  get coarse() {
    return (this.paths.coarse ??= this.trace(null, COARSE_RAYS));
  }

  // Runs of edges, [first ray, number of edges], as one path; by default all, of no more than a number of rays.
  trace(runs = null, most = Infinity) {
    const path = new Path2D();
    if (!this.reach) return path;
    const [across, down] = directionsOf(this.radii.length);
    const x = this.seed[1] + HALF, y = this.seed[0] + HALF, count = this.radii.length, every = Math.max(Math.round(count / most), 1);
    for (const [first, edges] of runs || [[0, count]]) {
      for (let k = first; k < first + edges + every; k += every) {
        const ray = Math.min(k, first + edges) % count;
        path[k === first ? "moveTo" : "lineTo"](x + this.radii[ray] * across[ray], y + this.radii[ray] * down[ray]);
      }
    }
    return path;
  }

  radiusAt(row, column) {
    const turn = Math.atan2(row - this.seed[0], column - this.seed[1]) / (2 * Math.PI);
    const count = this.radii.length;
    return this.radii[((Math.round(turn * count) % count) + count) % count];
  }

  holds(row, column) {
    const distance = Math.hypot(row - this.seed[0], column - this.seed[1]);
    return distance <= this.reach && distance <= this.radiusAt(row, column);
  }
}

export class Cells {
  constructor() {
    this.clear();
  }

  clear() {
    this.shapes = new Map();
    this.columns = [];
    this.places = new Map();
    this.values = new Map();
    this.others = [];
    this.clump = [];
  }

  load(image) {
    this.clear();
    for (const record of image.cells || []) this.shapes.set(record.n, new CellShape(record));
    this.others = image.others || [];
    this.takeClump(image.clump || []);
  }

  // The cells of a clump of a slide, in the place of those that were there.
  replacePart({ box, gone, cells, others, clump, measured }) {
    const [top, left, bottom, right] = box;
    const outside = (row, column) => row < top || row >= bottom || column < left || column >= right;
    for (const n of gone) this.shapes.delete(n);
    for (const record of cells) if (this.outlined) this.take(record);
    this.others = [...this.others.filter(({ place }) => outside(...place)), ...others];
    const kept = this.clump.filter(({ box: [x, y, farX, farY] }) => farX < left || x > right || farY < top || y > bottom);
    this.takeClump(clump);
    this.clump.push(...kept);
    const places = this.columns.map(({ name }) => measured.columns.findIndex((column) => column.name === name));
    measured.numbers.forEach((n, row) => this.values.set(n, places.map((place) => measured.values[place]?.[row] ?? null)));
  }

  // The outlines of clumps, each with the box it lies in: one path of all would take seconds.
  takeClump(lines) {
    this.clump = lines.map((line) => {
      const path = new Path2D(), box = [Infinity, Infinity, -Infinity, -Infinity];
      for (let k = 0; k < line.length; k += 2) {
        const x = line[k] + HALF, y = line[k + 1] + HALF;
        path[k ? "lineTo" : "moveTo"](x, y);
        box[0] = Math.min(box[0], x);
        box[1] = Math.min(box[1], y);
        box[2] = Math.max(box[2], x);
        box[3] = Math.max(box[3], y);
      }
      return { path, box };
    });
  }

  take(record) {
    const shape = this.shapes.get(record.n);
    if (shape) shape.take(record);
    else if (record.seed) this.shapes.set(record.n, new CellShape(record));
  }

  measured(message) {
    this.columns = message.columns;
    this.places = new Map(message.columns.map(({ name }, index) => [name, index]));
    if (message.others) this.others = message.others;
    this.values = new Map(message.numbers.map((n, row) => [n, message.values.map((column) => column[row])]));
  }

  value(n, name) {
    return this.values.get(n)?.[this.places.get(name)] ?? null;
  }

  // Of the cells that a point lies in, the one with the nearest seed is meant.
  at(row, column) {
    let best = null, least = Infinity;
    for (const shape of this.shapes.values()) {
      const distance = Math.hypot(row - shape.seed[0], column - shape.seed[1]);
      if (distance < least && shape.radii && shape.holds(row, column)) [best, least] = [shape, distance];
    }
    return best;
  }

  nearest(row, column, except) {
    let best = null, least = Infinity;
    for (const shape of this.shapes.values()) {
      const distance = Math.hypot(row - shape.seed[0], column - shape.seed[1]);
      if (shape.n !== except && distance < least) [best, least] = [shape, distance];
    }
    return best;
  }

  confidence(n) {
    return this.value(n, "confidence") ?? 1;
  }
}
