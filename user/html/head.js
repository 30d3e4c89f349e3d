// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The top of the page: whose profile it is, what stands out, what is missing.

const MODES = {
  engine: "operators by the engine's own counters",
  sampled: "operators by samples",
  exact: "operators by a probe at each evaluation",
  waits: "steps and waits only",
};

// What the profile says beside its numbers was not checked when it was read.
function listOf(value) {
  return Array.isArray(value) ? value : [];
}

// {"secs": 1, "nanos": 2} as nanoseconds.
function nanosOf(time) {
  return Number.isFinite(time?.secs) && Number.isFinite(time.nanos)
    ? time.secs * 1e9 + time.nanos
    : 0;
}

function instant(time) {
  const date = new Date(time);
  if (!time || Number.isNaN(date.getTime())) return null;
  return `${date.toISOString().replace("T", " ").slice(0, 19)} UTC`;
}

function programName(profile) {
  return String(profile.about?.executable ?? "").split("/").pop() || "DBSP pipeline";
}

function windowLength(profile) {
  return nanosOf(profile.about?.window?.length) || profile.source.elapsed_ns;
}

function stepsText(profile) {
  const steps = profile.workers.map((worker) => profile.root(worker, "steps_count"));
  const [least, top] = [Math.min(...steps), Math.max(...steps)];
  const seconds = windowLength(profile) / 1e9;
  const count = least === top ? whole(top) : `${whole(least)} to ${whole(top)}`;
  const rate = seconds > 0 && top > 0 ? `, ${digits(top / seconds)}/s` : "";
  return `${count}${profile.workers.length > 1 ? " each" : ""}${rate}`;
}

function costText(cost) {
  if (!Number.isFinite(cost?.share)) return null;
  const dropped = cost.dropped ? `; given up for it: ${cost.dropped}` : "";
  return `at least ${(cost.share * 100).toFixed(1)} % of the program's CPU time${dropped}`;
}

// [name, text], what is not known left out.
function facts(profile) {
  const { about, source } = profile;
  const start = instant(about?.window?.start) ?? instant(source.start_unix_ms);
  const length = windowLength(profile);
  const samples = about?.frequency_hz ? `, ${about.frequency_hz} samples a second a CPU` : "";
  return [
    ["Process", about?.pid || source.pid ? `pid ${about?.pid || source.pid}` : null],
    ["Host", about?.host],
    ["Executable", about?.executable],
    ["Window", length > 0 ? duration(length) : null],
    ["Begin", start],
    ["Mode", about?.mode ? `${about.mode}: ${MODES[about.mode] ?? ""}${samples}` : null],
    ["Workers", whole(profile.workers.length)],
    ["Steps", profile.workers.length > 0 ? stepsText(profile) : null],
    ["Operators", whole(profile.operators.length)],
    ["DBSP", about?.dbsp ?? source.dbsp],
    ["Kernel", about?.kernel],
    ["Cost of profiling", costText(about?.cost)],
  ].filter(([, text]) => text);
}

// What the profile says it lacks, as sentences.
function gaps(profile) {
  const { about } = profile;
  const said = [];
  if (about && about.complete === false) {
    const lost = Object.entries(about.lost ?? {}).filter(([, count]) => count > 0);
    const list = lost.map(([what, count]) => `${words(what)} ${whole(count)}`).join(", ");
    said.push(`This profile is not complete. Lost: ${list || "see the profile"}.`);
  }
  if (about?.target_exited) said.push("The program ended during the window.");
  const differing = listOf(about?.graph?.differs_in_workers);
  if (differing.length > 0)
    said.push(`Workers with another graph than the one shown: ${differing.join(", ")}.`);
  if (about?.graph?.nodes_left_out > 0)
    said.push(`${whole(about.graph.nodes_left_out)} nodes have no place in it and are left out.`);
  if (profile.leftOut > 0)
    said.push(`${whole(profile.leftOut)} readings or edges have no place on this page.`);
  return said;
}

// Steps that had been open for a second or more at the end of the window.
function openSteps(profile) {
  return listOf(profile.about?.open_steps)
    .map((step) => ({ ...step, nanos: nanosOf(step.age) }))
    .filter((step) => step.nanos >= 1e9)
    .sort((a, b) => b.nanos - a.nanos)
    .slice(0, 8)
    .map((step) => {
      const waiting = step.reason
        ? `, for ${duration(nanosOf(step.waiting))} waiting for ${REASONS[step.reason] ?? step.reason}`
        : "";
      const age = `${step.exact === false ? "at least " : ""}${duration(step.nanos)}`;
      return `Worker ${step.worker}: a step of ${step.circuit} has been open for ${age}${waiting}.`;
    });
}

function showHead(profile, reveal) {
  const name = programName(profile);
  document.title = `${name} – DBSP profile`;
  byId("program").textContent = name;
  byId("facts").append(
    ...facts(profile).map(([term, text]) =>
      element("div", {}, element("dt", { text: term }), element("dd", { text })),
    ),
  );
  byId("findings").append(
    ...findings(profile).map(({ text, node }) => {
      if (!node) return element("li", { text });
      const open = () => reveal(node);
      return element("li", { text: `${text} ` }, element("button", { text: "Show", click: open }));
    }),
    ...openSteps(profile).map((text) => element("li", { text })),
  );
  const missing = gaps(profile);
  byId("gaps").hidden = missing.length === 0;
  byId("gaps").append(...missing.map((text) => element("p", { text })));
  byId("made").textContent = `Written by ${profile.program}.`;
}
