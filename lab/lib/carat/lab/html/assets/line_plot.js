"use strict";

// Draws the lines of a figure with uPlot. The arrow keys move the cursor, and an output element says what is there.
const LINE_HEIGHT = 240;

// Pixels of a name at the axis; where there are fewer, names are slanted.
const NAME_WIDTH = 110;
const WHOLE_STEPS = Array.from({ length: 8 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
const BYTE_STEPS = Array.from({ length: 50 }, (_, exponent) => 2 ** exponent);
const SERIES_COLORS = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6"];

function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A gap hides all between two points; a line that is upright at one of them needs its own width.
function narrowGaps(_plot, _series, _first, _last, gaps) {
  return gaps.map(([from, to]) => [from + devicePixelRatio, to - devicePixelRatio]);
}

// Where a percentile is on an axis of tails: the share of what is beyond it, turned around.
function placeOfTail(percent) {
  return 100 / (100 - percent);
}

// A line of one point has no length.
function lineSeries(series, index) {
  const isPoint = series.values.filter((value) => value !== null).length === 1;
  const color = cssColor(SERIES_COLORS[index % SERIES_COLORS.length]);
  if (series.style === "points") return { stroke: color, width: 0, paths: () => null, points: { show: true, size: 7, fill: color } };
  if (series.style === "edge") return { stroke: cssColor("--muted"), width: 1, dash: [4, 4], points: { show: false } };
  return { stroke: color, width: 2, points: isPoint ? { show: true, size: 7, fill: color } : { show: false }, gaps: narrowGaps };
}

// The area between each two edges that follow one another.
function bands(series) {
  const edges = series.flatMap((each, index) => (each.style === "edge" ? [index + 1] : []));
  const pairs = edges.flatMap((edge, index) => (index % 2 ? [[edge, edges[index - 1]]] : []));
  return pairs.map((pair) => ({ series: pair, fill: cssColor("--band") }));
}

function namesAreNarrow(data, width) {
  return data.names && width / data.names.length < NAME_WIDTH;
}

function lineAxes(data, width) {
  const axis = { stroke: cssColor("--text"), grid: { stroke: cssColor("--grid"), width: 1 }, ticks: { stroke: cssColor("--grid") } };
  const values = (unit) => (_plot, marks) => formatMarks(marks, unit);
  const whole = data.xs.every(Number.isInteger) ? { incrs: WHOLE_STEPS } : {};
  const named = { ...(namesAreNarrow(data, width) ? { rotate: -55, size: 90 } : {}),
    splits: () => data.names.map((_name, index) => index), values: () => data.names, grid: { show: false } };
  const tails = { label: data.axis, labelSize: 22, splits: () => data.xs.map(placeOfTail), values: () => data.xs.map((percent) => `p${percent}`) };
  const counted = { label: data.axis, labelSize: 22, space: 70, values: values(data.axis === "seconds" ? "seconds" : ""), ...whole };
  return [
    { ...axis, ...(data.names ? named : data.tail ? tails : counted) },
    // The marks of bytes and seconds have their unit.
    { ...axis, ...(["bytes", "seconds"].includes(data.unit) ? {} : { label: data.unit, labelSize: 22 }), size: (_plot, marks) => Math.max(84, 20 + 7 * Math.max(...(marks ?? [""]).map((mark) => mark.length))),
      space: 36, values: values(data.unit), ...(data.unit === "bytes" ? { incrs: BYTE_STEPS } : {}) },
  ];
}

// The axis of amounts begins at 0. Measurements with a fitted line, whose slope would vanish, fill at most what a twentieth of
// the amount is high: noise is not to look like growth.
function amountRange(data) {
  return (_plot, low, high) => {
    if (data.names || low === null || low < 0) return uPlot.rangeNum(low ?? 0, high ?? 1, 0.1, true);
    const fitted = data.series.some((series) => series.style === "points");
    const room = Math.max(high - low, high / 20) * 1.1 || 1;
    const start = Math.max(0, (low + high - room) / 2);
    return fitted ? [start, start + room] : [0, high * 1.05 || 1];
  };
}

function lineOptions(data, width, hooks) {
  return {
    width, height: LINE_HEIGHT, hooks, legend: { show: false },
    padding: namesAreNarrow(data, width) ? [8, 50, 0, 0] : null,
    bands: bands(data.series), axes: lineAxes(data, width),
    scales: data.tail ? { x: { time: false, distr: 3, range: (_plot, low, high) => (low < high ? [low, high] : [low / 2, low * 2]) }, y: { distr: 3, log: 10 } } :
      { x: { time: false, ...(data.names ? { range: [-0.5, data.names.length - 0.5] } : {}) }, y: { range: amountRange(data) } },
    series: [{}, ...data.series.map(lineSeries)],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 9 } },
  };
}

function describePoint(data, index) {
  const values = data.series.filter((series) => series.style !== "edge" && series.values[index] !== null);
  const place = data.names ? data.names[data.xs[index]] : `${formatCount(data.xs[index])} ${data.axis}`;
  const words = values.map((series) => `${series.name} ${formatValue(series.values[index], data.unit)}`);
  if (data.names) words.splice(1, 1, `interval ${formatValue(data.series[1].values[index], "")} to ${formatValue(data.series[1].values[index + 1], data.unit)}`);
  return `${place}: ${words.join(", ")}`;
}

function lineKeys(place, data, show) {
  const points = data.xs.map((_x, index) => index).filter((index) => data.series[0].values[index] !== null);
  let number = 0;
  place.addEventListener("keydown", (event) => {
    const last = points.length - 1;
    const next = { ArrowLeft: number - 1, ArrowRight: number + 1, Home: 0, End: last }[event.key];
    if (next === undefined || last < 0) return;
    event.preventDefault();
    number = Math.min(Math.max(next, 0), last);
    show(points[number]);
  });
}

function legend(data) {
  const list = element("ul", { class: "legend" });
  data.series.forEach((series, index) => {
    if (series.style === "edge" && data.series[index + 1]?.style !== "edge") return;
    const item = element("li", {}, series.name);
    const mark = element("span", { class: series.style, "aria-hidden": "true" });
    mark.style.setProperty("--color", `var(${SERIES_COLORS[index % SERIES_COLORS.length]})`);
    item.prepend(mark);
    list.append(item);
  });
  return list;
}

function drawLines(figure, data) {
  const place = figure.querySelector(".plot");
  const output = figure.querySelector("output");
  place.tabIndex = 0;
  place.setAttribute("role", "application");
  place.setAttribute("aria-label", `Plot: ${data.title}. The left and right arrow keys move between the points; a table has the same numbers.`);
  place.after(legend(data));
  const places = data.tail ? data.xs.map(placeOfTail) : data.xs;
  let plot;
  const tell = (shown) => { if (Number.isInteger(shown.cursor.idx)) output.textContent = describePoint(data, shown.cursor.idx); };
  const draw = () => {
    plot?.destroy();
    const width = Math.max(place.clientWidth, 200);
    plot = new uPlot(lineOptions(data, width, { setCursor: [tell] }), [places, ...data.series.map((each) => each.values)], place);
  };
  draw();
  lineKeys(place, data, (index) => {
    plot.setCursor({ left: plot.valToPos(places[index], "x"), top: LINE_HEIGHT / 3 }, false);
    output.textContent = describePoint(data, index);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(() => { if (place.clientWidth && place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: LINE_HEIGHT }); }).observe(place);
}
