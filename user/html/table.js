// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// All operators as a table to sort and to filter.

const ROWS_SHOWN = 100;

// The least and the most of any worker.
function extreme(profile, node, pick) {
  const times = profile.workers
    .map((worker) => profile.main("runtime", node, worker))
    .filter((time) => time !== null);
  return times.length > 0 ? pick(...times) : null;
}

function partOf(name) {
  return (node, profile) => {
    const [part, all] = [profile.main(name, node), profile.main("runtime", node)];
    return part === null || !(all > 0) ? null : (part / all) * 100;
  };
}

function tableColumns(profile) {
  const has = (name) => profile.mainNames().includes(name);
  const sum = (name) => (node) => profile.main(name, node);
  const ofTime = (node) => {
    const time = profile.main("runtime", node);
    return time === null || node.cluster || profile.operatorTime() === 0 ? null : (time / profile.operatorTime()) * 100;
  };
  const several = profile.workers.length > 1;
  return [
    { id: "id", title: "node", text: (node) => node.id },
    { id: "label", title: "operator", text: (node) => node.label || (node.cluster ? "nested circuit" : "") },
    { id: "runtime", title: "wall time", unit: "ns", of: sum("runtime"), needs: "runtime" },
    { id: "share", title: "share", unit: "percent", of: ofTime, needs: "runtime", help: "Of the time of all operators" },
    several && { id: "least", title: "min", unit: "ns", of: (n) => extreme(profile, n, Math.min), needs: "runtime", help: "Wall time of the worker that took least" },
    several && { id: "most", title: "max", unit: "ns", of: (n) => extreme(profile, n, Math.max), needs: "runtime", help: "Wall time of the worker that took most" },
    several && { id: "skew", title: "skew", unit: "ratio", of: (n) => profile.skew(n), needs: "runtime", help: "The slowest worker as a multiple of the mean" },
    { id: "cpu", title: "CPU", unit: "percent", of: partOf("cpu"), needs: "cpu" },
    { id: "preempted", title: "preempted", unit: "percent", of: partOf("preempted"), needs: "preempted" },
    { id: "run_queue", title: "run queue", unit: "percent", of: partOf("run_queue"), needs: "run_queue" },
    { id: "blocked", title: "blocked", unit: "percent", of: partOf("blocked"), needs: "blocked" },
    { id: "unobserved", title: "not obs.", unit: "percent", of: partOf("unobserved"), needs: "unobserved", help: "Not known whether it ran or waited" },
    { id: "invocations", title: "evaluations", unit: "count", of: sum("invocations"), needs: "invocations" },
  ].filter((column) => column && (!column.needs || has(column.needs))); // prettier-ignore
}

// "nn4_n10" after "nn4_n9".
function compareText(a, b) {
  return a.localeCompare(b, "en", { numeric: true });
}

class OperatorTable {
  constructor(profile, reveal) {
    this.reveal = reveal;
    this.columns = tableColumns(profile);
    this.rows = profile.nodes
      .filter((node) => !node.cluster || profile.main("runtime", node) !== null)
      .map((node) => ({
        node,
        cells: this.columns.map(({ text, of }) => (text ? text(node) : of(node, profile))),
      }));
    const first = this.columns.findIndex(({ id }) => id === "runtime");
    this.order = { column: Math.max(0, first), down: first >= 0 };
    this.all = false;
    this.head();
    byId("filter").addEventListener("input", () => this.show());
    byId("all-rows").addEventListener("click", () => {
      this.all = true;
      this.show();
    });
    this.show();
  }

  head() {
    const cells = this.columns.map(({ title, help, text, id }, column) => {
      const sort = () => this.sortBy(column);
      const button = element("button", { type: "button", text: title, click: sort, title: help });
      return element("th", { scope: "col", class: text ? "text" : null, "data-column": id }, button);
    });
    byId("operator-head").replaceChildren(element("tr", {}, ...cells));
  }

  sortBy(column) {
    const same = this.order.column === column;
    const down = same ? !this.order.down : !this.columns[column].text;
    this.order = { column, down };
    this.show();
  }

  // What is not known comes last, whatever the order.
  compare(a, b) {
    const { column, down } = this.order;
    const [left, right] = [a.cells[column], b.cells[column]];
    if (left === null || right === null) return (left === null) - (right === null);
    const order = this.columns[column].text ? compareText(left, right) : left - right;
    return down ? -order : order;
  }

  show() {
    const wanted = byId("filter").value.trim().toLowerCase();
    const rows = this.rows
      .filter(({ node }) => `${node.id} ${node.label}`.toLowerCase().includes(wanted))
      .sort((a, b) => this.compare(a, b));
    const shown = this.all ? rows : rows.slice(0, ROWS_SHOWN);
    byId("operator-rows").replaceChildren(...shown.map((row) => this.row(row)));
    byId("all-rows").hidden = shown.length === rows.length;
    byId("all-rows").textContent = `Show all ${whole(rows.length)}`;
    byId("row-status").textContent = `${whole(shown.length)} of ${whole(this.rows.length)} operators`;
    [...byId("operator-head").firstChild.children].forEach((cell, column) => {
      const sorted = column === this.order.column;
      cell.setAttribute("aria-sort", !sorted ? "none" : this.order.down ? "descending" : "ascending");
    });
  }

  row({ node, cells }) {
    const made = cells.map((cell, i) => {
      const { text, unit, id } = this.columns[i];
      if (id === "id")
        return element("th", { scope: "row" }, element("button", {
          type: "button", class: "link", text: cell, click: () => this.reveal(node),
        })); // prettier-ignore
      if (text) return element("td", { class: "text", text: cell, title: cell });
      return numeral("td", cell, unit, { "data-column": id });
    });
    return element("tr", { "data-node": node.id }, ...made);
  }
}
