// What the peers' drivers share: arguments, the clock, worker processes that start together, one line of JSON.
import { fork } from "node:child_process";

export function args(defaults) {
  const values = { ...defaults };
  for (let i = 2; i < process.argv.length; i += 2) {
    const name = process.argv[i].replace(/^--/, "");
    const text = process.argv[i + 1];
    if (!(name in defaults) || text === undefined) {
      console.error(`unknown or incomplete option ${process.argv[i]}; known: ${Object.keys(defaults).join(", ")}`);
      process.exit(64);
    }
    values[name] = typeof defaults[name] === "number" ? Number(text) : text;
  }
  return values;
}

export const seconds = () => Number(process.hrtime.bigint()) / 1e9;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function report(items, time, more = {}) {
  console.log(JSON.stringify({ items, seconds: time, rate: items / time, ...more }));
}

export function payload(n) {
  return { n, sku: "A-1009", quantity: 3, note: "as agreed" };
}

// In batches, one call each; size 1 is one job per transaction.
export async function putAll(total, size, put) {
  const begin = seconds();
  for (let n = 0; n < total; n += size) {
    const jobs = [];
    for (let i = n; i < Math.min(n + size, total); i++) jobs.push(i);
    await put(jobs);
  }
  return seconds() - begin;
}

// One job per call over several lanes of calls at once, for a time; returns [items, seconds].
export async function putOneByOne(lanes, duration, put) {
  const begin = seconds();
  let items = 0;
  const lane = async () => {
    while (seconds() - begin < duration) {
      await put(items++);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return [items, seconds() - begin];
}

// Several writers at once append batches to streams of their own, in turn, for a time; returns [events, seconds].
export async function appendBatches({ connections, duration, batch, streams }, append) {
  const begin = seconds();
  let events = 0;
  const writer = async (index) => {
    for (let turn = index; seconds() - begin < duration; turn += connections) {
      await append(`order-${turn % streams}`, Array.from({ length: batch }, (_, i) => turn * batch + i));
      events += batch;
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, index) => writer(index)));
  return [events, seconds() - begin];
}

// Runs this very file in `count` processes with the role "worker"; they say when they are ready, get "go" together,
// and report how many jobs they handled. Resolves when `total` are handled and finished() agrees.
export async function drainWith(count, total, finished) {
  const children = [];
  let handled = 0;
  let ready = 0;
  let failure;
  for (let i = 0; i < count; i++) {
    const child = fork(process.argv[1], [...process.argv.slice(2), "--role", "worker"], { stdio: "inherit" });
    child.on("message", (message) => {
      if (message.ready) ready++;
      if (message.handled) handled += message.handled;
    });
    child.on("exit", (code) => {
      if (code && !failure) failure = new Error(`a worker ended with code ${code}`);
    });
    children.push(child);
  }
  while (ready < count && !failure) await sleep(5);
  const begin = seconds();
  for (const child of children) child.send("go");
  while (!failure && (handled < total || !(await finished()))) await sleep(handled < total ? 5 : 1);
  const time = seconds() - begin;
  for (const child of children) child.kill("SIGKILL");
  if (failure) throw failure;
  return time;
}

// In a worker process: waits for "go", then runs; count() is what was handled so far.
export function workerRole(start, count) {
  process.on("message", async () => {
    await start();
    let told = 0;
    setInterval(() => {
      const now = count();
      if (now > told) process.send({ handled: now - told });
      told = now;
    }, 5);
  });
  process.send({ ready: true });
}

// The p-th share of sorted numbers.
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.round(share * (sorted.length - 1))];
}
