// A choice of the documentation's version. Shows nothing if the pages are not in a site of several versions.
(() => {
  const version = new URL("..", document.currentScript.src);
  const site = new URL("..", version);
  const name = version.pathname.split("/").at(-2);

  // The same page of another version, or the first page if that version has no such page.
  async function open(other) {
    const page = location.href.slice(version.href.length);
    const target = new URL(`${other}/`, site);
    const same = new URL(page, target);
    const found = await fetch(same, { method: "HEAD" }).then((answer) => answer.ok).catch(() => false);
    location.assign(found ? same : new URL("index.html", target));
  }

  function show() {
    const place = document.querySelector(".sidebar-brand");
    const names = window.fadeoutVersions;
    if (!place || !names.includes(name)) return;
    const choice = document.createElement("select");
    choice.id = "version-switch";
    choice.setAttribute("aria-label", "Version of the documentation");
    names.forEach((each) => choice.add(new Option(each, each, each === name, each === name)));
    choice.addEventListener("change", () => open(choice.value));
    place.after(choice);
  }

  const list = document.createElement("script");
  list.src = new URL("versions.js", site);
  list.onload = () => (document.readyState === "loading" ? addEventListener("DOMContentLoaded", show) : show());
  document.head.append(list);
})();
