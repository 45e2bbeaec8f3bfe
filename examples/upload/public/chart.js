// A line chart of memory over the last minute, one line per process.
const WINDOW_SECONDS = 60;
const MB = 1024 * 1024;
const MARGIN = { top: 28, right: 12, bottom: 30, left: 46 };
const WORKER_COLORS = 4;
const SVG = "http://www.w3.org/2000/svg";

// The distance between ticks, 1, 2, or 5 times a power of ten, so that about `count` of them reach `most`.
function tickStep(most, count) {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}

function element(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// A worker's color follows its number, so a replacement looks like its predecessor.
function newSeries(name, pid) {
  const worker = Number(name.match(/^worker (\d+)/)?.[1] ?? 0);
  const color = worker ? `var(--worker-${((worker - 1) % WORKER_COLORS) + 1})` : `var(--${name})`;
  const dash = name === "mold" ? "5 4" : worker > WORKER_COLORS ? "2 4" : "none";
  return { name, pid, color, dash, points: [], most: 0 };
}

export class MemoryChart {
  constructor(svg, legend) {
    this.svg = svg;
    this.legend = legend;
    this.series = new Map();
    this.uploads = [];
    new ResizeObserver(() => this.draw()).observe(svg);
  }

  // Takes the response of /memory: [{name, pid, pss_bytes}].
  add(processes) {
    const now = performance.now() / 1000;
    for (const { name, pid, pss_bytes: bytes } of processes) {
      if (bytes === null) continue;
      if (!this.series.has(pid)) this.series.set(pid, newSeries(name, pid));
      const series = this.series.get(pid);
      const megabytes = bytes / MB;
      series.points.push({ at: now, megabytes });
      series.most = Math.max(series.most, megabytes);
    }
    this.forget(now);
    this.draw();
  }

  // Marks the start of an upload; call the returned function at its end.
  markUpload() {
    const upload = { from: performance.now() / 1000, to: null };
    this.uploads.push(upload);
    return () => { upload.to = performance.now() / 1000; };
  }

  forget(now) {
    const oldest = now - WINDOW_SECONDS - 2;
    for (const [pid, series] of this.series) {
      series.points = series.points.filter((point) => point.at >= oldest);
      if (series.points.length === 0) this.series.delete(pid);
    }
    this.uploads = this.uploads.filter((upload) => upload.to === null || upload.to >= oldest);
  }

  draw() {
    const { width, height } = this.svg.getBoundingClientRect();
    if (width === 0) return;
    const now = performance.now() / 1000;
    const scale = this.scale(width, height, now);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(...this.bands(scale, now), ...this.rows(scale), ...this.columns(scale), ...this.lines(scale));
    this.drawLegend();
  }

  scale(width, height, now) {
    const peak = Math.max(10, ...[...this.series.values()].flatMap((s) => s.points.map((point) => point.megabytes)));
    const step = tickStep(peak * 1.08, 5);
    const most = Math.ceil((peak * 1.08) / step) * step;
    const right = width - MARGIN.right;
    const bottom = height - MARGIN.bottom;
    return {
      step, most, right, bottom,
      x: (at) => Math.max(MARGIN.left, right - ((now - at) / WINDOW_SECONDS) * (right - MARGIN.left)),
      y: (megabytes) => bottom - (megabytes / most) * (bottom - MARGIN.top),
      ticks: width < 480 ? 30 : 10,
      now,
    };
  }

  bands({ x, bottom }, now) {
    return this.uploads.map(({ from, to }) => element("rect", {
      class: "band", x: x(from), y: MARGIN.top, width: Math.max(1, x(to ?? now) - x(from)), height: bottom - MARGIN.top,
    }));
  }

  rows({ step, most, y, right }) {
    const nodes = [element("text", { x: MARGIN.left - 8, y: 12, "text-anchor": "end" }, "MB")];
    for (let value = 0; value <= most + step / 2; value += step) {
      const line = { x1: MARGIN.left, x2: right, y1: y(value), y2: y(value), class: value === 0 ? "axis" : "grid" };
      nodes.push(element("line", line));
      nodes.push(element("text", { x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, String(Number(value.toFixed(2)))));
    }
    return nodes;
  }

  columns({ ticks, x, now, bottom }) {
    const nodes = [];
    for (let ago = 0; ago <= WINDOW_SECONDS; ago += ticks) {
      const at = x(now - ago);
      nodes.push(element("line", { x1: at, x2: at, y1: bottom, y2: bottom + 5, class: "axis" }));
      const anchor = ago === 0 ? "end" : ago === WINDOW_SECONDS ? "start" : "middle";
      nodes.push(element("text", { x: at, y: bottom + 20, "text-anchor": anchor }, ago === 0 ? "now" : `−${ago} s`));
    }
    return nodes;
  }

  lines({ x, y, now }) {
    return [...this.series.values()].map((series) => {
      const seen = series.points.filter((point) => point.at >= now - WINDOW_SECONDS);
      const points = seen.map((point) => `${x(point.at).toFixed(1)},${y(point.megabytes).toFixed(1)}`).join(" ");
      return element("polyline", {
        class: "series", points, style: `stroke: ${series.color}`, "stroke-dasharray": series.dash,
      });
    });
  }

  drawLegend() {
    const byName = [...this.series.values()].sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
    const rows = byName.map((series) => {
      const row = document.createElement("tr");
      const last = series.points.at(-1).megabytes;
      for (const text of [series.name, series.pid, last.toFixed(1), series.most.toFixed(1)]) {
        row.append(Object.assign(document.createElement("td"), { textContent: text }));
      }
      const key = Object.assign(document.createElement("span"), { className: "key" });
      key.style.borderTopColor = series.color;
      if (series.dash !== "none") key.style.borderTopStyle = "dashed";
      row.firstChild.prepend(key);
      return row;
    });
    this.legend.replaceChildren(...rows);
  }
}
