// The dashboard: signs in, finds the page of the address, and leaves it again.
import { drawAccount } from "./account.js";
import { get, signIn, whenSessionEnds } from "./api.js";
import { h, render } from "./dom.js";
import { startFinder } from "./finder.js";
import { startKeys } from "./keys.js";
import { endLive, onLiveState, onSample, startLive } from "./live.js";
import { groups, pageOf } from "./pages.js";
import { askAgain, signInForm } from "./sign_in.js";
import { failure } from "./states.js";
import { View } from "./view.js";

const main = document.getElementById("main"), nav = document.getElementById("pages"), menu = document.getElementById("menu");
let session = null, view = null, current = null;
const counts = {}; // what the navigation says beside a page

function drawNav() {
  render(nav, groups.map((group) => h("div", { "data-key": group.title }, h("h2", { id: "nav-" + group.title }, group.title),
    h("ul", { "aria-labelledby": "nav-" + group.title }, group.pages.map((page) =>
      h("li", null, h("a", { href: "/ui/" + page.name, "aria-current": current && page.name === current.name ? "page" : null },
        h("span", null, page.title), counts[page.name] > 0 && h("span", { class: "badge bad" }, counts[page.name] > 999 ? "999+" : counts[page.name]))))))));
}

function unfold(open) {
  nav.classList.toggle("open", open);
  menu.setAttribute("aria-expanded", String(open));
}

function show(focus) {
  if (view) view.end();
  const { page, list, id } = pageOf(location.pathname);
  current = list || page;
  drawNav();
  unfold(false);
  document.title = [id, page ? page.title : "Not found", "pawl"].filter(Boolean).join(" – ");
  const heading = h("h1", { tabindex: "-1" }, page ? page.title : "Not found", id && [" ", h("code", null, id)]);
  const box = h("div", { class: "page" });
  main.replaceChildren(h("div", { class: "head" }, id && list ? h("p", { class: "crumb" }, h("a", { href: "/ui/" + list.name }, list.title)) : null, heading), box);
  view = new View(box, new URLSearchParams(location.search), id, session);
  view.go = go;
  if (page) page.show(view);
  else box.append(failure(new Error("There is no such page. The navigation has those that are there.")));
  if (focus) heading.focus();
}

function go(address) {
  history.pushState(null, "", address);
  scrollTo(0, 0);
  show(true);
}

function follow(event) {
  for (const open of document.querySelectorAll("details.popup[open]")) if (!open.contains(event.target)) open.open = false;
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || !link.pathname.startsWith("/ui") || !session) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

// The token comes in the fragment, which no server sees; it is changed into a session at once.
function tokenOfAddress() {
  const match = location.hash.match(/^#token=([0-9a-zA-Z]+)$/);
  if (match) history.replaceState(null, "", location.pathname + location.search);
  return match && match[1];
}

function askToken(problem) {
  document.title = "Sign in – pawl";
  main.replaceChildren(h("div", { class: "head" }, h("h1", null, "Sign in")), signInForm(begin, problem.status === 401 ? null : problem));
}

// What needs a person, beside the page that says more.
function count(sample) {
  const dead = [...sample.kinds, ...sample.queues].reduce((sum, row) => sum + row.dead, 0);
  if (counts.dead === dead) return;
  counts.dead = dead;
  drawNav();
}

async function begin() {
  session = await get("/v1/session");
  whenSessionEnds(() => {
    endLive();
    askAgain(begin);
  });
  drawAccount(session);
  document.getElementById("find").hidden = false;
  startLive();
  show(false);
}

const stream = document.getElementById("stream");
onLiveState((word, tone) => {
  if (stream.textContent !== word) stream.textContent = word;
  stream.className = tone;
});
onSample(count, new AbortController().signal);
menu.onclick = () => unfold(!nav.classList.contains("open"));
addEventListener("popstate", () => session && show(true));
document.addEventListener("click", follow);
startFinder(go, () => session !== null);
startKeys(go, () => session !== null);
const token = tokenOfAddress();
try {
  if (token) await signIn(token);
  await begin();
} catch (problem) {
  askToken(problem);
}
