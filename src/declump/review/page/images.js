// The list of images: thumbnails, progress, doubtful ones first.

function describe(image) {
  if (image.status === "failed") return image.reason;
  if (image.status !== "ready") return image.status === "working" ? `is being segmented${image.doing ? `: ${image.doing}` : ""}` : "waits";
  const parts = [`${image.cells} cells`];
  if (image.confidence !== null && image.confidence !== undefined) parts.push(`confidence ${image.confidence.toFixed(2)}`);
  if (image.edits) parts.push(`${image.edits} edit${image.edits === 1 ? "" : "s"}${image.unsaved ? ", not saved" : ""}`);
  return parts.join(", ");
}

export class ImageList {
  constructor(open) {
    this.images = new Map();
    this.rows = new Map();
    this.current = null;
    this.list = document.getElementById("image-list");
    this.order = document.getElementById("image-order");
    this.order.addEventListener("change", () => this.arrange());
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest("li");
      if (row) open(row.dataset.id);
    });
    this.list.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (by) {
        event.preventDefault();
        event.stopPropagation();
        open(this.step(by));
      }
    });
  }

  load(images) {
    for (const image of images) this.take(image, false);
    this.arrange();
  }

  take(image, arrange = true) {
    this.images.set(image.id, { ...this.images.get(image.id), ...image });
    let row = this.rows.get(image.id);
    if (!row) {
      row = document.createElement("li");
      row.dataset.id = image.id;
      const picture = document.createElement("img"), text = document.createElement("div");
      picture.loading = "lazy";
      picture.alt = "";
      picture.addEventListener("error", () => { picture.style.visibility = "hidden"; }); // it cannot be read
      picture.width = 64;
      picture.height = 48;
      if (image.status !== "failed") picture.src = `/api/images/${image.id}/thumbnail.jpg`;
      for (const name of ["name", "facts"]) {
        const part = document.createElement("div");
        part.className = name;
        text.append(part);
      }
      row.append(picture, text);
      this.rows.set(image.id, row);
    }
    const known = this.images.get(image.id);
    row.className = `${known.status} ${known.id === this.current ? "open" : ""}`;
    row.querySelector(".name").textContent = `${known.finished ? "✓ " : ""}${known.name}`;
    row.querySelector(".name").classList.toggle("done", Boolean(known.finished));
    row.querySelector(".facts").textContent = describe(known);
    if (arrange) this.arrangeSoon();
  }

  // Many images may have news at once.
  arrangeSoon() {
    this.waiting ??= setTimeout(() => {
      this.waiting = null;
      this.arrange();
    }, 50);
  }

  // Reviewed ones last, the least confident first.
  arrange() {
    const doubt = this.order.value === "doubt";
    const rank = (image) => [image.finished ? 1 : 0, image.status === "ready" ? 0 : image.status === "failed" ? 2 : 1, image.confidence ?? 2];
    this.sorted = [...this.images.values()].sort((a, b) => {
      if (doubt) for (const [k, left] of rank(a).entries()) if (left !== rank(b)[k]) return left - rank(b)[k];
      return a.name < b.name ? -1 : 1;
    });
    const rows = this.sorted.map(({ id }) => this.rows.get(id));
    if (rows.some((row, k) => this.list.children[k] !== row)) this.list.replaceChildren(...rows);
    const done = this.sorted.filter(({ status }) => status === "ready" || status === "failed").length;
    const finished = this.sorted.filter((image) => image.finished).length;
    document.getElementById("progress").textContent =
      done < this.sorted.length ? `${done} of ${this.sorted.length} segmented` : `${finished} of ${this.sorted.length} reviewed`;
  }

  open(id) {
    const before = this.current;
    this.current = id;
    for (const name of [before, id]) if (this.images.has(name)) this.take({ id: name }, false);
    this.rows.get(id)?.scrollIntoView({ block: "nearest" });
  }

  step(by) {
    const index = this.sorted.findIndex(({ id }) => id === this.current);
    const count = this.sorted.length; // a reviewed image goes to the end of the list: after it comes the first one
    return this.sorted[(index + by + count) % count]?.id;
  }
}
