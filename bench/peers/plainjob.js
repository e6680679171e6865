// plainjob on SQLite: jobs are added in one transaction and worked off one by one, as its worker does.
import fs from "node:fs";
import Database from "better-sqlite3";
import { better, defineQueue, defineWorker } from "plainjob";
import { args, payload, putAll, report, seconds } from "./common.js";

const options = args({
  mode: "drain", // put-one, put-batch, drain
  items: 1000,
  batch: 1000,
  file: "",
  synchronous: "FULL",
});

const quiet = { error: console.error, warn: () => {}, info: () => {}, debug: () => {} };

async function main() {
  if (!options.file) throw new Error("--file is needed");
  for (const suffix of ["", "-wal", "-shm"]) fs.rmSync(options.file + suffix, { force: true });
  const db = new Database(options.file);
  const queue = defineQueue({ connection: better(db), logger: quiet });
  db.pragma(`synchronous = ${options.synchronous}`); // after defineQueue, which sets its own
  const time = await putAll(options.items, options.mode === "put-one" ? 1 : options.batch, async (jobs) =>
    queue.addMany("noop", jobs.map(payload)),
  );
  if (options.mode !== "drain") {
    report(options.items, time);
    process.exit(0);
  }
  db.pragma("wal_checkpoint(TRUNCATE)");
  let handled = 0;
  let begin = 0;
  const worker = defineWorker("noop", () => {}, {
    queue,
    logger: quiet,
    pollIntervall: 1,
    onCompleted: () => {
      if (++handled === options.items) {
        report(handled, seconds() - begin, { fill_rate: options.items / time });
        process.exit(0);
      }
    },
  });
  begin = seconds();
  await worker.start();
}

main().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
