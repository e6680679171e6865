// Walks over what is on every page: signing in and out, the navigation, finding, the keyboard, times, what is live.
import { api, browser, button, heading, inAccount, origin, page, row, text, token, viewer } from "./scene.mjs";

export async function signIn() {
  await page.goto(origin + "/ui/");
  await page.getByLabel("Token").waitFor();
  await browser.inspect("sign-in");
  browser.wrong = browser.wrong.filter((line) => !line.includes("401")); // the browser reports that nobody was signed in
  await page.goto(origin + "/#token=" + token);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  if (page.url().includes("token")) throw new Error("the token stays in the address");
}

export async function everyLink() {
  await browser.visit("/ui/");
  const names = await page.locator("#pages a span:first-child").allTextContents();
  for (const name of names) {
    await page.locator("#pages a", { hasText: name }).first().click();
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    await browser.settled();
  }
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: names[names.length - 2] }).waitFor();
}

// A chart moves while the page follows, and is still while it does not.
export async function valuesMove() {
  await browser.visit("/ui/");
  const done = () => text('section[aria-label="Throughput"] .value');
  const line = () => page.locator("figure", { hasText: "Throughput" }).locator("polyline").first().getAttribute("points");
  const points = page.locator("figure", { hasText: "Handler and wait" }).locator("polyline");
  await browser.until("lines of handler and wait times", async () => (await points.count()) >= 2 &&
    new Set((await points.first().getAttribute("points")).split(" ").map((point) => point.split(",")[1])).size > 1);
  await browser.until("a throughput above 0", async () => Number.parseFloat(await done()) > 0);
  const before = await line();
  await browser.until("a line that moves", async () => (await line()) !== before);
  await inAccount(() => button("Live").click());
  await browser.until("a stream that is still", async () => (await text("#stream")) === "paused");
  const still = await line();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  if ((await line()) !== still) throw new Error("the line moves although live is off");
  await inAccount(() => button("Live").click());
  await browser.until("a line that moves again", async () => (await line()) !== still);
}

export async function hiddenPagePauses() {
  await browser.visit("/ui/");
  await browser.until("the stream", async () => (await text("#stream")) === "live");
  const hide = (hidden) => page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  const line = () => page.locator("figure", { hasText: "Throughput" }).locator("polyline").first().getAttribute("points");
  await hide(true);
  const still = await line();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  if ((await line()) !== still) throw new Error("a hidden page still moves");
  await hide(false);
  await browser.until("a line that moves again", async () => (await line()) !== still);
}

export async function timesSwitch() {
  await browser.visit("/ui/audit");
  for (const [mode, form] of [["utc", / UTC$/], ["local", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/], ["relative", /ago$|^now$/]]) {
    await inAccount(() => page.getByLabel("Times").selectOption(mode));
    const shown = await text("tbody time");
    if (!form.test(shown)) throw new Error(`${mode}: ${shown}`);
  }
}

export async function keyboard() {
  await browser.visit("/ui/");
  await page.keyboard.press("Tab");
  if ((await page.evaluate(() => document.activeElement.className)) !== "skip") throw new Error("the first stop is not the skip link");
  await page.keyboard.press("Enter");
  await page.locator("#pages a", { hasText: "Messages" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor();
  if ((await page.evaluate(() => document.activeElement.tagName)) !== "H1") throw new Error("the heading does not get the focus");
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await heading("Dead letters");
  await browser.settled();
  await page.keyboard.press("j");
  if ((await page.evaluate(() => document.activeElement.closest("tbody tr") === document.querySelector("tbody tr"))) !== true) throw new Error("j does not go to the first row");
  await page.keyboard.press("?");
  await page.locator("dialog", { hasText: "find anything" }).waitFor();
  await page.keyboard.press("Escape");
}

export async function viewerSeesOnly() {
  await browser.context.clearCookies();
  await page.goto(origin + "/#token=" + viewer);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  for (const place of ["tasks", "messages?state=dead", "pipelines", "schedules", "perspectives", "instances", "jobs", "dead", "pauses"]) {
    await browser.visit("/ui/" + place);
    const names = await page.locator("main button:not([type=submit]):not(.command button)").allTextContents();
    if (names.length > 0) throw new Error(`${place}: a viewer is offered ${names}`);
  }
}

// Below the full width the navigation is behind a button, and gives way to the page it opens.
export async function navigationFolds() {
  await browser.visit("/ui/");
  await page.setViewportSize({ width: 320, height: 800 });
  if (await page.locator("#pages").isVisible()) throw new Error("the navigation is unfolded at 320 px");
  await button("Menu").click();
  await browser.inspectAt("menu", "narrow");
  await page.locator("#pages a", { hasText: "Schedules" }).click();
  await heading("Schedules");
  if (await page.locator("#pages").isVisible()) throw new Error("the navigation stays unfolded");
  await page.setViewportSize({ width: 1440, height: 900 });
}

// What is not shown is chosen once; no word of a table is broken.
export async function columnsAreChosen() {
  await browser.visit("/ui/messages?state=dead");
  const names = () => page.locator("thead th").allTextContents();
  const all = await names();
  for (const width of [768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    if ((await names()).join() !== all.join() || (await page.locator("thead th:visible").count()) !== all.length) throw new Error("columns are missing at " + width);
    const broken = await page.locator("tbody td").evaluateAll((cells) => cells.filter((cell) => getComputedStyle(cell).whiteSpace !== "nowrap").length);
    if (broken > 0) throw new Error(`${broken} cells may break at ${width}`);
  }
  await page.locator(".columns > summary").click();
  await page.locator(".columns").getByLabel("Topic").check();
  await page.locator(".columns").getByLabel("Attempts").uncheck();
  await page.keyboard.press("Escape");
  await page.reload();
  await browser.settled();
  const chosen = await names();
  if (!chosen.includes("Topic") || chosen.includes("Attempts")) throw new Error("not remembered: " + chosen);
}

const found = (kind) => page.locator(".finder li", { has: page.locator(".kind", { hasText: new RegExp(`^${kind}$`) }) });

// One box finds an id by its beginning, a task, a stream, an error text; it opens with / and with Ctrl-K.
export async function finderFinds() {
  const message = (await api("/v1/messages?state=dead&limit=1")).items[0];
  await browser.visit("/ui/");
  await page.keyboard.press("/");
  await page.getByLabel("Find anything").last().fill(message.id.slice(0, 30));
  await found("message").first().waitFor();
  await browser.inspectAt("finder", "light", "dark", "narrow");
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.keyboard.press("Enter");
  await heading(/^Message/);
  for (const [word, kind, title] of [["repo", "task", /^Task report/], ["held/1", "stream", /^Stream held/], ["CUSTOMER 4711", "dead letters", "Messages"], ["event_c", "perspective", /^Perspective/]]) {
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find anything").last().fill(word);
    await found(kind).first().locator("a").click();
    await heading(title);
    await browser.settled();
  }
}

// A session that ends elsewhere: the page says so once, signs in again where it was, and says live only when it is.
export async function sessionEnds() {
  await browser.visit("/ui/tasks");
  await browser.until("the stream", async () => (await text("#stream")) === "live");
  await page.evaluate(() => fetch("/v1/session", { method: "DELETE", headers: { "pawl-request": "test" } }));
  await page.locator("dialog", { hasText: "Your session has ended" }).waitFor();
  if ((await text("#stream")) !== "signed out") throw new Error("it says " + (await text("#stream")));
  if (/Bearer/.test(await text("main"))) throw new Error("the page speaks of Bearer tokens");
  await browser.inspectAt("session-ended", "light", "narrow");
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByLabel("Token").fill(token);
  await page.getByLabel("Your name, for the audit (may be left out)").fill("Ana Ruiz");
  await button("Sign in").click();
  await heading("Tasks");
  await browser.until("the stream again", async () => (await text("#stream")) === "live");
  if (!/Ana Ruiz/.test(await text("#account > summary"))) throw new Error("it does not say who one is");
  browser.wrong = browser.wrong.filter((line) => !line.includes("401")); // the browser reports that nobody was signed in
}

const KIB = 1024, WEIGHT_MAX = 150 * KIB, PAINT_MAX_MS = 500;

// All files together, compressed, and the first paint on loopback.
export async function weightAndPaint() {
  await browser.visit("/ui/");
  const entries = await page.evaluate(async () => {
    const names = performance.getEntriesByType("resource").map((one) => one.name).filter((name) => !name.includes("/v1/"));
    performance.clearResourceTimings();
    await Promise.all([...new Set([...names, location.href])].map((name) => fetch(name, { cache: "reload" }).then((answer) => answer.text())));
    return performance.getEntriesByType("resource").filter((one) => !one.name.includes("/v1/")).map((one) => one.encodedBodySize);
  });
  const bytes = entries.reduce((sum, one) => sum + one, 0);
  const paints = [];
  for (let i = 0; i < 5; i++) {
    await page.reload();
    await browser.settled();
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  }
  const paint_ms = paints.sort((a, b) => a - b)[2];
  console.log(`# ${entries.length} files, ${bytes} bytes compressed, first paint after ${Math.round(paint_ms)} ms (median of 5)`);
  if (entries.length < 20 || bytes > WEIGHT_MAX || paint_ms > PAINT_MAX_MS) throw new Error(`${entries.length} files, ${bytes} bytes, ${paint_ms} ms`);
}

// Signing out ends the session on the server.
export async function signsOut() {
  await browser.visit("/ui/");
  await page.locator("#account > summary").click();
  if (!/operator/.test(await text("#account"))) throw new Error("the role is not said");
  await browser.inspectAt("account", "light");
  await button("Sign out").click();
  await page.getByLabel("Token").waitFor();
  const status = await page.evaluate(async () => (await fetch("/v1/session")).status);
  if (status !== 401) throw new Error("still signed in: " + status);
  browser.wrong = browser.wrong.filter((line) => !line.includes("401"));
  await page.goto(origin + "/#token=" + token);
  await heading("Overview");
}
