// Find anything: an id or its beginning, a name, a type, an error text. The server answers what its indexes know;
// the lists that a word may filter are offered as well.
import { get, withQuery } from "./api.js";
import { h, render } from "./dom.js";
import { groups } from "./pages.js";

const ID = /^[0-9a-f-]{8,}$|^[0-9]+$/i; // no name of a type or queue
const WAIT_MS = 150; // after the last key
let open = () => {};

const PLACES = { message: "messages", job: "jobs", run: "runs", stream: "streams", perspective: "perspectives", schedule: "schedules", task: "tasks", instance: "instances", event: "events" };

function addressOf(hit) {
  if (hit.kind === "dead letters") return withQuery("/ui/messages", { state: "dead", fingerprint: hit.id });
  if (hit.kind === "dead jobs") return withQuery("/ui/jobs", { state: "dead", fingerprint: hit.id });
  return `/ui/${PLACES[hit.kind]}/${encodeURIComponent(hit.id)}`;
}

const entry = (kind, name, href, more) => h("li", { "data-key": href }, h("a", { href }, h("span", { class: "kind" }, kind), h("span", { class: "name" }, name, more && h("span", { class: "quiet" }, " " + more))));

// The lists that this word may be a filter of.
function listsOf(word) {
  const lists = [["messages", "type"], ["messages", "topic"], ["jobs", "type"], ["jobs", "queue"], ["jobs", "key"]];
  return lists.map(([page, field]) => entry("list", `${page[0].toUpperCase()}${page.slice(1)} with ${field} ${word}`, withQuery("/ui/" + page, { [field]: word })));
}

const pagesLike = (word) => groups.flatMap((group) => group.pages).filter((page) => page.title.toLowerCase().includes(word.toLowerCase()))
  .map((page) => entry("page", page.title, "/ui/" + page.name));

function draw(list, said, word, hits, more) {
  render(list, hits.map((hit) => entry(hit.kind, hit.name, addressOf(hit), hit.detail)), pagesLike(word), word && !ID.test(word) && listsOf(word));
  said.textContent = word === "" ? "An id or its beginning, a stream, a task, a type, a word of an error. Payloads have no index: narrow a list by type or stream, then look through it."
    : more ? "There may be more: write more of it." : "";
}

function move(event, box) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const stops = [box.querySelector("input"), ...box.querySelectorAll("li a")];
  const at = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  event.preventDefault();
  if (stops[at]) stops[at].focus();
}

export const openFinder = () => open();

export function startFinder(go, ready) {
  const button = document.getElementById("find");
  open = () => {
    if (!ready() || document.querySelector("dialog[open]")) return;
    const list = h("ul", { "aria-label": "Found" }), said = h("p", { class: "quiet", role: "status" });
    const field = h("input", { type: "search", "aria-label": "Find anything", placeholder: "Find anything", autocomplete: "off", spellcheck: "false", autofocus: true });
    const box = h("dialog", { class: "finder", "aria-label": "Find anything" }, field, list, said);
    let timer = null, reading = new AbortController();
    const look = async () => {
      const word = field.value.trim();
      reading.abort();
      reading = new AbortController();
      if (word === "") return draw(list, said, "", [], false);
      try {
        const found = await get(withQuery("/v1/find", { word }), reading.signal);
        draw(list, said, word, found.items, found.more);
      } catch (problem) {
        if (problem.name !== "AbortError") said.textContent = problem.message;
      }
    };
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(look, WAIT_MS);
    });
    box.addEventListener("keydown", async (event) => {
      move(event, box);
      if (event.key !== "Enter" || event.target !== field) return;
      event.preventDefault();
      clearTimeout(timer);
      await look();
      const first = list.querySelector("a");
      if (first && box.open) first.click();
    });
    box.addEventListener("click", (event) => {
      if (event.target.closest("a") || event.target === box) box.close();
    });
    box.addEventListener("close", () => {
      clearTimeout(timer);
      reading.abort();
      box.remove();
    });
    document.body.append(box);
    box.showModal();
    look();
  };
  button.onclick = open;
}
