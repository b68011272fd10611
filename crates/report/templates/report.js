"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Dark or light: the system's choice, until somebody makes one.
  const stored = { get: () => { try { return localStorage.getItem("ptxsmith-theme"); } catch { return null; } },
                   set: (value) => { try { localStorage.setItem("ptxsmith-theme", value); } catch { /* a private window */ } } };
  const root = document.documentElement;
  if (stored.get() === "dark" || stored.get() === "light") root.dataset.theme = stored.get();
  byId("theme").addEventListener("click", () => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    stored.set(root.dataset.theme);
  });

  // What was done, for those who see it and those who hear it.
  let silence = 0;
  const say = (text) => {
    byId("said").textContent = text;
    clearTimeout(silence);
    silence = setTimeout(() => { byId("said").textContent = ""; }, 2500);
  };

  // The filter of findings.
  const read = (element) => ({
    element,
    text: element.textContent.toLowerCase(),
    subjects: all(".subjects li", element).map((item) => item.textContent),
  });
  const findings = all(".finding").map(read);
  // Those in a line each: what matches is shown, as far as it can be read.
  const rest = all(".brief").map(read);
  const MOST_MATCHES = 100;
  const inputs = ["text", "class", "status", "subject"].map((name) => byId("filter-" + name));
  const filter = () => {
    const [wanted, ofClass, status, subject] = inputs.map((input) => input.value);
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    const is = ({ element: { dataset }, subjects, text }) => (!ofClass || dataset.class === ofClass)
      && (!status || dataset.status === status) && (!subject || subjects.includes(subject)) && words.every((word) => text.includes(word));
    let shown = 0;
    for (const finding of findings) {
      const matches = is(finding);
      finding.element.hidden = !matches;
      shown += matches ? 1 : 0;
    }
    const narrowed = inputs.some((input) => input.value);
    const matching = rest.filter(is);
    shown += matching.length;
    if (rest.length > 0) {
      const copies = narrowed ? matching.slice(0, MOST_MATCHES).map((brief) => brief.element.cloneNode(true)) : [];
      byId("matches").replaceChildren(...copies);
    }
    byId("shown").textContent = shown.toLocaleString("en") + " of " + byId("shown").dataset.total + " shown";
    byId("nothing").hidden = shown > 0 || findings.length === 0;
  };
  const clear = () => { for (const input of inputs) input.value = ""; filter(); };
  for (const input of inputs) input.addEventListener("input", filter);
  byId("clear").addEventListener("click", () => { clear(); inputs[0].focus(); });
  document.addEventListener("keydown", (event) => {
    const writes = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !writes && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      inputs[0].focus();
    } else if (event.key === "Escape" && event.target === inputs[0]) {
      clear();
    }
  });
  filter();

  // A finding that is linked to is opened, also where the filter hides it.
  const open = (id) => {
    const finding = id && byId(id);
    if (!finding || !finding.classList.contains("finding")) return;
    if (finding.hidden) clear();
    finding.open = true;
    finding.scrollIntoView({ block: "start" });
    finding.querySelector("summary").focus({ preventScroll: true });
  };
  const follow = () => open(decodeURIComponent(location.hash.slice(1)));
  addEventListener("hashchange", follow);
  follow();

  // Copies.
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };
  for (const button of all(".copy")) {
    button.addEventListener("click", async () => {
      const done = await copy(button.dataset.copy);
      button.focus();
      say(done ? "Copied" : "Cannot copy: select the command instead");
    });
  }

  // The scoreboard: what differs, or all of it.
  const board = byId("board");
  const differing = byId("differing");
  const some = all(".clause.differs", board).length > 0;
  const choose = () => {
    board.classList.toggle("only", differing.checked);
    byId("no-differing").hidden = !(differing.checked && !some);
    rove();
  };

  // What a cell is, from its row, its column and the legend.
  const standings = new Map(all(".legend .chip").map((chip) => [chip.classList[1], chip.nextSibling.textContent]));
  const columns = all(".subjects th", board).map((head) => head.textContent);
  for (const row of all(".clause", board)) {
    for (const cell of [...row.cells].slice(1)) {
      const name = row.dataset.clause + ", " + columns[cell.cellIndex] + ": " + standings.get(cell.classList[0]);
      cell.firstElementChild.title = name;
      if (cell.firstElementChild.tagName === "BUTTON") cell.firstElementChild.setAttribute("aria-label", name);
    }
  }

  // One stop of the tab key, and arrow keys from there.
  const shownRows = () => all(".clause", board).filter((row) => row.offsetParent !== null);
  const rove = () => {
    const buttons = all("button", board);
    for (const button of buttons) button.tabIndex = -1;
    const first = buttons.find((button) => button.offsetParent !== null);
    if (first) first.tabIndex = 0;
  };
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  board.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move || event.target.tagName !== "BUTTON") return;
    event.preventDefault();
    const rows = shownRows();
    let row = rows.indexOf(event.target.closest("tr"));
    let column = event.target.closest("td").cellIndex;
    for (;;) {
      row += move[0];
      column += move[1];
      const cell = rows[row] && rows[row].cells[column];
      if (!cell || column < 1) return;
      const button = cell.querySelector("button");
      if (button) {
        event.target.tabIndex = -1;
        button.tabIndex = 0;
        button.focus();
        return;
      }
    }
  });
  differing.addEventListener("change", choose);
  differing.checked = some;
  choose();

  const dialog = byId("cell");
  board.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const row = button.closest("tr");
    const finding = button.dataset.finding && byId(button.dataset.finding);
    byId("cell-title").textContent = button.getAttribute("aria-label");
    byId("cell-summary").textContent = row.dataset.summary;
    byId("cell-standing").textContent = button.dataset.note;
    // The subject's own least program, or that of the finding where it has no shorter one.
    const own = button.dataset.program && byId("programs").children[Number(button.dataset.program)];
    const program = own || finding && finding.querySelector(".program");
    byId("cell-least").hidden = !program;
    byId("cell-program").textContent = program ? program.textContent : "";
    byId("cell-finding").hidden = !finding;
    if (finding) {
      byId("cell-link").href = "#" + finding.id;
      const more = Number(button.dataset.count) - 1;
      byId("cell-more").textContent = more > 0 ? "and " + more + " more" : "";
    }
    dialog.showModal();
  });
  byId("cell-link").addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
    const id = byId("cell-link").hash.slice(1);
    history.replaceState(null, "", "#" + id);
    open(decodeURIComponent(id));
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  // The atlas: questions that nothing answers are many.
  const atlas = byId("atlas");
  const answered = byId("answered");
  for (const row of all("tbody tr", atlas)) row.classList.toggle("silent", !row.querySelector("td:not(.a-none)"));
  const quiet = () => atlas.classList.toggle("only", answered.checked);
  answered.addEventListener("change", quiet);
  answered.checked = atlas.querySelector("tbody tr:not(.silent)") !== null;
  quiet();
})();
