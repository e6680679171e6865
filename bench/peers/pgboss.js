// pg-boss in its best configuration found: fetch in batches of 5,000 and complete them whole.
import { PgBoss } from "pg-boss";
import pg from "pg";
import { args, payload, percentile, putAll, putOneByOne, report, seconds, sleep } from "./common.js";

const options = args({
  mode: "drain", // put-one, put-batch, drain, latency
  items: 1000,
  queues: 0, // 0: unordered; else this many keys, in order
  batch: 1000,
  connections: 1,
  duration: 3,
  fetch: 5000,
});

const queue = "bench";

async function main() {
  const pool = new pg.Pool({ max: 1 });
  await pool.query("DROP SCHEMA IF EXISTS pgboss CASCADE");
  const boss = new PgBoss({ max: Math.max(4, options.connections), supervise: false, schedule: false, useListenNotify: true });
  boss.on("error", (problem) => console.error(problem));
  await boss.start();
  await boss.createQueue(queue, {
    policy: options.queues > 0 ? "key_strict_fifo" : "standard",
    notify: options.mode === "latency",
  });
  if (options.mode === "put-one") {
    report(...(await putOneByOne(options.connections, options.duration, (n) => boss.send(queue, payload(n)))));
  } else if (options.mode === "latency") {
    const sent = new Map();
    const delays = [];
    await boss.work(queue, { batchSize: 100, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      for (const job of jobs) delays.push((seconds() - sent.get(job.data.n)) * 1000);
    });
    for (let n = 0; n < options.items; n++) {
      sent.set(n, seconds());
      boss.send(queue, payload(n));
      await sleep(10);
    }
    while (delays.length < options.items) await sleep(10);
    console.log(JSON.stringify({ items: delays.length, p50_ms: percentile(delays, 0.5), p99_ms: percentile(delays, 0.99) }));
  } else {
    const job = (n) => ({
      data: payload(n),
      ...(options.queues > 0 ? { singletonKey: `order-${n % options.queues}` } : {}),
    });
    const time = await putAll(options.items, options.batch, (jobs) => boss.insert(queue, jobs.map(job)));
    if (options.mode === "put-batch") {
      report(options.items, time);
    } else {
      await pool.query("CHECKPOINT");
      const begin = seconds();
      let done = 0;
      while (done < options.items) {
        const jobs = await boss.fetch(queue, { batchSize: options.fetch });
        if (jobs.length === 0) continue;
        await boss.complete(queue, jobs.map((each) => each.id));
        done += jobs.length;
      }
      report(done, seconds() - begin, { fill_rate: options.items / time });
    }
  }
  process.exit(0);
}

main().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
