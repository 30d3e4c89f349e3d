// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Colours: those of the style sheet, and the shade of a value.

const COLOURS = [
  "paper", "ink", "faint", "line", "box", "cluster", "cluster-line", "edge", "accent", "found",
  "heat-0", "heat-1", "heat-2",
]; // prettier-ignore

// The colours of the style sheet by name, as they are in the scheme that is in force.
function styleColours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(
    COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  );
}

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// WCAG's relative luminance.
function luminance(rgb) {
  const [r, g, b] = rgb.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Shades of a metric: the square root of the value, so that small ones differ, too.
class Scale {
  constructor(values, colours) {
    this.stops = ["heat-0", "heat-1", "heat-2"].map((name) => channels(colours[name]));
    this.none = colours.box;
    this.max = values.reduce((most, value) => (value > most ? value : most), 0);
  }

  // {fill, ink}: of a box, and of the text on it.
  shade(value) {
    if (Number.isNaN(value)) return { fill: this.none, ink: null };
    const at = this.max > 0 ? Math.sqrt(Math.max(0, value) / this.max) * 2 : 0;
    const from = this.stops[Math.min(1, Math.floor(at))];
    const to = this.stops[Math.min(1, Math.floor(at)) + 1];
    const part = at - Math.min(1, Math.floor(at));
    const rgb = from.map((channel, i) => Math.round(channel + (to[i] - channel) * part));
    return { fill: `rgb(${rgb.join(" ")})`, ink: luminance(rgb) > 0.179 ? "#000000" : "#ffffff" };
  }
}
