"use strict";

// Shows a tree as a table whose rows open, the heaviest first. Rows are made when they are opened.
const CHILDREN_LIMIT = 50;

// At first, the rows above this share of the whole are open.
const OPEN_SHARE = 0.1;
const OPEN_LIMIT = 30;

class TreeTable {
  constructor(place, title, measures) {
    this.measures = measures;
    this.body = element("tbody");
    const table = element("table", { role: "treegrid" });
    const head = element("tr");
    head.append(element("th", { scope: "col", class: "text" }, "place"));
    for (const measure of measures) {
      head.append(element("th", { scope: "col" }, measure.name), element("th", { scope: "col" }, "own"));
    }
    const top = element("thead");
    top.append(head);
    table.append(element("caption", {}, title), top, this.body);
    place.append(table);
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("keydown", (event) => this.press(event));
  }

  show(root, measure) {
    this.measure = measure;
    this.whole = root.i[measure];
    this.opened = 0;
    this.body.replaceChildren(this.row(root, 1));
    this.openHeavy(this.body.firstElementChild);
  }

  openHeavy(row) {
    const heavy = row.node && row.node.i[this.measure] >= this.whole * OPEN_SHARE;
    if (!heavy || row.node.c.length === 0 || this.opened >= OPEN_LIMIT) return;
    this.opened += 1;
    const rows = this.open(row);
    row.after(...rows);
    rows.forEach((child) => this.openHeavy(child));
  }

  row(node, level) {
    const row = element("tr", { "aria-level": level });
    row.node = node;
    const first = element("th", { scope: "row", class: "text" });
    first.style.setProperty("--level", Math.min(level - 1, 24));
    if (node.c.length > 0) row.setAttribute("aria-expanded", "false");
    first.append(node.c.length > 0 ? element("button", { type: "button" }, node.n) : element("span", {}, node.n));
    if (node.g && node.g !== node.n) first.append(element("small", {}, node.g));
    if (node.d) first.append(element("small", {}, node.d));
    row.append(first);
    this.measures.forEach(({ unit }, index) => {
      row.append(element("td", {}, formatCell(node.i[index], unit)), element("td", {}, formatCell(node.o[index], unit)));
    });
    return row;
  }

  // Returns the rows that are to follow.
  open(row, from = 0) {
    const level = Number(row.getAttribute("aria-level")) + 1;
    const children = row.node.c.slice().sort((left, right) => right.i[this.measure] - left.i[this.measure]);
    const rows = children.slice(from, from + CHILDREN_LIMIT).map((child) => this.row(child, level));
    if (children.length > from + CHILDREN_LIMIT) rows.push(this.more(row, from + CHILDREN_LIMIT, children.length, level));
    row.setAttribute("aria-expanded", "true");
    return rows;
  }

  more(parent, from, count, level) {
    const row = element("tr", { "aria-level": level });
    const cell = element("th", { scope: "row", class: "text", colspan: 1 + this.measures.length * 2 });
    cell.style.setProperty("--level", level - 1);
    cell.append(element("button", { type: "button", class: "more" }, `${count - from} more`));
    row.append(cell);
    row.rest = { parent, from };
    return row;
  }

  close(row) {
    row.setAttribute("aria-expanded", "false");
    const level = Number(row.getAttribute("aria-level"));
    while (Number(row.nextElementSibling?.getAttribute("aria-level")) > level) row.nextElementSibling.remove();
  }

  click(event) {
    if (event.target.localName !== "button") return;
    const row = event.target.closest("tr");
    if (row.rest) {
      const rows = this.open(row.rest.parent, row.rest.from);
      row.replaceWith(...rows);
      rows[0].querySelector("button")?.focus();
    } else if (row.getAttribute("aria-expanded") === "true") this.close(row);
    else row.after(...this.open(row));
  }

  press(event) {
    const row = event.target.closest("tr");
    const expanded = row.getAttribute("aria-expanded");
    if (event.key === "ArrowRight" && expanded === "false") row.after(...this.open(row));
    else if (event.key === "ArrowLeft" && expanded === "true") this.close(row);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") this.step(row, event.key === "ArrowDown");
    else return;
    event.preventDefault();
  }

  step(row, down) {
    let next = row;
    do next = down ? next.nextElementSibling : next.previousElementSibling; while (next && !next.querySelector("button"));
    next?.querySelector("button").focus();
  }
}
