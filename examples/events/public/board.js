"use strict";

const [state, form, field, list] = ["state", "form", "text", "messages"].map((id) => document.getElementById(id));
const SHOWN = 100;

function say(text, open) {
  state.textContent = text;
  state.toggleAttribute("data-open", open);
}

function show(message) {
  const item = document.createElement("li");
  const text = document.createElement("span");
  const time = document.createElement("time");
  const at = new Date(message.at * 1000);
  text.textContent = message.text;
  time.dateTime = at.toISOString();
  time.textContent = at.toLocaleTimeString();
  item.append(text, time);
  list.prepend(item);
  if (list.childElementCount > SHOWN) list.lastElementChild.remove();
}

const events = new EventSource("/events");
events.addEventListener("open", () => say("connected", true));
events.addEventListener("error", () => say("reconnecting", false));
events.addEventListener("message", (event) => show(JSON.parse(event.data)));

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  if (response.ok) form.reset();
  else say(await response.text(), false);
  field.focus();
});
