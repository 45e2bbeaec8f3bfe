"use strict";

// Numbers as text. A unit is "bytes", "seconds", "%", or the name of what is counted.
const BYTES = ["B", "KiB", "MiB", "GiB", "TiB"];

function formatBytes(value) {
  const exponent = Math.min(Math.floor(Math.log2(Math.max(Math.abs(value), 1)) / 10), BYTES.length - 1);
  const number = value / 1024 ** exponent;
  return `${exponent === 0 ? Math.round(number * 10) / 10 : number.toPrecision(4)} ${BYTES[exponent]}`;
}

function formatSeconds(value) {
  const size = Math.abs(value);
  if (size === 0 || size >= 1) return `${Number(value.toPrecision(4))} s`;
  return size >= 0.001 ? `${Number((value * 1e3).toPrecision(3))} ms` : `${Number((value * 1e6).toPrecision(3))} µs`;
}

function formatCount(value) {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 7 });
}

// A number below the name of what is counted.
function formatCell(value, unit) {
  return unit === "bytes" || unit === "seconds" ? formatValue(value, unit) : formatCount(value);
}

function formatValue(value, unit) {
  if (value === null || value === undefined) return "none";
  if (unit === "bytes") return formatBytes(value);
  if (unit === "seconds") return formatSeconds(value);
  return `${formatCount(value)} ${unit}`.trim();
}

// The marks of an axis: one unit for all of them, and as many digits as tell them apart.
function formatMarks(marks, unit) {
  // A logarithmic axis leaves out the names of marks between two powers of ten.
  if (marks.includes(null)) return marks.map((mark) => (mark === null ? "" : formatValue(mark, unit)));
  const step = marks.length > 1 ? Math.abs(marks[1] - marks[0]) : 1;
  const largest = Math.max(...marks.map(Math.abs), 1);
  if (unit !== "bytes") return marks.map((mark) => (unit === "seconds" ? formatSeconds(mark) : formatCount(mark)));
  const exponent = Math.min(Math.floor(Math.log2(largest) / 10), BYTES.length - 1);
  const scale = 1024 ** exponent;
  const digits = Math.min(Math.max(0, Math.ceil(-Math.log2(step / scale))), 4);
  return marks.map((mark) => `${(mark / scale).toFixed(digits)} ${BYTES[exponent]}`);
}

// A new element with attributes and text.
function element(name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}
