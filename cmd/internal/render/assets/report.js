"use strict";
// Everything on the page works without this script, except filters, keys and zoom.
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const runs = all("article.run-of").map((root) => {
    const resources = all(".resource", root);
    return {
      root, resources,
      texts: resources.map((r) => r.textContent.toLowerCase()),
      tiles: all(".tile", root),
      input: root.querySelector("input[type=search]"),
      shown: root.querySelector(".shown [role=status]"),
      jump: root.querySelector(".shown a"),
      none: root.querySelector(".none"),
      nodes: new Map(all(".graph .node", root).map((n) => [n.getAttribute("href"), n])),
    };
  });

  const filter = (run) => {
    if (!run.input) return;
    const wanted = new Set(run.tiles.filter((t) => t.getAttribute("aria-pressed") === "true").map((t) => t.dataset.status));
    const words = run.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    run.resources.forEach((r, i) => {
      const fits = (wanted.size === 0 || wanted.has(r.dataset.status)) && words.every((w) => run.texts[i].includes(w));
      r.hidden = !fits;
      n += fits ? 1 : 0;
      run.nodes.get("#" + r.id)?.classList.toggle("out", !fits);
    });
    const filtered = wanted.size > 0 || words.length > 0;
    run.shown.textContent = filtered ? `${n} of ${run.resources.length} resources shown` : "";
    run.jump.hidden = !filtered;
    run.none.hidden = n > 0;
    all(".group", run.root).forEach((g) => { g.hidden = filtered; });
  };

  const clear = (run) => {
    if (!run.input) return;
    run.input.value = "";
    run.tiles.forEach((t) => t.setAttribute("aria-pressed", "false"));
    filter(run);
  };

  // Going to a resource shows it, whatever is filtered.
  const arrive = () => {
    const to = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!to || !to.classList.contains("resource")) return;
    if (to.hidden) clear(runs.find((r) => r.resources.includes(to)));
    to.open = true;
    to.querySelector("summary").focus({ preventScroll: true });
    to.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", arrive);

  runs.forEach((run) => {
    run.input?.addEventListener("input", () => filter(run));
    run.tiles.forEach((t) => t.addEventListener("click", () => {
      t.setAttribute("aria-pressed", String(t.getAttribute("aria-pressed") !== "true"));
      filter(run);
    }));
    run.root.querySelector("[data-clear]")?.addEventListener("click", () => clear(run));
    all("[data-all]", run.root).forEach((b) => b.addEventListener("click", () => {
      run.resources.forEach((r) => { if (!r.hidden) r.open = b.dataset.all === "open"; });
    }));
  });

  // Pointing at a node, or coming to it by Tab, shows all that it waits for and
  // all that waits for it.
  const trace = (svg) => {
    const edges = all(".edge", svg).map((g) => ({ g, from: g.dataset.f, to: g.dataset.t }));
    const nodes = new Map(all(".node", svg).map((n) => [n.dataset.n, n]));
    const follow = (start, here, there) => {
      const seen = new Set([start]), queue = [start];
      while (queue.length) {
        const at = queue.pop();
        edges.forEach((e) => {
          if (e[here] !== at) return;
          e.g.classList.add("near");
          if (!seen.has(e[there])) { seen.add(e[there]); queue.push(e[there]); }
        });
      }
      seen.forEach((n) => nodes.get(n)?.classList.add("near"));
    };
    const off = () => {
      svg.classList.remove("traced");
      all(".near", svg).forEach((x) => x.classList.remove("near"));
    };
    const on = (event) => {
      const node = event.target.closest?.(".node");
      off();
      if (!node) return;
      svg.classList.add("traced");
      follow(node.dataset.n, "from", "to");
      follow(node.dataset.n, "to", "from");
    };
    svg.addEventListener("mouseover", on);
    svg.addEventListener("mouseleave", off);
    svg.addEventListener("focusin", on);
    svg.addEventListener("focusout", off);
  };

  all(".graphs").forEach((card) => {
    const svg = card.querySelector(".graph"), canvas = card.querySelector(".canvas");
    const width = svg.viewBox.baseVal.width, height = svg.viewBox.baseVal.height;
    let scale = 1;
    const size = (to) => {
      scale = Math.min(3, Math.max(0.1, to));
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
    };
    const fit = () => Math.min(1, canvas.clientWidth / width);
    const zoom = { in: () => scale * 1.25, out: () => scale / 1.25, full: () => 1, fit };
    all("[data-zoom]", card).forEach((b) => b.addEventListener("click", () => size(zoom[b.dataset.zoom]())));
    if (fit() > 0.7) size(fit()); // a little smaller is still readable; much smaller is for those who ask
    trace(svg);
  });

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches?.("input");
    const run = runs.find((r) => r.root.contains(document.activeElement)) ?? runs[0];
    if (!run?.input) return;
    if (event.key === "Escape") { clear(run); run.input.blur(); return; }
    if (typing) return;
    if (event.key === "/") { event.preventDefault(); run.input.focus(); run.input.select(); return; }
    if (event.key === "g") { run.root.querySelector(".canvas")?.focus(); return; }
    if (event.key !== "j" && event.key !== "k") return;
    const visible = run.resources.filter((r) => !r.hidden);
    const at = visible.findIndex((r) => r.contains(document.activeElement));
    const next = visible[event.key === "j" ? at + 1 : Math.max(at - 1, 0)];
    next?.querySelector("summary").focus();
    next?.scrollIntoView({ block: "nearest" });
  });

  // Paper has nothing to open: what is shown is printed whole.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])").filter((d) => !d.hidden && !d.classList.contains("still"));
    opened.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((d) => { d.open = false; }));

  arrive();
})();
