// Graphile Worker in its best configuration found: a local queue, completions in batches, two worker processes.
import pg from "pg";
import * as graphile from "graphile-worker";
import { args, drainWith, payload, percentile, putAll, putOneByOne, report, seconds, sleep, workerRole } from "./common.js";

const { Logger, makeWorkerUtils, run } = graphile.default ?? graphile;

const options = args({
  mode: "drain", // put-one, put-batch, drain, latency
  items: 1000,
  queues: 0, // 0: unordered; else this many named queues, in order
  batch: 1000,
  connections: 1,
  duration: 3,
  workers: 2,
  local: 500,
  poll: 5, // only named queues need it: a batch holds at most one job of each
  role: "",
});

const quiet = new Logger(() => () => {});
const pool = new pg.Pool({ max: Math.max(10, options.connections) });
pool.on("error", () => {});
pool.on("connect", (client) => client.on("error", () => {}));

const spec = (n) => ({
  identifier: "noop",
  payload: payload(n),
  ...(options.queues > 0 ? { queueName: `order-${n % options.queues}` } : {}),
});

function start(task) {
  return run({
    pgPool: pool,
    noHandleSignals: true,
    logger: quiet,
    taskList: { noop: task },
    preset: {
      worker: {
        concurrentJobs: 24,
        pollInterval: options.poll,
        localQueue: { size: options.local },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
}

async function main() {
  if (options.role === "worker") {
    let handled = 0;
    await pool.query("SELECT 1");
    workerRole(() => start(async () => void handled++), () => handled);
    return;
  }
  await pool.query("DROP SCHEMA IF EXISTS graphile_worker CASCADE");
  const utils = await makeWorkerUtils({ pgPool: pool, logger: quiet });
  await utils.migrate();
  if (options.mode === "put-one") {
    report(...(await putOneByOne(options.connections, options.duration, (n) => utils.addJob("noop", payload(n)))));
  } else if (options.mode === "latency") {
    const sent = new Map();
    const delays = [];
    const runner = await start(async (job) => void delays.push((seconds() - sent.get(job.n)) * 1000));
    await sleep(1000);
    for (let n = 0; n < options.items; n++) {
      sent.set(n, seconds());
      utils.addJob("noop", payload(n));
      await sleep(10);
    }
    while (delays.length < options.items) await sleep(10);
    console.log(JSON.stringify({ items: delays.length, p50_ms: percentile(delays, 0.5), p99_ms: percentile(delays, 0.99) }));
    await runner.stop();
  } else {
    const time = await putAll(options.items, options.batch, (jobs) => utils.addJobs(jobs.map(spec)));
    if (options.mode === "put-batch") {
      report(options.items, time);
    } else {
      await pool.query("CHECKPOINT");
      const left = async () => (await pool.query("SELECT FROM graphile_worker._private_jobs LIMIT 1")).rowCount === 0;
      report(options.items, await drainWith(options.workers, options.items, left), { fill_rate: options.items / time });
    }
  }
  process.exit(0);
}

main().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
