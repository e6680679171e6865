// Walks over every page and what it tells.
import { agree, api, browser, button, heading, inAccount, page, row, text } from "./scene.mjs";

export async function everyPage() {
  const message = (await api("/v1/messages?state=dead&limit=1")).items[0];
  const dead = message, worker = (await api("/v1/instances")).items[0];
  const job = (await api("/v1/jobs?limit=1")).items[0];
  const run = (await api("/v1/runs?limit=1")).items[0];
  const ran = (await browser.until("an execution", async () => (await api("/v1/audit?task=report")).items))[0];
  const refused = (await api("/v1/events?stream=order%2Frefused")).items[0];
  const event = `events/${refused.id}?stream=${encodeURIComponent(refused.stream)}&version=${refused.version}`;
  const places = { overview: "", messages: "messages", "messages-dead": "messages?state=dead&type=bad.order", message: "messages/" + message.id, streams: "streams", stream: "streams/" + encodeURIComponent(message.stream),
                   dead: "dead", jobs: "jobs", job: "jobs/" + job.id, "job-ran": "jobs/" + ran.job_id, pipelines: "pipelines", tasks: "tasks", task: "tasks/report", schedules: "schedules", schedule: "schedules/nightly", perspective: "perspectives/event_count%401", history: "history", "history-at": "history?at=" + dead.ended_ms, perspectives: "perspectives", events: "events", event: event,
                   instance: "instances/" + worker.id, instances: "instances", partitions: "partitions", pauses: "pauses", audit: "audit", runs: "runs", run: "runs/" + run.id, doctor: "doctor", alerts: "alerts", empty: "messages?type=nothing.like.this", missing: "nowhere" };
  for (const [name, place] of Object.entries(places)) {
    await browser.visit("/ui/" + place);
    if (!["missing", "empty"].includes(name) && (await page.locator(".failure, [data-key=empty]").count()) > 0)
      throw new Error(`${page.url()}: ${await text(".failure, [data-key=empty]")}`);
    if (name === "overview") await new Promise((resolve) => setTimeout(resolve, 8000)); // lines need points
    await browser.inspect(name);
  }
}

// The steps of a task that ran say how long they took; so do those of its job, which has a timeline too.
export async function stepsAreTimed() {
  const times = async () => (await page.locator(".graph g text:nth-of-type(3)").allTextContents());
  for (const place of ["pipelines", "tasks/report"]) {
    await browser.visit("/ui/" + place);
    const shown = await times();
    if (shown.length !== 4 || !shown.every((text) => /\d (ms|s)/.test(text))) throw new Error(`${place}: ${shown}`);
  }
  await page.getByRole("region", { name: "Executions" }).locator("tbody a").first().click();
  await page.getByRole("heading", { level: 1, name: /^Job/ }).waitFor();
  await browser.settled();
  if ((await times()).length !== 4) throw new Error("the job shows no steps");
  if (!/Attempt 1/.test(await text(".tale"))) throw new Error("the job has no timeline");
}

// Of a stream whose first message is dead the second is blocked, and the page says by what.
export async function streamSaysWhatBlocks() {
  await browser.visit("/ui/streams");
  await row("held/1").getByRole("link", { name: "held/1" }).click();
  await page.getByRole("heading", { level: 1, name: /held/ }).waitFor();
  await browser.settled();
  const [first, second] = (await api("/v1/messages?stream=" + encodeURIComponent("held/1"))).items;
  if (first.state !== "dead" || second.state !== "blocked") throw new Error(`${first.state}, ${second.state}`);
  const link = page.locator("tbody tr").nth(1).locator("td").last().locator("a");
  if (!(await link.getAttribute("href")).endsWith(first.id)) throw new Error("it does not name the message before it");
  await page.locator(".facts .badge", { hasText: "blocked" }).waitFor();
  await browser.inspect("stream-blocked");
}

export async function filtersAndPages() {
  await browser.visit("/ui/messages");
  await page.locator(".filters").getByLabel("State").selectOption("dead");
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

export async function doctorLooks() {
  await browser.visit("/ui/doctor");
  await browser.until("a report", async () => (await page.locator("[data-key=healthy], .findings").count()) > 0);
  await button("Look again").click();
  await page.locator(".note", { hasText: "looks again" }).waitFor();
}

export async function alertFires() {
  await browser.visit("/ui/alerts");
  await browser.until("a rule that fires", async () => (await page.locator(".rule", { hasText: "too-much-dead" }).locator(".badge", { hasText: "firing" }).count()) > 0);
  await browser.visit("/ui/");
  const said = await page.locator(".alarms li", { hasText: "too-much-dead" }).textContent();
  if (!/outbox dead is \d+; fires above 50|outbox dead was \d+ at \d\d:\d\d, is \d+ now; fires above 50/.test(said)) throw new Error("the alert is not told plainly: " + said);
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

export async function auditKnows() {
  await browser.visit("/ui/audit");
  const shown = (await page.locator("tbody").textContent()) || "";
  for (const word of ["retry", "pause", "run", "cancel"])
    if (!shown.toLowerCase().includes(word)) throw new Error("the audit does not say: " + word);
}

export async function hostileText() {
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
export async function hostileNames() {
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
  await inAccount(() => button("Live").click());
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

// A chart is read with the keyboard and leads to what happened then.
export async function chartsAreRead() {
  await browser.visit("/ui/");
  const plot = page.getByRole("slider", { name: "Throughput" });
  await plot.focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowLeft");
  const told = await page.locator(".chart .tip").textContent();
  if (!/\d\d:\d\d.*done: [\d.]+\/s/.test(told)) throw new Error("the cursor says: " + told);
  if (!/done [\d.]+\/s/.test(await plot.getAttribute("aria-valuetext"))) throw new Error("it is not said to a screen reader");
  await page.keyboard.press("Enter");
  await heading("History");
  await browser.settled();
  if (!page.url().includes("at=")) throw new Error("it leads to " + page.url());
  await browser.visit("/ui/history?last=21600000");
  await page.getByRole("region", { name: "What happened" }).locator("tr", { hasText: "started on" }).first().waitFor();
  if ((await page.locator(".chart .flag").count()) === 0) throw new Error("the charts mark nothing");
  await page.getByRole("slider", { name: "Backlog" }).hover();
  await page.locator(".chart .tip").waitFor();
}

// A filter that nothing fits looks through everything and says so; the address keeps it.
export async function filtersLookThroughAll() {
  await browser.visit("/ui/messages?type=nothing.like.this");
  await page.locator("[data-key=empty]", { hasText: "Nothing fits these filters" }).waitFor();
  await browser.visit("/ui/runs");
  await browser.visit("/ui/alerts");
  if ((await page.locator("[data-key=empty] .command").count()) > 0) throw new Error("there are rules");
}

// What is on its way is calm: red is for what failed.
export async function waitingIsNotRed() {
  await browser.visit("/ui/jobs");
  const tones = new Set(await page.locator("tbody .badge").evaluateAll((all) => all.filter((one) => ["later", "waiting", "ready", "running"].includes(one.textContent)).map((one) => one.className)));
  if (tones.size !== 1 || !tones.has("badge calm")) throw new Error([...tones].join());
}
