// What the walks share: the browser, the way to the API, and what a person sees and presses.
import path from "node:path";
import { Browser } from "./browser.mjs";

export const [executable, origin, token, viewer, directory, pictures] = process.argv.slice(2);
export const browser = await Browser.open(executable, origin, pictures);
export const { page } = browser;

export const text = (selector) => page.locator(selector).first().textContent();
export const button = (name) => page.getByRole("button", { name, exact: true }).first();
export const agree = (verb) => page.locator("dialog").getByRole("button", { name: verb, exact: true }).click();
export const row = (word) => page.locator("tbody tr", { hasText: word }).first();
export const heading = (name) => page.getByRole("heading", { level: 1, name, exact: typeof name === "string" }).waitFor();
export const noted = (word) => page.locator(".note", { hasText: word }).first().waitFor();

// A switch in the menu of the account.
export async function inAccount(use) {
  await page.locator("#account > summary").click();
  await use();
  await page.keyboard.press("Escape");
}

export async function api(address) {
  return page.evaluate(async (where) => (await fetch(where)).json(), address);
}

// A request that the page itself does not make; gives the status.
export async function send(method, address, body) {
  return page.evaluate(async ([verb, where, what]) => (await fetch(where, { method: verb, headers: { "pawl-request": "test", "content-type": "application/json" },
    body: what === null ? undefined : JSON.stringify(what) })).status, [method, address, body ?? null]);
}

export const failedPicture = (name) => page.screenshot({ path: path.join(pictures, `failed-${name}.png`) }).catch(() => {});
