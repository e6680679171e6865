// Usage: picture.mjs CHROMIUM ADDRESS FILE      a picture of a page of the dashboard, once what it reads is there
import { chromium } from "playwright-core";

const [executablePath, address, path] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });
await page.goto(address);
await page.waitForFunction(() => document.querySelector("main h1") && !document.querySelector('[data-key="loading"]'));
await page.waitForTimeout(3000); // a few samples more, live
await page.screenshot({ path });
await browser.close();
