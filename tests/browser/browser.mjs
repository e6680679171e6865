// A browser for the tests: it counts what goes wrong on a page, looks at it with axe, and takes pictures of it.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const WAIT_MS = 20000;

const PICTURE_MAX = 2400; // pixels from the top: what comes below repeats itself

const LOOKS = { light: ["light", 1440, 900], dark: ["dark", 1440, 900], tablet: ["light", 768, 900], "tablet-dark": ["dark", 768, 900], narrow: ["light", 320, 800], "narrow-dark": ["dark", 320, 800] };

export class Browser {
  static async open(executable, origin, pictures) {
    const self = new Browser();
    Object.assign(self, { origin, pictures, wrong: [] });
    self.chromium = await chromium.launch({ executablePath: executable, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
    self.context = await self.chromium.newContext({ viewport: { width: 1440, height: 900 }, timezoneId: "Europe/Zurich" });
    self.page = await self.context.newPage();
    self.page.setDefaultTimeout(WAIT_MS);
    self.page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) self.wrong.push(`${self.page.url()}: console: ${message.text()} ${message.location().url}`);
    });
    self.page.on("pageerror", (error) => self.wrong.push(`${self.page.url()}: ${error.stack}`));
    await self.page.addInitScript(() => document.addEventListener("securitypolicyviolation", (event) =>
      console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`)));
    return self;
  }

  async close() {
    await this.chromium.close();
  }

  // Opens a page of the dashboard and waits until what it reads is there.
  async visit(address) {
    await this.page.goto(this.origin + address);
    await this.settled();
  }

  async settled() {
    await this.page.waitForFunction(() => document.querySelector("main h1") && !document.querySelector('[data-key="loading"]'));
  }

  // What axe finds. Its script comes past the policy of the page, which stays as it is.
  async findings() {
    await this.page.evaluate(AXE + ";null");
    const found = await this.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    return found.violations.map((one) => `${this.page.url()}: axe: ${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ") + " " + node.failureSummary).join(" | ")}`);
  }

  // In light and dark at three widths: pictures, axe, and nothing wider than the screen.
  async inspect(name) {
    await this.inspectAt(name, ...Object.keys(LOOKS));
    await this.page.setViewportSize({ width: 1440, height: 900 });
    await this.page.emulateMedia({ colorScheme: "light" });
  }

  // The same in some of the looks; the last one stays.
  async inspectAt(name, ...looks) {
    for (const look of looks) {
      const [scheme, width, height] = LOOKS[look];
      await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await this.page.setViewportSize({ width, height });
      this.wrong.push(...(await this.findings()).map((text) => `${look}: ${text}`));
      const wide = await this.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) this.wrong.push(`${this.page.url()}: ${look}: ${wide} px wider than the screen`);
      fs.mkdirSync(this.pictures, { recursive: true });
      const tall = await this.page.evaluate(() => document.documentElement.scrollHeight);
      await this.page.screenshot({ path: path.join(this.pictures, `${name}-${look}.png`), fullPage: true,
                                   clip: { x: 0, y: 0, width, height: Math.min(Math.max(tall, height), PICTURE_MAX) } });
    }
  }

  // Waits until check(), which may fail meanwhile, gives something true.
  async until(what, check) {
    const end = Date.now() + WAIT_MS;
    let last = null;
    while (Date.now() < end) {
      last = await check();
      if (last) return last;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`${this.page.url()}: in vain waited for: ${what}`);
  }
}
