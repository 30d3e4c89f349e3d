// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Numbers with their units, and elements. Text only ever becomes text, never markup.

// Three significant digits at least.
function digits(number) {
  const size = Math.abs(number);
  return number.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

// Whole numbers with thin spaces between thousands: "1 234 567".
function whole(number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function duration(nanos) {
  if (nanos < 1e3) return `${Math.round(nanos)} ns`;
  if (nanos < 999.5e3) return `${digits(nanos / 1e3)} µs`;
  if (nanos < 999.5e6) return `${digits(nanos / 1e6)} ms`;
  if (nanos < 120e9) return `${digits(nanos / 1e9)} s`;
  const seconds = Math.round(nanos / 1e9);
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; number >= 1023.5 && unit < units.length - 1; unit++) number /= 1024;
  return `${unit === 0 ? whole(number) : digits(number)} ${units[unit]}`;
}

// A share as the terminal summary has it: "<1 %" for a little more than nothing.
function share(part, all) {
  if (!(all > 0)) return "–";
  const percent = (part / all) * 100;
  if (percent > 0 && percent < 1) return "<1 %";
  return `${Math.round(percent)} %`;
}

// `number` in `unit`, one of those in the page's data.
function withUnit(number, unit) {
  if (number === null || Number.isNaN(number)) return "–";
  switch (unit) {
    case "ns":
      return duration(number);
    case "bytes":
      return bytes(number);
    case "percent":
      if (number === 0) return "0 %";
      return number < 0.1 ? "<0.1 %" : `${number.toFixed(number < 10 ? 1 : 0)} %`;
    case "ratio":
      return `${number.toFixed(2)}×`;
    case "workers":
      return `${whole(number)} workers`;
    default:
      return whole(number);
  }
}

// The same, not rounded, for those who want all digits.
function exact(number, unit) {
  if (number === null || Number.isNaN(number)) return "not known";
  return unit === "ns" || unit === "bytes" ? `${whole(number)} ${unit}` : withUnit(number, unit);
}

// "run_queue_seconds" as words: "run queue".
function words(name) {
  return name.replace(/_(seconds|count|bytes|percent)$/, "").replaceAll("_", " ");
}

// An element with attributes (functions become listeners, `text` its text) and children.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// A number in a cell or elsewhere; all its digits are its title and, for programs, data-value.
function numeral(tag, number, unit, attributes = {}) {
  const known = number !== null && !Number.isNaN(number);
  return element(tag, {
    text: withUnit(number, unit),
    title: unit === "ns" || unit === "bytes" ? exact(number, unit) : null,
    "data-value": known ? number : null,
    ...attributes,
  });
}

function byId(id) {
  return document.getElementById(id);
}
