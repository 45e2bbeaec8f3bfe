"use strict";

// The trees of a figure. A node has a label, a group, own numbers, children, and perhaps a note: {n, g, o, c, d}.

// Adds to each node its sums, with all below it, as `i`, and as `s` how wide its box is: as wide as those in it even where
// its own number is negative. Walks without recursion, so that deep stacks are no problem.
function sumTree(root) {
  const order = [root];
  for (let index = 0; index < order.length; index += 1) for (const child of order[index].c) order.push(child);
  for (const node of order.reverse()) {
    node.i = node.o.slice();
    node.s = node.o.map(() => 0);
    for (const child of node.c) {
      child.i.forEach((value, index) => { node.i[index] += value; });
      child.s.forEach((value, index) => { node.s[index] += value; });
    }
    node.i.forEach((value, index) => { node.s[index] = Math.max(node.s[index], value); });
  }
  return root;
}

// Below this share, the tree that is turned around ends.
const INVERTED_SHARE = 0.0005;

// The tree turned around: below the root every place with numbers of its own, and below each its callers.
function invertTree(root) {
  const totals = sumTree(root).i;
  const places = [];
  const waiting = [{ data: root, caller: null }];
  while (waiting.length > 0) {
    const place = waiting.pop();
    if (place.data.o.some((value) => value !== 0)) places.push({ own: place.data.o, at: place });
    for (const child of place.data.c) waiting.push({ data: child, caller: place });
  }
  const inverted = { n: root.n, g: root.g, o: totals.map(() => 0), c: callers(places) };
  const heavy = (node) => node.o.some((value, index) => value > totals[index] * INVERTED_SHARE);
  const open = inverted.c.slice();
  while (open.length > 0) for (const caller of addCallers(open.pop(), heavy)) open.push(caller);
  return inverted;
}

// Gives a node its callers, if it is heavy, and returns them. What has no caller stays its own.
function addCallers(node, heavy) {
  const places = heavy(node) ? node.places : [];
  delete node.places;
  if (places.length === 0) return [];
  const called = places.flatMap(({ own, at }) => (at.caller ? [{ own, at: at.caller }] : []));
  node.c = callers(called);
  for (const caller of node.c) caller.o.forEach((value, index) => { node.o[index] -= value; });
  return node.c;
}

// Returns a node for each label at which one of the places is.
function callers(places) {
  const found = new Map();
  for (const place of places) {
    const { data } = place.at;
    const key = `${data.g}\n${data.n}`;
    if (!found.has(key)) found.set(key, { n: data.n, g: data.g, d: data.d, o: data.o.map(() => 0), c: [], places: [] });
    const node = found.get(key);
    node.places.push(place);
    place.own.forEach((value, index) => { node.o[index] += value; });
  }
  return [...found.values()];
}

// So many of the boxes that are too narrow are shown when their sum is the widest.
const NARROW_LIMIT = 200;

// The layout of d3 for a node and what is below it, by one measure, from 0 to 1. Boxes below a share are one box.
function layOut(data, measure, narrowest) {
  const least = Math.max(data.s[measure] * narrowest, Number.MIN_VALUE);
  const below = (node) => (node.isSum && node !== data ? [] : shownBelow(node, measure, least));
  const tree = d3.hierarchy(data, below);
  tree.each((node) => { node.value = node.data.s[measure]; });
  return d3.partition()(tree.sort((left, right) => right.value - left.value));
}

function shownBelow(node, measure, least) {
  const isWide = node.isSum ? (_child, index) => index < NARROW_LIMIT : (child) => child.s[measure] >= least;
  const children = node.isSum ? node.c.slice().sort((left, right) => right.s[measure] - left.s[measure]) : node.c;
  const narrow = children.filter((child, index) => !isWide(child, index));
  const sum = sumOf(narrow, node.o.length);
  return sum.s[measure] >= least ? [...children.filter(isWide), sum] : children.filter(isWide);
}

// One node for several.
function sumOf(nodes, measures) {
  const sum = { n: `${nodes.length} smaller`, g: "", c: nodes, isSum: true };
  for (const name of ["o", "i", "s"]) sum[name] = new Array(measures).fill(0);
  for (const node of nodes) {
    node.i.forEach((value, index) => { sum.i[index] += value; });
    node.s.forEach((value, index) => { sum.s[index] += value; });
  }
  return sum;
}

// Each group of a tree gets one of so many hues.
const HUES = 12;

function hue(group) {
  let sum = 7;
  for (let index = 0; index < group.length; index += 1) sum = (sum * 31 + group.charCodeAt(index)) >>> 0;
  return (sum % HUES) * (360 / HUES);
}

function share(part, whole) {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "";
}
