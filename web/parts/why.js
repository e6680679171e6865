// Why something waits, in the words of pawl why, with a button for each command that they advise.
import { drop, post } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { command } from "../states.js";
import { instant } from "../time.js";
import { act, confirm } from "./dialog.js";
import { facts } from "./table.js";

const of = (path, verb) => (id) => post(`/v1/${path}/${encodeURIComponent(id)}/${verb}`);

// A command that a sentence may advise: how the dashboard does it. danger: what is lost, asked before.
const DOES = {
  "message retry": { name: "Retry", run: of("messages", "retry"), done: "It gets another round of attempts." },
  "message delete": { name: "Delete", run: (id) => drop("/v1/messages/" + id), done: "The message is given up.",
                      danger: "It will never be handled. This cannot be taken back." },
  "instance evict": { name: "Evict the instance", run: of("instances", "evict"), done: "The instance is evicted; others take its work.",
                      danger: "All its work is taken away, and it gets no more until it registers again." },
  "job retry": { name: "Retry", run: of("jobs", "retry"), done: "The job runs again." },
  "job delete": { name: "Delete", run: (id) => drop("/v1/jobs/" + id), done: "The job is given up.", danger: "It is given up. This cannot be taken back." },
  "run resume": { name: "Resume the run", run: of("runs", "resume"), done: "The run goes on." },
  "run retry": { name: "Retry what failed", run: of("runs", "retry"), done: "What failed is tried again." },
  "perspective resume": { name: "Resume", run: of("perspectives", "resume"), done: "The perspective goes on." },
  "perspective reset": { name: "Try the failed streams again", run: of("perspectives", "reset"), done: "Its failed streams are tried again." },
  "schedule resume": { name: "Resume", run: of("schedules", "resume"), done: "The schedule fires again." },
  "task resume": { name: "Resume", run: of("tasks", "resume"), done: "Its schedules fire again." },
  "task run": { name: "Run now", run: (id) => post(`/v1/tasks/${encodeURIComponent(id)}/run`, {}), done: "A job is enqueued." },
};
const LEADS = { "message show": "messages", "why job": "jobs", "run partitions": "runs", "perspective errors": "perspectives", "instance list": "instances",
                "partition list": "partitions", "schedule list": "schedules", "message list": "messages?state=dead", workers: "instances" };

const WORD = "('[^']*'|[^\\s.,;:)]+)";

// What may follow a command that is named without an id: it is about the thing itself.
const PLAIN = new Set(["starts", "shows", "lists", "takes", "tells", "looks", "or", "and", "if"]);

// The commands that the advice names, each once: {name, id}; own: the id of the page.
function commandsOf(text, own) {
  const found = new Map();
  const names = [...Object.keys(DOES), ...Object.keys(LEADS), "why", "resume topic", "resume stream", "resume handler", "resume message"];
  for (const name of names.sort((a, b) => b.length - a.length))
    for (const match of text.matchAll(new RegExp(`pawl ${name}(?: ${WORD})?`, "g"))) {
      const word = (match[1] || "").replace(/^'|'$/g, ""), id = PLAIN.has(word) || word === "" ? own : word;
      if (![...found.values()].some((one) => one.at === match.index)) found.set(name + " " + id, { name, id, at: match.index });
    }
  return [...found.values()].sort((a, b) => a.at - b.at);
}

function resumed(name, id) {
  const scope = name.slice("resume ".length);
  return { name: `Resume the ${scope}`, run: () => drop(`/v1/pauses/${scope}/${encodeURIComponent(id)}`), done: "It goes on." };
}

function button(one, own, again) {
  const does = one.name.startsWith("resume ") ? resumed(one.name, one.id) : DOES[one.name];
  const about = one.id && one.id !== own && !does.name.includes(" ") ? ` ${one.id.slice(0, 8)}` : "";
  return h("button", { type: "button", class: does.danger ? "danger" : null, onclick: async () => {
    if (!does.danger || (await confirm(does.name + "?", does.danger, does.name))) await act(() => does.run(one.id), does.done);
    again();
  } }, does.name + about);
}

function link(one, own) {
  if (one.name === "why" && one.id && one.id !== own) return h("a", { href: "/ui/messages/" + one.id }, "What is in front of it");
  const place = LEADS[one.name];
  if (!place) return null;
  const single = ["messages", "jobs", "runs"].includes(place) && one.id;
  if (single && one.id === own) return null;
  return h("a", { href: "/ui/" + place + (single ? "/" + encodeURIComponent(one.id) : "") }, single ? `${place[0].toUpperCase()}${place.slice(1, -1)} ${one.id.slice(0, 8)}` : place.split("?")[0][0].toUpperCase() + place.split("?")[0].slice(1));
}

// Whether the advice has a button for that command, so that the page needs none.
export const advises = (why, name, own) => commandsOf((why && why.next) || "", own).some((one) => one.name === name);

// why: {explanation, next, …}; own: the id of the page, whose buttons need no name.
export function whyBox(view, why, own, again) {
  const advised = commandsOf(why.next || "", own);
  const does = advised.filter((one) => DOES[one.name] || one.name.startsWith("resume "));
  const leads = advised.filter((one) => !does.includes(one)).map((one) => link(one, own)).filter(Boolean);
  const signal = /pawl job signal (\S+)/.exec(why.next || "");
  return h("section", { class: "why", "aria-label": "Why", "data-key": "why" }, h("h2", null, "Why"),
    h("p", null, why.explanation), why.next && h("p", null, h("strong", null, "What to do: "), why.next),
    signal && h("p", null, command(signal[0])),
    (why.until_ms || why.ahead > 0 || why.limit > 0) && facts([["Until", why.until_ms && instant(why.until_ms)], ["Jobs ahead", why.ahead > 0 && number(why.ahead)],
      ["Limit", why.limit > 0 && `${number(why.running)} of ${number(why.limit)} running`], ["Waits for", why.wait_key]]),
    (does.length > 0 || leads.length > 0) && h("div", { class: "actions" }, view.operator && does.map((one) => button(one, own, again)), leads));
}
