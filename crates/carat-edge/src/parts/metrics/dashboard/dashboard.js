"use strict";

const PERIOD = 2000; // milliseconds between two requests
const SPAN = 600; // seconds that a plot shows at most
const YOUNG = 30; // seconds that a plot shows at least
const PERIOD_OF_POINTS = 5; // seconds between two points: SAMPLE_PERIOD in history.rs
const GAP = 20; // seconds without a sample that break a curve
const MIB = 1048576;
const SVG = "http://www.w3.org/2000/svg";

const element = (id) => document.getElementById(id);
const number = (value, digits = 1) => value >= 100 ? String(Math.round(value)) : String(+value.toFixed(digits));
const mib = (bytes) => (bytes / MIB).toFixed(1);
const roundMib = (bytes) => mib(bytes).replace(/\.0$/, "");
const plain = (value) => value === null || value === undefined ? "–" : number(value);

function time(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return `${number(seconds * 1000)} ms`;
  if (seconds < 120) return `${number(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`;
}

// Creates an element. Text from the server becomes text, never markup.
function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function draw(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// The plots. Each has one or two curves: `stack` puts the second on top of the first. `log` is a logarithmic axis.
const PLOTS = [
  { title: "Requests a second", names: ["requests", "errors"], labels: ["all", "errors"], format: number },
  { title: "Duration", names: ["p50", "p99"], labels: ["p50", "p99"], format: time, log: true },
  { title: "Queue time", names: ["queue_p99"], labels: ["p99"], format: time },
  { title: "Requests", names: ["running", "waiting"], labels: ["running", "waiting"], format: number },
  { title: "Memory in MiB", names: ["private", "shared"], labels: ["private", "+ shared"], format: roundMib, stack: true },
  { title: "Connections", names: ["connections"], labels: ["clients"], format: number },
];

// The least round number that is not below the value.
function ceiling(value, isBytes) {
  const unit = isBytes ? MIB : 1;
  const scaled = value / unit;
  if (scaled <= 0) return unit;
  const power = 10 ** Math.floor(Math.log10(scaled));
  return [1, 2, 4, 5, 10].find((step) => step * power >= scaled) * power * unit;
}

// An axis from 0: where a value is on it, from 0 to 1, and the values with a line.
function linear(values, isBytes) {
  const most = ceiling(Math.max(0, ...values), isBytes);
  return { place: (value) => value / most, ticks: [0, most / 2, most] };
}

// A logarithmic axis, from the power of ten below the least value to the one above the largest.
function logarithmic(values) {
  const given = values.filter((value) => value > 0);
  if (!given.length) return linear(values);
  const least = Math.floor(Math.log10(Math.min(...given)));
  const most = Math.max(Math.ceil(Math.log10(Math.max(...given))), least + 1);
  const step = Math.ceil((most - least) / 4);
  const ticks = Array.from({ length: Math.floor((most - least) / step) + 1 }, (_, index) => 10 ** (least + index * step));
  return { place: (value) => value > 0 ? (Math.log10(value) - least) / (most - least) : 0, ticks };
}

// The seconds that plots show: a young server fills the width with what it has.
function spanOf(uptimes) {
  return Math.min(Math.max(Math.round((uptimes.at(-1) ?? 0) - (uptimes[0] ?? 0)), YOUNG), SPAN);
}

class Plot {
  constructor(kind) {
    this.kind = kind;
    this.index = null;
    this.legend = make("span", { class: "legend" });
    this.svg = draw("svg", { tabindex: 0, role: "img" });
    this.figure = make("figure", {}, make("figcaption", {}, make("h3", {}, kind.title), this.legend), this.svg);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.choose(null));
    this.svg.addEventListener("blur", () => this.choose(null));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.show(this.data)).observe(this.figure);
  }

  curves() {
    const [first, second] = this.kind.names.map((name) => this.data[name]);
    if (!second) return [first];
    return this.kind.stack ? [first, second.map((value, index) => value + first[index])] : [first, second];
  }

  show(data) {
    if (!data) return;
    this.data = data;
    const width = Math.max(this.svg.clientWidth, 120);
    const [left, right, top, bottom] = [46, width - 6, 10, 128];
    const curves = this.curves();
    const axis = this.kind.log ? logarithmic(curves.flat()) : linear(curves.flat(), this.kind.stack);
    const last = data.uptime.at(-1) ?? 0;
    const span = spanOf(data.uptime);
    this.x = (index) => right - (last - data.uptime[index]) / span * (right - left);
    this.y = (value) => bottom - axis.place(value) * (bottom - top);
    this.svg.setAttribute("viewBox", `0 0 ${width} 150`);
    this.svg.replaceChildren(...this.axes(axis.ticks, span, [left, right, bottom]));
    curves.forEach((values, number) => this.curve(values, number, bottom));
    if (this.index !== null && this.index < data.uptime.length) {
      const x = this.x(this.index);
      this.svg.append(draw("line", { class: "cursor", x1: x, x2: x, y1: top, y2: bottom }));
    }
    this.describe();
  }

  axes(ticks, span, [left, right, bottom]) {
    const lines = ticks.flatMap((value) => [
      draw("line", { class: "grid", x1: left, x2: right, y1: this.y(value), y2: this.y(value) }),
      draw("text", { x: left - 5, y: this.y(value) + 4, "text-anchor": "end" }, this.kind.format(value)),
    ]);
    const labels = [[`${time(span)} ago`, left, "start"], [time(span / 2), (left + right) / 2, "middle"], ["now", right, "end"]];
    return [...lines, ...labels.map(([text, x, anchor]) => draw("text", { x, y: bottom + 17, "text-anchor": anchor }, text))];
  }

  // A curve breaks where there is no value, or no sample.
  curve(values, number, bottom) {
    const parts = [];
    values.forEach((value, index) => {
      if (value === null) return parts.push([]);
      const isGap = index > 0 && this.data.uptime[index] - this.data.uptime[index - 1] > GAP;
      if (isGap || !parts.length) parts.push([]);
      return parts.at(-1).push(`${this.x(index).toFixed(1)} ${this.y(value).toFixed(1)}`);
    });
    const kind = number ? "curve second" : "curve";
    for (const points of parts.filter((part) => part.length)) {
      const line = `M${points.join("L")}${points.length === 1 ? "h1" : ""}`;
      const [from, to] = [points[0], points.at(-1)].map((point) => point.split(" ")[0]);
      if (!number && !this.kind.log) this.svg.append(draw("path", { class: "area", d: `${line}L${to} ${bottom}L${from} ${bottom}Z` }));
      this.svg.append(draw("path", { class: kind, d: line }));
    }
  }

  describe() {
    const index = this.index ?? this.data.uptime.length - 1;
    const values = this.kind.names.map((name) => this.data[name][index]);
    const texts = values.map((value) => value === null || value === undefined ? "–" : this.kind.format(value));
    const ago = this.index === null ? "" : `${time(this.data.uptime.at(-1) - this.data.uptime[index])} ago: `;
    const parts = texts.flatMap((text, number) => [
      make("i", number ? { class: "second" } : {}), `${this.kind.labels[number]} `, make("b", {}, text),
    ]);
    this.legend.replaceChildren(ago, ...parts);
    const words = texts.map((text, number) => `${this.kind.labels[number]} ${text}`).join(", ");
    this.svg.setAttribute("aria-label", `${this.kind.title}: ${ago}${words}`);
  }

  choose(index) {
    this.index = index;
    this.show(this.data);
  }

  point(event) {
    if (!this.data) return;
    const at = event.clientX - this.svg.getBoundingClientRect().left;
    let nearest = null;
    this.data.uptime.forEach((_, index) => {
      if (nearest === null || Math.abs(this.x(index) - at) < Math.abs(this.x(nearest) - at)) nearest = index;
    });
    this.choose(nearest);
  }

  key(event) {
    if (!this.data || !this.data.uptime.length) return;
    const last = this.data.uptime.length - 1;
    const from = this.index ?? last + 1;
    const targets = { ArrowLeft: Math.max(from - 1, 0), ArrowRight: Math.min(from + 1, last), Home: 0, End: last, Escape: null };
    if (!(event.key in targets)) return;
    event.preventDefault();
    this.choose(targets[event.key]);
  }
}

// A table that sorts by a column. Each column is [title, value, text, class].
class Table {
  constructor(table, columns, sorted, nothing) {
    Object.assign(this, { columns, sorted, nothing, isDescending: true, body: make("tbody") });
    this.heads = columns.map(([title, , , kind], index) => {
      const button = make("button", { type: "button" }, title);
      button.addEventListener("click", () => this.sort(index));
      return make("th", { scope: "col", class: kind === undefined ? "" : "word" }, button);
    });
    table.append(make("thead", {}, make("tr", {}, ...this.heads)), this.body);
  }

  sort(index) {
    this.isDescending = index === this.sorted ? !this.isDescending : true;
    this.sorted = index;
    this.show(this.rows);
  }

  show(rows) {
    this.rows = rows;
    this.heads.forEach((head, index) => {
      if (index === this.sorted) head.setAttribute("aria-sort", this.isDescending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const value = this.columns[this.sorted][1];
    const order = (one, other) => {
      const [a, b] = [value(one) ?? -1, value(other) ?? -1];
      return (a < b ? -1 : a > b ? 1 : 0) * (this.isDescending ? -1 : 1);
    };
    const cell = (row) => ([, read, text, kind]) => {
      const content = (text ?? String)(read(row) ?? "–");
      return make("td", kind === undefined ? {} : { class: `word ${kind}`, title: content }, content);
    };
    const lines = [...rows].sort(order).map((row) => make("tr", {}, ...this.columns.map(cell(row))));
    const empty = make("tr", {}, make("td", { class: "empty", colspan: this.columns.length }, this.nothing));
    this.body.replaceChildren(...(lines.length ? lines : [empty]));
  }
}

const size = (value) => value === "–" ? value : mib(value);
const plots = PLOTS.map((kind) => new Plot(kind));
element("plots").append(...plots.map((plot) => plot.figure));

const requests = new Table(element("requests"), [
  ["age", (row) => row.age, time],
  ["worker", (row) => row.worker],
  ["request", (row) => row.request || "(its response is sent)", undefined, "path"],
  ["state", (row) => row.stage, undefined, ""],
], 0, "No request runs.");

const processes = new Table(element("processes"), [
  ["process", (row) => row.label, undefined, ""],
  ["state", (row) => row.state, undefined, ""],
  ["running", (row) => row.running],
  ["requests", (row) => row.requests],
  ["private MiB", (row) => row.private, size],
  ["shared MiB", (row) => row.shared, size],
  ["PSS MiB", (row) => row.pss, size],
  ["age", (row) => row.age, (age) => age === "–" ? age : time(age)],
  ["gen", (row) => row.generation],
  ["pid", (row) => row.pid],
], 4, "No process runs.");

function rowsOf(data) {
  const rows = [
    { label: "edge", pid: data.pid, state: data.state, age: data.uptime },
    ...data.molds.map((pid) => ({ label: "mold", pid })),
    ...data.processes.map((row) => ({ ...row, label: `worker ${row.number}` })),
    ...data.app_processes.map((row) => ({ ...row, label: `${row.name} ${row.number}` })),
  ];
  const memory = new Map(data.memory.map((row) => [row.pid, row]));
  return rows.map((row) => ({ ...row, ...memory.get(row.pid) }));
}

// The figures at the top. Each has a title, a value, whether the value is bad, and the time that it is about.
function cards(data) {
  const { recent } = data;
  const past = `last ${time(Math.round(recent.seconds))}`;
  const rate = (count) => recent.seconds > 0 ? number(count / recent.seconds) : "–";
  const serving = data.processes.filter((row) => row.state === "serving").length;
  const pss = data.memory.reduce((sum, row) => sum + row.pss, 0);
  return [
    ["requests/s", rate(recent.requests), false, past],
    ["errors/s", rate(recent.errors), recent.errors > 0, past],
    ["p50", time(recent.p50), false, past],
    ["p99", time(recent.p99), false, past],
    ["queue p99", time(recent.queue_p99), false, past],
    ["running", plain(data.running), false, "now"],
    ["waiting", plain(data.waiting), data.waiting > 0, "now"],
    ["workers", `${serving} of ${data.workers.wanted}`, serving < data.workers.wanted, "now"],
    ["memory", `${mib(pss)} MiB`, false, "now"],
    ...collections(data.collections),
  ];
}

// The full garbage collections of workers, if there were any: those within requests made clients wait, for the reasons
// in small letters.
function collections({ between_requests: between, beside_requests: beside, within_requests: within, haste }) {
  const all = between.count + beside.count + within.count;
  const reasons = Object.keys(haste).join(", ").replaceAll("_", " ");
  return all ? [["full GCs in requests", `${plain(within.count)} of ${plain(all)}`, within.count > 0, reasons || "ever"]] : [];
}

function show(data) {
  element("name").textContent = data.name || "Carat";
  document.title = data.name ? `${data.name} · Carat` : "Carat";
  element("state").textContent = data.state;
  element("state").className = data.state === "serving" ? "badge good" : "badge";
  const listeners = data.listeners.join(", ");
  element("about").textContent =
    `Carat ${data.version} · pid ${data.pid} · generation ${data.generation ?? "–"} · up ${time(data.uptime)} · ${listeners}`;
  const news = [data.restart && `restart: ${data.restart}`, data.upgrade && `upgrade: ${data.upgrade}`].filter(Boolean);
  alarm(news.join("; "));
  element("now").replaceChildren(...cards(data).map(([title, value, isBad, when]) =>
    make("div", {}, make("dt", {}, title, make("small", {}, when)), make("dd", isBad ? { class: "bad" } : {}, value))));
  element("span").textContent = `Last ${time(spanOf(data.plots.uptime))}, a point every ${PERIOD_OF_POINTS} s`;
  plots.forEach((plot) => plot.show(data.plots));
  requests.show(data.requests);
  element("omitted").textContent = data.omitted ? `The oldest ${data.requests.length}; ${data.omitted} more run.` : "";
  processes.show(rowsOf(data));
}

function alarm(text) {
  element("alarm").textContent = text;
  element("alarm").hidden = !text;
}

let isPaused = false;
let isWaiting = false;
let answered = Date.now();

// At most one request runs at a time, also when the server does not answer.
async function refresh() {
  if (isPaused || isWaiting || document.hidden) return;
  isWaiting = true;
  try {
    const reply = await fetch("dashboard.json", { signal: AbortSignal.timeout(8000) });
    if (!reply.ok) throw new Error(`status ${reply.status}`);
    show(await reply.json());
    answered = Date.now();
  } catch (error) {
    element("state").textContent = "no answer";
    element("state").className = "badge";
    alarm(`The server has not answered for ${time((Date.now() - answered) / 1000)}. What you see is old. (${error.message})`);
  } finally {
    isWaiting = false;
  }
}

function pause() {
  isPaused = !isPaused;
  element("pause").setAttribute("aria-pressed", isPaused);
  element("pause").textContent = isPaused ? "Resume" : "Pause";
  refresh();
}

element("pause").addEventListener("click", pause);
document.addEventListener("keydown", (event) => {
  if (event.key === "p" && !event.ctrlKey && !event.metaKey && !event.altKey) pause();
});
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, PERIOD);
refresh();
