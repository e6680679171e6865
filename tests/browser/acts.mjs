// Walks over every action: on one thing, on the selected rows, on all that fit.
import fs from "node:fs";
import path from "node:path";
import { agree, api, browser, button, directory, heading, noted, page, row, send, text } from "./scene.mjs";

export async function redrive() {
  await browser.visit("/ui/dead");
  fs.writeFileSync(path.join(directory, "fixed"), "");
  const before = (await api("/v1/messages/failures")).items.reduce((sum, group) => sum + group.count, 0);
  if (!(before > 0)) throw new Error("nothing is dead");
  const operations = (await api("/v1/operations")).items.filter((one) => !one.dry_run).length;
  await button("Retry all…").click();
  await page.locator("dialog", { hasText: /\d+ fit/ }).waitFor(); // it is counted first
  await page.keyboard.press("Escape"); // leaves it
  if ((await api("/v1/operations")).items.filter((one) => !one.dry_run).length > operations) throw new Error("Escape did not leave it");
  await button("Retry all…").click();
  await agree("Retry");
  await page.locator(".operations li", { hasText: "Retry dead letters" }).locator(".badge", { hasText: "done" }).first().waitFor();
  await browser.until("no dead letter", async () => (await page.locator("[data-key=empty]").count()) > 0);
  await browser.inspect("dead-redriven");
}

export async function pauseStream() {
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

export async function schedule() {
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

export async function pausePerspective() {
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

// A receptor that failed: its event and its message say so, its page gives it another round, pauses and removes it.
export async function receptors() {
  await browser.visit("/ui/perspectives");
  await row("strict").getByRole("link", { name: "dead letters" }).click();
  await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor();
  await browser.settled();
  await page.getByRole("region", { name: "Messages" }).locator("tbody a").first().click();
  await page.getByRole("heading", { level: 1, name: /^Message/ }).waitFor();
  await page.locator(".badge", { hasText: "failed for good" }).first().waitFor();
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

export async function runGoesOn() {
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
  const last = await page.locator("td .actions").first().locator("button").last().boundingBox(), box = await page.locator(".scroll").first().boundingBox();
  if (page.viewportSize().width >= 1440 && last.x + last.width > box.x + box.width) throw new Error("the buttons of a partition are cut off");
  await browser.inspect("run-failed-part");
  await browser.visit("/ui/dead"); // its job is dead, and the overview counts it among the dead letters
  await page.getByRole("region", { name: "Groups of dead jobs" }).waitFor();
  await browser.visit("/ui/runs/" + run.id);
  if (/0 ms left/.test(await text("main"))) throw new Error("what has failed has time left");
  await button("Retry what failed").click();
  await page.locator(".note", { hasText: "tried again" }).waitFor();
  await button("Cancel").click();
  await agree("Cancel the run");
  await browser.until("a cancelled run", async () => (await api("/v1/runs/" + run.id)).state === "cancelled");
}

export async function cancelJob() {
  const job = (await api("/v1/jobs?state=later&limit=1")).items[0];
  await browser.visit("/ui/jobs/" + job.id);
  await button("Cancel").click();
  await agree("Cancel the job");
  await page.locator(".facts .badge", { hasText: "cancelled" }).waitFor();
  const gone = await page.evaluate(async (id) => (await fetch("/v1/jobs?state=later&limit=500")).json().then((list) => !list.items.some((one) => one.id === id)), job.id);
  if (!gone) throw new Error("the job is still there");
  await browser.visit("/ui/jobs?state=later");
  await button("Cancel all that fit…").click();
  await agree("Cancel");
  await page.locator(".operations .badge", { hasText: "done" }).first().waitFor();
  await browser.until("an empty list", async () => (await page.locator("[data-key=empty]").count()) > 0);
  browser.wrong = browser.wrong.filter((line) => !line.includes("404")); // the browser reports that the job is gone
}

const counted = async (route) => (await api(route)).items.length;

// Rows are selected, by pointer or x, and acted on together; what can be taken back has an Undo.
export async function rowsAreSelected() {
  await browser.visit("/ui/schedules");
  await page.getByLabel("Select schedule nightly").check();
  await button("Pause 1").click();
  await noted("1 paused");
  await row("nightly").locator(".badge", { hasText: "paused" }).waitFor();
  await page.locator(".note", { hasText: "1 paused" }).getByRole("button", { name: "Undo" }).click();
  await row("nightly").locator(".badge", { hasText: "active" }).waitFor();
  await browser.visit("/ui/messages?state=dead&type=bad.order");
  await page.getByLabel("Select all rows of this page").check();
  const some = await page.locator("tbody tr").count();
  await page.locator(".table-tools", { hasText: `${some} selected` }).waitFor();
  await browser.inspectAt("messages-selected", "light", "narrow");
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("button", { name: `Delete ${some}` }).click();
  await page.keyboard.press("Escape");
  await button("Clear selection").click();
  await button("Retry all that fit…").waitFor();
}

async function messageOf(message) {
  await send("POST", "/v1/messages", { messages: [message] });
  return browser.until("the message", async () => (await api("/v1/messages?type=" + message.type)).items[0]);
}

// A message that waits behind a dead letter is cancelled; Undo takes that back.
export async function messageIsCancelled() {
  const one = (await api("/v1/messages?state=blocked&stream=held%2F1")).items[0];
  const marked = async () => (await api("/v1/pauses")).items.some((pause) => pause.scope === "message" && pause.name === one.id);
  await browser.visit("/ui/messages/" + one.id);
  await button("Cancel").click();
  await agree("Cancel the message");
  await noted("is cancelled");
  await browser.until("the mark", marked);
  await page.locator(".note", { hasText: "is cancelled" }).getByRole("button", { name: "Undo" }).click();
  await noted("goes on");
  if (await marked()) throw new Error("it is still cancelled");
}

// What the box Why advises is a button: the topic goes on, and the message is done.
export async function whyIsDone() {
  await send("POST", "/v1/pauses", { scope: "topic", name: "slow.mail", reason: "a test" });
  const one = await messageOf({ type: "slow.mail", topic: "slow.mail", stream: "slow/1", payload: { a: 1 } });
  await browser.visit("/ui/messages/" + one.id);
  if (!/paused/.test(await text(".why"))) throw new Error("it does not say that it is paused");
  await button("Resume the topic").click();
  await noted("It goes on");
  await browser.until("a message that is done", async () => (await api("/v1/messages?id=" + one.id)).items.length === 0);
  await page.locator("[data-key=empty]", { hasText: "no longer kept" }).waitFor();
}

// The payload of a dead letter is changed; what is not JSON cannot be sent; the audit knows of the change.
export async function payloadIsEdited() {
  const one = (await api("/v1/messages?state=dead&type=bad.order")).items[0];
  await browser.visit("/ui/messages/" + one.id);
  await button("Edit and retry…").click();
  await page.getByLabel("Payload", { exact: true }).last().fill('{"amount": ');
  if (await button("Retry with this payload").isEnabled()) throw new Error("it may be sent although it is not JSON");
  await browser.inspectAt("message-edit", "light", "narrow");
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByLabel("Payload", { exact: true }).last().fill('{"amount": 4712}');
  await button("Retry with this payload").click();
  await noted("another round with its new payload");
  await browser.until("the new payload", async () => (await api("/v1/messages?id=" + one.id)).items.every((row) => row.payload.amount === 4712));
  const deed = (await api("/v1/actions")).items.find((row) => row.action === "message.payload");
  if (!deed || !deed.detail.includes(one.id) || !/was \d+ bytes, sha256 [0-9a-f]{16}; is \d+ bytes/.test(deed.detail)) throw new Error("the audit says " + JSON.stringify(deed));
}

// A topic is paused and resumed by name, and the form says by whom.
export async function pausesByName() {
  await browser.visit("/ui/pauses");
  await page.getByLabel("What", { exact: true }).selectOption("handler");
  await page.getByLabel("Its name (a handler: its pattern)").fill("never.*");
  await page.getByLabel("Why").fill("being repaired");
  await button("Pause").click();
  await row("never.*").waitFor();
  if ((await counted("/v1/pauses")) < 2) throw new Error("it is not paused");
  await row("never.*").getByRole("button", { name: "Resume: handler never.*" }).click();
  await browser.until("one pause less", async () => (await page.locator("tbody tr", { hasText: "never.*" }).count()) === 0);
}
