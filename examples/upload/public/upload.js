// Sends the form by XMLHttpRequest, which reports progress, and feeds the chart.
import { MemoryChart } from "/chart.js";

const CALM_MS = 1000;
const BUSY_MS = 200;
const MB = 1024 * 1024;

const byId = (id) => document.getElementById(id);
const form = byId("form");
const button = form.querySelector("button");
const chart = new MemoryChart(byId("chart"), byId("legend"));
let busy = false;
let timer;

async function sample() {
  clearTimeout(timer);
  try {
    const response = await fetch("/memory", { cache: "no-store" });
    if (response.ok) chart.add(await response.json());
  } catch {
    chart.draw(); // The server is unreachable: keep the lines, move the time axis.
  }
  clearTimeout(timer);
  timer = setTimeout(sample, busy ? BUSY_MS : CALM_MS);
}

function showProgress(loaded, total, begun) {
  const seconds = (performance.now() - begun) / 1000;
  const rate = seconds > 0.2 ? `, ${(loaded / MB / seconds).toFixed(0)} MB/s` : "";
  byId("bar").value = loaded / total;
  byId("sent").textContent = loaded < total
    ? `${(loaded / MB).toFixed(1)} of ${(total / MB).toFixed(1)} MB sent${rate}`
    : "All sent; the application is reading it.";
}

function showReceipt(receipt, seconds) {
  byId("name").textContent = receipt.name ?? "";
  byId("size").textContent = `${receipt.bytes.toLocaleString()} bytes (${(receipt.bytes / MB).toFixed(1)} MB)`;
  byId("sha256").textContent = receipt.sha256;
  byId("time").textContent = `${seconds.toFixed(2)} s, ${receipt.seconds.toFixed(2)} s of them in the application`;
  show(null);
}

function show(problem) {
  byId("result").hidden = false;
  byId("facts").hidden = problem !== null;
  byId("problem").hidden = problem === null;
  byId("problem").textContent = problem ?? "";
}

function finished(request, begun) {
  if (request.status === 200) showReceipt(JSON.parse(request.responseText), (performance.now() - begun) / 1000);
  else show(request.status ? `The server responded ${request.status} ${request.statusText}` : "The connection was lost.");
}

function upload(event) {
  event.preventDefault();
  const request = new XMLHttpRequest();
  const begun = performance.now();
  const unmark = chart.markUpload();
  setBusy(true);
  sample();
  byId("result").hidden = true;
  request.upload.addEventListener("progress", ({ loaded, total }) => showProgress(loaded, total, begun));
  request.addEventListener("loadend", () => {
    unmark();
    setBusy(false);
    finished(request, begun);
  });
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.send(new FormData(form));
}

function setBusy(value) {
  busy = value;
  button.disabled = value;
  byId("progress").hidden = !value;
}

form.addEventListener("submit", upload);
sample();
