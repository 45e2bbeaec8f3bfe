"use strict";

// Shows a tree as boxes. The arrow keys move between them, Enter makes one the widest, and Escape goes back.
const ROW_HEIGHT = 22;

// Boxes that are narrower than this share of the width are left out.
const NARROWEST = 0.0015;

// Pixels below which a box has no text.
const NARROWEST_TEXT = 26;

class Icicle {
  // `measures` are those of the figure; `place` receives the boxes, `output` what is said about one.
  constructor(place, output, measures) {
    this.place = place;
    this.output = output;
    this.measures = measures;
    this.words = "";
    place.setAttribute("role", "tree");
    const about = (act) => (event) => { const box = this.boxOf(event); if (box) act(box); };
    place.addEventListener("keydown", (event) => this.press(event));
    place.addEventListener("click", about((box) => this.zoom(box.path)));
    for (const name of ["mouseover", "focusin"]) place.addEventListener(name, about((box) => this.tell(box)));
    new ResizeObserver(() => { if (place.clientWidth !== this.width) this.draw(); }).observe(place);
  }

  // Draws the tree by the number of a measure.
  show(root, measure) {
    this.measure = measure;
    this.root = root;
    this.output.textContent = "";
    this.widen([root]);
  }

  // Marks the boxes whose label contains the words.
  search(words) {
    this.words = words.toLowerCase();
    this.draw();
  }

  boxOf(event) {
    return event.target.closest("[role=treeitem]")?.__data__;
  }

  zoom(path) {
    this.widen(path);
    this.focus(this.current);
  }

  // `path` leads from the root to the node that is to be the widest.
  widen(path) {
    this.path = path;
    this.boxes = this.placeBoxes(path);
    this.current = this.boxes[path.length - 1];
    this.draw();
  }

  // The boxes above the widest one, that, and those in it; each knows its neighbors.
  placeBoxes(path) {
    const above = path.slice(0, -1).map((data, row) => ({ data, row, x0: 0, x1: 1, path: path.slice(0, row + 1) }));
    const boxes = new Map();
    layOut(path[path.length - 1], this.measure, NARROWEST).each((node) => {
      const up = boxes.get(node.parent) ?? above[above.length - 1];
      const box = { data: node.data, row: above.length + node.depth, x0: node.x0, x1: node.x1, up, path: [...(up?.path ?? []), node.data] };
      const row = node.parent?.children ?? [];
      box.left = boxes.get(row[row.indexOf(node) - 1]);
      if (box.left) box.left.right = box;
      boxes.set(node, box);
    });
    const all = [...above, ...boxes.values()];
    above.forEach((box, row) => { box.up = above[row - 1]; });
    for (const box of all) if (box.up) box.up.down ??= box;
    return all;
  }

  draw() {
    if (!this.boxes) return;
    const width = this.place.clientWidth;
    this.width = width;
    const percent = (number) => `${number * 100}%`;
    this.place.style.height = `${(Math.max(...this.boxes.map((box) => box.row)) + 1) * ROW_HEIGHT}px`;
    d3.select(this.place).selectAll("div").data(this.boxes).join("div")
      .attr("role", "treeitem").attr("tabindex", (box) => (box === this.current ? 0 : -1))
      .attr("aria-level", (box) => box.row + 1).attr("aria-label", (box) => this.describe(box))
      .attr("class", (box) => this.classes(box))
      .style("left", (box) => percent(box.x0)).style("width", (box) => percent(box.x1 - box.x0))
      .style("top", (box) => `${box.row * ROW_HEIGHT}px`).style("--hue", (box) => hue(box.data.g))
      .text((box) => ((box.x1 - box.x0) * width < NARROWEST_TEXT ? "" : box.data.n));
  }

  classes(box) {
    const match = this.words && box.data.n.toLowerCase().includes(this.words);
    const above = box.row < this.path.length - 1;
    return `box${above ? " above" : ""}${match ? " match" : ""}${box.data.g ? "" : " plain"}`;
  }

  describe({ data }) {
    const { unit } = this.measures[this.measure];
    const [whole, own] = [data.i[this.measure], data.o[this.measure]].map((value) => formatValue(value, unit));
    const parts = [data.c.length > 0 ? `${whole}, own ${own}` : whole,
      share(data.i[this.measure], this.root.i[this.measure]), data.g !== data.n && data.g, data.d];
    return `${data.n}: ${parts.filter(Boolean).join("; ")}`;
  }

  tell(box) {
    this.output.textContent = this.describe(box);
  }

  focus(box) {
    this.current = box;
    d3.select(this.place).selectAll("div").attr("tabindex", (each) => (each === box ? 0 : -1))
      .filter((each) => each === box).node()?.focus();
  }

  press(event) {
    const box = this.boxOf(event);
    if (!box) return;
    const neighbor = { ArrowDown: box.down, ArrowUp: box.up, ArrowLeft: box.left, ArrowRight: box.right, Home: this.boxes[0] }[event.key];
    const path = { Enter: box.path, " ": box.path, Escape: this.path.slice(0, -1) }[event.key];
    if (neighbor) this.focus(neighbor);
    else if (path?.length > 0) this.zoom(path);
    else return;
    event.preventDefault();
  }
}
