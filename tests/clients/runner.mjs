/* Carries out clients/scenario.json with the Node client. Prints TAP.
   Usage: node runner.mjs SCENARIO sql|http   with URL, SCHEMA, TOKEN, TOKEN_WORKER, CUT, CLOSED, PAWL in the environment */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { promisify } from 'node:util';
import pg from 'pg';
import { HttpClient, PawlError, Reject, Retry, Snooze, SqlClient } from '../../clients/node/index.js';

const [, , file, surface] = process.argv;
const { URL: url, SCHEMA: schema, TOKEN: token, TOKEN_WORKER: workerToken, CUT: cut, CLOSED: closed, PAWL: pawl } = process.env;
const pool = surface === 'sql' ? new pg.Pool({ connectionString: url, max: 8 }) : undefined;
pool?.on('error', () => {});
const client = pool ? new SqlClient(pool, { schema }) : new HttpClient(url, { token, workerToken });
const saved = {};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const fill = (value) =>
  typeof value === 'string' && /^\$\w+$/.test(value) ? saved[value.slice(1)]
  : Array.isArray(value) ? value.map(fill)
  : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one)])) : value;

/** Members that are not expected may be anything. */
function differs(expected, got, path = 'it') {
  if (expected === null) return got === null || got === undefined ? undefined : `${path} is ${JSON.stringify(got)}, not null`;
  if (Array.isArray(expected)) {
    if (!Array.isArray(got) || got.length !== expected.length) return `${path} is ${JSON.stringify(got)}, not ${expected.length} rows`;
    return expected.map((one, i) => differs(one, got[i], `${path}[${i}]`)).find(Boolean);
  }
  if (typeof expected === 'object')
    return Object.entries(expected).map(([key, one]) => differs(one, got?.[key], `${path}.${key}`)).find(Boolean);
  return String(expected) === String(got) ? undefined : `${path} is ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`;
}

async function cutNext() {
  const socket = net.connect(Number(cut), '127.0.0.1');
  for await (const _ of socket); // it closes when it has heard
}

async function handler(script, calls, item, context, ended) {
  const step = script.shift();
  const call = { ...item, aborted: false };
  calls.push(call);
  try {
    if (step === undefined) throw new Error('called too often');
    if (step.progress) await context.progress(step.progress);
    if (step.sleep) await sleep(step.sleep);
    if (step === 'until aborted') {
      while (!context.signal.aborted) await sleep(5);
      throw new Error('it was aborted');
    }
    if (step.throw) throw new Error(step.throw);
    if (step.retry) throw new Retry(step.retry, { afterMs: step.afterMs });
    if (step.reject) throw new Reject(step.reject);
    if (step.snooze) throw new Snooze(step.snooze);
    if (step.finish !== undefined) {
      const own = await pool.connect();
      await own.query('BEGIN');
      await context.finish(own, step.finish ?? undefined);
      await own.query('COMMIT');
      own.release();
    }
    return step.output;
  } finally {
    call.aborted = context.signal.aborted;
    ended();
  }
}

async function work(step) {
  const worker = client.worker({ service: 'scenario', concurrency: 4, waitMs: 2000, log: () => {}, ...step.options });
  const calls = [];
  let left = step.calls, during;
  const ended = () => --left === 0 && worker.stop();
  for (const row of step.handlers) {
    const run = (item, context) => {
      saved.instance = worker.leases.instance;
      during ??= steps(step.during ?? [], client, worker).catch((error) => error);
      return handler(row.script, calls, item, context, ended);
    };
    if (row.job) worker.job(row.job, run);
    else worker.message(row.message, run, { kind: row.kind });
  }
  const late = setTimeout(() => worker.stop(), 30_000);
  await worker.run({ signals: false });
  clearTimeout(late);
  const wrong = await during;
  if (wrong) throw wrong;
  return calls;
}

async function act(step, on, worker) {
  switch (step.do) {
    case 'worker': return work(step);
    case 'stop': return worker.stop();
    case 'cut': return cutNext();
    case 'terminate': { // every connection of this run but the one that does it
      const own = new pg.Client({ connectionString: url });
      await own.connect();
      await own.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()', [schema]);
      return own.end();
    }
    case 'file': return writeFileSync(step.name, step.text);
    case 'elsewhere':
      return pool ? new SqlClient(new pg.Pool({ connectionString: `postgres://nobody@127.0.0.1:${closed}/none` })).send('t')
                  : new HttpClient(`http://127.0.0.1:${closed}`).send('t');
    case 'pawl': {
      const { stdout } = await promisify(execFile)(pawl, [...step.args.map(fill), '-o', 'json'].filter((word, i, all) => all[0] !== 'worker' || i < all.length - 2));
      const text = stdout.trim();
      return text.startsWith('[') || !text.includes('\n') ? (text ? JSON.parse(text) : null) : text.split('\n').map((line) => JSON.parse(line));
    }
    case 'transaction': {
      const own = await pool.connect();
      await own.query('BEGIN');
      await steps(step.steps, client.using(own));
      await own.query(step.end);
      return own.release();
    }
    default: return on[step.do](...fill(step.args), ...(step.options ? [fill(step.options)] : []));
  }
}

async function steps(list, on, worker) {
  for (const step of list) {
    if (step.surface && step.surface !== surface) continue;
    let got;
    try {
      got = await act(step, on, worker);
    } catch (error) {
      if (error instanceof PawlError && error.code === step.error) continue;
      throw new Error(`${JSON.stringify(step).slice(0, 200)}: ${error.stack} ${error.code}`);
    }
    if (step.error) throw new Error(`${JSON.stringify(step)}: no error, but ${JSON.stringify(got)}`);
    if (step.save) saved[step.save] = got;
    if (step['any order']) got.sort((a, b) => (a.type < b.type ? 1 : -1));
    const wrong = step.expect === undefined ? undefined : differs(fill(step.expect), got);
    if (wrong) throw new Error(`${JSON.stringify(step).slice(0, 200)}: ${wrong}; all of it: ${JSON.stringify(got)}`);
  }
}

const only = process.env.CASE ?? '';
const cases = JSON.parse(readFileSync(file, 'utf8')).cases.filter((one) => (one.surface ?? surface) === surface && one.name.includes(only));
console.log(`1..${cases.length}`);
let number = 0, failed = 0;
for (const one of cases) {
  number++;
  try {
    await steps(one.steps, client);
    console.log(`ok ${number} - ${one.name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${number} - ${one.name}`);
    console.log(String(error.message).replace(/^/gm, '# '));
  }
}
await pool?.end();
process.exitCode = failed ? 1 : 0;
