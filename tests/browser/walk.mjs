// Walks the dashboard as a person does. Usage: walk.mjs CHROMIUM ORIGIN TOKEN VIEWER-TOKEN DIRECTORY PICTURES
// Prints TAP. DIRECTORY/fixed is made when the handler of the dead letters may succeed.
import fs from "node:fs";
import path from "node:path";
import { Browser } from "./browser.mjs";

const [, , executable, origin, token, viewer, directory, pictures] = process.argv;
const browser = await Browser.open(executable, origin, pictures);
const { page } = browser;

const text = (selector) => page.locator(selector).first().textContent();
const button = (name) => page.getByRole("button", { name, exact: true }).first();
const agree = (verb) => page.locator("dialog").getByRole("button", { name: verb, exact: true }).click();
const row = (word) => page.locator("tbody tr", { hasText: word }).first();

async function api(address) {
  return page.evaluate(async (where) => (await fetch(where)).json(), address);
}

async function signIn() {
  await page.goto(origin + "/ui/");
  await page.getByLabel("Token").waitFor();
  await browser.inspect("sign-in");
  browser.wrong = browser.wrong.filter((line) => !line.includes("401")); // the browser reports that nobody was signed in
  await page.goto(origin + "/#token=" + token);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  if (page.url().includes("token")) throw new Error("the token stays in the address");
}

async function everyPage() {
  const message = (await api("/v1/messages?state=dead&limit=1")).items[0];
  const job = (await api("/v1/jobs?limit=1")).items[0];
  const run = (await api("/v1/runs?limit=1")).items[0];
  const ran = (await browser.until("an execution", async () => (await api("/v1/audit?task=report")).items))[0];
  const refused = (await api("/v1/events?stream=order%2Frefused")).items[0];
  const event = `events/${refused.id}?stream=${encodeURIComponent(refused.stream)}&version=${refused.version}`;
  const places = { overview: "", messages: "messages", "messages-dead": "messages?state=dead&type=bad.order", message: "messages/" + message.id, streams: "streams", stream: "streams/" + encodeURIComponent(message.stream),
                   dead: "dead", jobs: "jobs", job: "jobs/" + job.id, "job-ran": "jobs/" + ran.job_id, pipelines: "pipelines", tasks: "tasks", task: "tasks/report", schedules: "schedules", perspectives: "perspectives", events: "events", event: event,
                   instances: "instances", partitions: "partitions", pauses: "pauses", audit: "audit", runs: "runs", run: "runs/" + run.id, doctor: "doctor", alerts: "alerts", empty: "messages?type=nothing.like.this", missing: "nowhere" };
  for (const [name, place] of Object.entries(places)) {
    await browser.visit("/ui/" + place);
    if (!["missing", "empty"].includes(name) && (await page.locator(".failure, [data-key=empty]").count()) > 0)
      throw new Error(`${page.url()}: ${await text(".failure, [data-key=empty]")}`);
    if (name === "overview") await new Promise((resolve) => setTimeout(resolve, 8000)); // lines need points
    await browser.inspect(name);
  }
}

// The steps of a task that ran say how long they took; so do those of its job, which has a timeline too.
async function stepsAreTimed() {
  const times = async () => (await page.locator(".graph g text:nth-of-type(3)").allTextContents());
  for (const place of ["pipelines", "tasks/report"]) {
    await browser.visit("/ui/" + place);
    const shown = await times();
    if (shown.length !== 4 || !shown.every((text) => /\d (ms|s)/.test(text))) throw new Error(`${place}: ${shown}`);
  }
  await page.locator("tbody a").first().click();
  await page.getByRole("heading", { level: 1, name: /^Job/ }).waitFor();
  await browser.settled();
  if ((await times()).length !== 4) throw new Error("the job shows no steps");
  if (!/Attempt 1/.test(await text(".timeline"))) throw new Error("the job has no timeline");
}

// Of a stream whose first message is dead the second is blocked, and the page says by what.
async function streamSaysWhatBlocks() {
  await browser.visit("/ui/streams");
  await row("held/1").getByRole("link", { name: "held/1" }).click();
  await page.getByRole("heading", { level: 1, name: /held/ }).waitFor();
  await browser.settled();
  const [first, second] = (await api("/v1/messages?stream=" + encodeURIComponent("held/1"))).items;
  if (first.state !== "dead" || second.state !== "blocked") throw new Error(`${first.state}, ${second.state}`);
  const link = page.locator("tbody tr").nth(1).locator("td").last().locator("a");
  if (!(await link.getAttribute("href")).endsWith(first.id)) throw new Error("it does not name the message before it");
  await browser.inspect("stream-blocked");
}

async function everyLink() {
  await browser.visit("/ui/");
  const names = await page.locator("header nav a").allTextContents();
  for (const name of names) {
    await page.locator("header nav a", { hasText: name }).first().click();
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    await browser.settled();
  }
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: names[names.length - 2] }).waitFor();
}

async function valuesMove() {
  await browser.visit("/ui/");
  const done = () => text('section[aria-label="Throughput"] .value');
  const line = () => page.locator('section[aria-label="Throughput"] polyline').getAttribute("points");
  for (const name of ["Handler time, p95", "Wait time, p95"]) {
    const points = page.locator(`section[aria-label="${name}"] polyline`);
    await browser.until("a line of: " + name, async () => (await points.count()) > 0 && new Set((await points.getAttribute("points")).split(" ").map((point) => point.split(",")[1])).size > 1);
  }
  await browser.until("a throughput above 0", async () => Number.parseFloat(await done()) > 0);
  const before = await line();
  await browser.until("a line that moves", async () => (await line()) !== before);
  await button("Live").click();
  await browser.until("a stream that is still", async () => (await text("#stream")) === "paused");
  const still = await line();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  if ((await line()) !== still) throw new Error("the line moves although live is off");
  await button("Live").click();
  await browser.until("a line that moves again", async () => (await line()) !== still);
}

async function hiddenPagePauses() {
  await browser.visit("/ui/");
  await browser.until("the stream", async () => (await text("#stream")) === "live");
  const hide = (hidden) => page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  const line = () => page.locator('section[aria-label="Backlog"] polyline').getAttribute("points");
  await hide(true);
  const still = await line();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  if ((await line()) !== still) throw new Error("a hidden page still moves");
  await hide(false);
  await browser.until("a line that moves again", async () => (await line()) !== still);
}

async function timesSwitch() {
  await browser.visit("/ui/audit");
  for (const [mode, form] of [["utc", / UTC$/], ["local", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/], ["relative", /ago$|^now$/]]) {
    await page.getByLabel("Times").selectOption(mode);
    const shown = await text("tbody time");
    if (!form.test(shown)) throw new Error(`${mode}: ${shown}`);
  }
}

async function filtersAndPages() {
  await browser.visit("/ui/messages");
  await page.getByLabel("State").selectOption("dead");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await browser.until("the filter in the address", () => page.url().includes("state=dead"));
  await browser.settled();
  const first = await text("tbody tr:first-child code");
  await page.getByRole("link", { name: "Next page" }).click();
  await browser.until("another page", async () => page.url().includes("cursor=") && (await page.locator("tbody tr").count()) > 0 && (await text("tbody tr:first-child code")) !== first);
  const states = new Set(await page.locator("tbody .badge").allTextContents());
  if (states.size !== 1 || !states.has("dead")) throw new Error("the filter got lost: " + [...states]);
  await page.goBack();
  await browser.until("the first page again", async () => (await text("tbody tr:first-child code")) === first);
}

async function redrive() {
  await browser.visit("/ui/dead");
  fs.writeFileSync(path.join(directory, "fixed"), "");
  const before = (await api("/v1/messages/failures")).items.reduce((sum, group) => sum + group.count, 0);
  if (!(before > 0)) throw new Error("nothing is dead");
  const operations = (await api("/v1/operations")).items.length;
  await button("Retry all").click();
  await page.keyboard.press("Escape"); // leaves it
  if ((await api("/v1/operations")).items.length > operations) throw new Error("Escape did not leave it");
  await button("Retry all").click();
  await agree("Retry");
  await page.locator(".operations .badge", { hasText: "done" }).first().waitFor();
  await browser.until("no dead letter", async () => (await page.locator("[data-key=empty]").count()) > 0);
  await browser.inspect("dead-redriven");
}

async function pauseStream() {
  await browser.visit("/ui/streams/" + encodeURIComponent("order/1"));
  await button("Pause").click();
  await agree("Pause");
  await page.locator(".facts .badge", { hasText: "paused" }).waitFor();
  const paused = async () => (await api("/v1/pauses")).items.some((one) => one.name === "order/1");
  if (!(await paused())) throw new Error("it is not paused");
  await button("Resume").click();
  await page.locator(".facts .badge", { hasText: "active" }).waitFor();
  if (await paused()) throw new Error("it is still paused");
}

async function schedule() {
  await browser.visit("/ui/schedules");
  await page.getByRole("button", { name: "Run now: nightly" }).click();
  await page.locator(".note", { hasText: "is enqueued" }).waitFor();
  await browser.until("an execution", async () => (await api("/v1/audit?task=report")).items.length > 0);
  await page.getByRole("button", { name: "Pause: nightly" }).click();
  await agree("Pause");
  await row("nightly").locator(".badge", { hasText: "paused" }).waitFor();
  if (!(await api("/v1/schedules/nightly")).paused) throw new Error("the schedule is not paused");
  await page.getByRole("button", { name: "Resume: nightly" }).click();
  await row("nightly").locator(".badge", { hasText: "active" }).waitFor();
}

async function pausePerspective() {
  await browser.visit("/ui/perspectives");
  await page.getByRole("button", { name: /^Pause: event_count/ }).click();
  await agree("Pause");
  await row("event_count").locator(".badge", { hasText: "paused" }).waitFor();
  await page.getByRole("button", { name: /^Resume: event_count/ }).click();
  await row("event_count").locator(".badge", { hasText: "live" }).waitFor();
  await page.getByRole("button", { name: /^Rebuild: event_count/ }).click();
  await agree("Rebuild");
  await page.locator(".note", { hasText: "built again" }).waitFor();
}

async function cancelJob() {
  const job = (await api("/v1/jobs?state=later&limit=1")).items[0];
  await browser.visit("/ui/jobs/" + job.id);
  await button("Cancel").click();
  await agree("Cancel the job");
  await page.locator(".facts .badge", { hasText: "cancelled" }).waitFor();
  const gone = await page.evaluate(async (id) => (await fetch("/v1/jobs?state=later&limit=500")).json().then((list) => !list.items.some((one) => one.id === id)), job.id);
  if (!gone) throw new Error("the job is still there");
  await browser.visit("/ui/jobs?state=later");
  await button("Cancel all that fit").click();
  await agree("Cancel jobs");
  await page.locator(".operations .badge", { hasText: "done" }).first().waitFor();
  await browser.until("an empty list", async () => (await page.locator("[data-key=empty]").count()) > 0);
  browser.wrong = browser.wrong.filter((line) => !line.includes("404")); // the browser reports that the job is gone
}

// A receptor that failed: its event and its message say so, its page gives it another round, pauses and removes it.
async function receptors() {
  await browser.visit("/ui/perspectives");
  await row("strict").getByRole("link", { name: "dead letters" }).click();
  await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor();
  await browser.settled();
  await page.locator("tbody a").first().click();
  await page.getByRole("heading", { level: 1, name: /^Message/ }).waitFor();
  await page.locator(".badge", { hasText: "failed for good" }).waitFor();
  await page.locator("dl.facts a[href^='/ui/events/']").click();
  await page.getByRole("heading", { level: 1, name: /^Event/ }).waitFor();
  await page.locator("tbody tr", { hasText: "event:strict" }).locator(".badge", { hasText: "failed for good" }).waitFor();
  if (!/order\.refused/.test(await text("dl.facts"))) throw new Error("the event does not say its type");
  await browser.visit("/ui/perspectives");
  await page.getByRole("button", { name: "Retry dead: strict" }).click();
  await agree("Retry");
  await page.locator(".operations li", { hasText: "1 done" }).waitFor();
  await page.getByRole("button", { name: "Pause: mail" }).click();
  await agree("Pause");
  await row("mail").locator(".badge", { hasText: "paused" }).waitFor();
  if (!(await api("/v1/receptors/mail")).paused) throw new Error("it is not paused");
  await browser.inspect("perspectives-receptor-paused");
  await page.getByRole("button", { name: "Resume: mail" }).click();
  await row("mail").locator(".badge", { hasText: "active" }).waitFor();
  await page.getByRole("button", { name: "Remove: strict" }).click();
  await agree("Remove");
  await browser.until("a receptor less", async () => (await api("/v1/receptors")).items.length === 1 && (await page.locator("tbody tr", { hasText: "strict" }).count()) === 0);
}

async function runGoesOn() {
  const run = (await api("/v1/runs?limit=1")).items[0];
  await browser.visit("/ui/runs/" + run.id);
  await browser.until("partitions that are done or under way", async () => (await page.locator(".parts .part-active, .parts .part-done").count()) > 0);
  const items = () => page.locator(".facts div", { hasText: "Items" }).first().textContent();
  const before = await items();
  await browser.until("items that grow", async () => (await items()) !== before);
  await button("Pause").click();
  await page.locator(".facts .badge", { hasText: "paused" }).waitFor();
  await button("Resume").click();
  await browser.until("a run that goes on", async () => !(await api("/v1/runs/" + run.id)).paused);
  await browser.until("a partition that failed", async () => (await page.locator(".parts .part-failed").count()) > 0);
  const failed = (await api(`/v1/runs/${run.id}/partitions?limit=500`)).items.filter((part) => part.state === "failed");
  if (failed.some((part) => part.partition !== "closed")) throw new Error("failed: " + failed.map((part) => `${part.partition}: ${part.error}`).join("; "));
  await page.locator("summary", { hasText: "Every partition" }).click();
  await browser.inspect("run-failed-part");
  await browser.visit("/ui/dead"); // its job is dead, and the overview counts it among the dead letters
  await page.getByRole("region", { name: "Groups of dead jobs" }).waitFor();
  await browser.visit("/ui/runs/" + run.id);
  await button("Retry what failed").click();
  await page.locator(".note", { hasText: "tried again" }).waitFor();
  await button("Cancel").click();
  await agree("Cancel the run");
  await browser.until("a cancelled run", async () => (await api("/v1/runs/" + run.id)).state === "cancelled");
}

async function doctorLooks() {
  await browser.visit("/ui/doctor");
  await browser.until("a report", async () => (await page.locator("[data-key=healthy], .findings").count()) > 0);
  await button("Look again").click();
  await page.locator(".note", { hasText: "looks again" }).waitFor();
}

async function alertFires() {
  await browser.visit("/ui/alerts");
  await browser.until("a rule that fires", async () => (await row("too-much-dead").locator(".badge", { hasText: "firing" }).count()) > 0);
  await browser.visit("/ui/");
  await page.locator(".alarms li", { hasText: "too-much-dead" }).waitFor();
  await browser.inspect("overview-alarm");
  await browser.visit("/ui/alerts");
  await page.getByRole("button", { name: "Silence: too-much-dead" }).click();
  await agree("Silence");
  await page.getByRole("button", { name: "End silence: too-much-dead" }).waitFor();
  if (!(await api("/v1/alerts/too-much-dead")).silence_until_ms) throw new Error("it is not silent");
  await page.getByRole("button", { name: "Switch off: too-much-dead" }).click();
  await page.getByRole("button", { name: "Switch on: too-much-dead" }).waitFor();
  if ((await api("/v1/alerts/too-much-dead")).enabled) throw new Error("it is still on");
}

async function auditKnows() {
  await browser.visit("/ui/audit");
  const shown = (await page.locator("tbody").textContent()) || "";
  for (const word of ["retry", "pause", "run", "cancel"])
    if (!shown.toLowerCase().includes(word)) throw new Error("the audit does not say: " + word);
}

async function hostileText() {
  const words = ['<img src=x onerror="document.title=1">', "</td><script>throw 1</script>", "\u202eright to left", "'\"`;--", "${7*7}{{7*7}}"];
  const answer = await page.evaluate(async (names) => (await fetch("/v1/messages", { method: "POST", headers: { "pawl-request": "test", "content-type": "application/json" },
    body: JSON.stringify({ messages: names.map((name) => ({ type: "bad.hostile", stream: name, payload: { name } })) }) })).status, words);
  if (answer !== 200) throw new Error("the messages were refused: " + answer);
  for (const word of words) {
    await browser.visit("/ui/streams/" + encodeURIComponent(word));
    if ((await text("h1 code")) !== word) throw new Error("not shown as it is: " + word);
    if ((await page.locator("main img, main script").count()) > 0) throw new Error("became markup: " + word);
  }
}

// 200 strings as names of streams and in payloads: each is listed verbatim, none becomes markup.
async function hostileNames() {
  const cores = ["<script>throw 1</script>", "<img src=x onerror=throw_1>", "<svg/onload=alert(1)>", "javascript:alert(1)", "\" onfocus=alert(1) x=\"",
                 "'; DROP TABLE event;--", "&lt;b&gt;", "&#x3c;i&#x3e;", "]]>", "<!--", "-->", "{{constructor}}", "${alert(1)}", "%3Cb%3E", "%00", "..%2f..%2f",
                 "\u202eabc", "\u200b", "e\u0301\u0301\u0301", "\ud83d\ude00", "<a href=//x>y</a>", "</pre><h1>", "<style>*{display:none}</style>", "\\\"\\'", "<base href=//x>"];
  const frames = [(x) => x, (x) => "a" + x, (x) => x + "b", (x) => x + x, (x) => `"${x}`, (x) => `'${x}'`, (x) => `<td>${x}`, (x) => `${x} ${x}`];
  const words = cores.flatMap((core) => frames.map((frame) => frame(core)));
  const refused = await page.evaluate(async (names) => {
    let count = 0;
    for (const name of names) {
      const answer = await fetch(`/v1/streams/${encodeURIComponent(name)}/events`, { method: "POST",
        headers: { "pawl-request": "test", "content-type": "application/json" }, body: JSON.stringify({ events: [{ type: "hostile", payload: { name } }] }) });
      count += answer.ok ? 0 : 1;
    }
    return count;
  }, words);
  if (words.length !== 200 || refused > 0) throw new Error(`${words.length} strings, ${refused} refused`);
  const left = new Set(words);
  await browser.visit("/ui/events");
  await button("Live").click();
  for (let pages = 0; left.size > 0 && pages < 15; pages++) {
    for (const [stream, payload] of await page.locator("tbody tr").evaluateAll((rows) => rows.map((one) => [one.children[2].textContent, one.querySelector("pre").textContent])))
      if (JSON.stringify({ name: stream }, null, 2) === payload) left.delete(stream);
    if ((await page.locator("main img, main script, main style, main svg, main base").count()) > 0) throw new Error("a name became markup");
    const before = await text("tbody");
    if (left.size === 0) break;
    await page.getByRole("link", { name: "Next page" }).click();
    await browser.until("the next page", async () => (await page.locator("tbody").count()) > 0 && (await text("tbody")) !== before);
  }
  if (left.size > 0) throw new Error("not shown: " + [...left].join(" | "));
}

async function keyboard() {
  await browser.visit("/ui/");
  await page.keyboard.press("Tab");
  if ((await page.evaluate(() => document.activeElement.className)) !== "skip") throw new Error("the first stop is not the skip link");
  await page.keyboard.press("Enter");
  await page.locator("header nav a", { hasText: "Messages" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor();
  if ((await page.evaluate(() => document.activeElement.tagName)) !== "H1") throw new Error("the heading does not get the focus");
}

async function viewerSeesOnly() {
  await browser.context.clearCookies();
  await page.goto(origin + "/#token=" + viewer);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  for (const place of ["tasks", "messages?state=dead", "pipelines", "schedules", "perspectives", "instances", "jobs", "dead", "pauses"]) {
    await browser.visit("/ui/" + place);
    const names = await page.locator("main button:not([type=submit])").allTextContents();
    if (names.length > 0) throw new Error(`${place}: a viewer is offered ${names}`);
  }
}

const cases = { signIn, everyPage, stepsAreTimed, streamSaysWhatBlocks, everyLink, valuesMove, hiddenPagePauses, timesSwitch, filtersAndPages, pauseStream, schedule,
                pausePerspective, receptors, runGoesOn, doctorLooks, alertFires, cancelJob, redrive, auditKnows, hostileText, hostileNames, keyboard, viewerSeesOnly };
let failed = 0, number = 0;
console.log(`1..${Object.keys(cases).length}`);
for (const [name, run] of Object.entries(cases)) {
  let why = "";
  browser.wrong = [];
  try {
    await run();
    why = browser.wrong.join("\n");
  } catch (error) {
    why = [error.stack, ...browser.wrong].join("\n");
    await page.screenshot({ path: path.join(pictures, `failed-${name}.png`) }).catch(() => {});
  }
  failed += why !== "";
  console.log(`${why ? "not ok" : "ok"} ${++number} - ${name}`);
  if (why) console.log(why.split("\n").map((line) => "# " + line).join("\n"));
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
