(() => {
  const find = document.getElementById("find"), shown = document.getElementById("shown");
  const rows = [...document.querySelectorAll("tbody tr")].map(row => [row, row.textContent.toLowerCase()]);
  let due = 0;
  const filter = () => {
    const text = find.value.toLowerCase();
    let count = 0;
    for (const [row, words] of rows) {
      row.hidden = !words.includes(text);
      if (!row.hidden) count++;
    }
    shown.textContent = text ? count + " of " + rows.length + " rows" : "";
  };
  // Ten thousand rows take a moment: filter when typing pauses.
  find.addEventListener("input", () => { clearTimeout(due); due = setTimeout(filter, 150); });
  // A link to a row that is filtered away would lead to nothing.
  window.addEventListener("hashchange", () => { if (find.value) { find.value = ""; filter(); document.querySelector(":target")?.scrollIntoView(); } });
})();
