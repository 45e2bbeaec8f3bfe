"use strict";

// Draws every figure of the page from the data in it.

function choice(label, names, change) {
  const list = element("select");
  names.forEach((name, index) => list.append(element("option", { value: index }, name)));
  list.addEventListener("change", () => change(Number(list.value)));
  const wrapper = element("label", {}, `${label} `);
  wrapper.append(list);
  return wrapper;
}

// The views of a tree by name. Those that are turned around are computed when they are chosen.
function treeViews(data) {
  const views = data.views.map(({ name, root }) => ({ name, root: () => sumTree(root) }));
  const inverted = data.views.map(({ name, root }) => ({ name: `${name}, inverted`, root: () => sumTree(invertTree(root)) }));
  return data.inverted ? [...views, ...inverted] : views;
}

function searchField(icicle) {
  const field = element("input", { type: "search", placeholder: "name", size: 12 });
  field.addEventListener("input", () => icicle.search(field.value));
  const label = element("label", {}, "mark ");
  label.append(field);
  return label;
}

function drawTree(figure, data) {
  const controls = element("div", { class: "controls" });
  const output = element("output", { "aria-live": "polite" });
  const frame = element("div", { class: "frame" });
  const place = element("div", { class: "icicle", "aria-label": `${data.title}: arrow keys move, Enter widens a box, Escape goes back` });
  const scroll = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${data.title} as a table` });
  const icicle = new Icicle(place, output, data.measures);
  const table = new TreeTable(scroll, data.title, data.measures);
  const views = treeViews(data);
  const chosen = { view: 0, measure: 0 };
  const show = (change) => {
    Object.assign(chosen, change);
    const view = views[chosen.view];
    view.sums ??= view.root();
    icicle.show(view.sums, chosen.measure);
    table.show(view.sums, chosen.measure);
  };
  if (views.length > 1) controls.append(choice("view", views.map((view) => view.name), (view) => show({ view })));
  if (data.measures.length > 1) controls.append(choice("measure", data.measures.map((each) => each.name), (measure) => show({ measure })));
  controls.append(searchField(icicle));
  frame.append(place);
  figure.append(controls, frame, output, scroll);
  show({});
}

for (const figure of document.querySelectorAll("figure")) {
  const block = figure.querySelector("script[type='application/json']");
  const data = JSON.parse(block.textContent);
  block.remove();
  if (figure.classList.contains("lines")) drawLines(figure, data);
  else drawTree(figure, data);
}
document.documentElement.dataset.ready = "true";
