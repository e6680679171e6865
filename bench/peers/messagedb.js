// Message DB: its write_message, several calls in one statement where a batch is asked for (it has no call of its own).
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import path from "node:path";
import pg from "pg";
import { args, appendBatches, payload, report } from "./common.js";

const options = args({ connections: 1, duration: 3, batch: 1, streams: 1000 });
const database = "message_store";

async function main() {
  const admin = new pg.Pool({ max: 1 });
  await admin.query(`DROP DATABASE IF EXISTS ${database}`);
  await admin.end();
  const home = path.dirname(createRequire(import.meta.url).resolve("@eventide/message-db/package.json"));
  execFileSync("bash", [path.join(home, "database", "install.sh")], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DATABASE_NAME: database, PGDATABASE: database },
  });
  const pool = new pg.Pool({ database, max: options.connections, options: "-c search_path=message_store" });
  const write = {
    name: "write",
    text: "SELECT write_message(e.id, $1, 'order.placed', e.data) FROM unnest($2::text[], $3::jsonb[]) AS e (id, data)",
  };
  const [events, time] = await appendBatches(options, (stream, numbers) =>
    pool.query({ ...write, values: [stream, numbers.map(() => randomUUID()), numbers.map((n) => JSON.stringify(payload(n)))] }),
  );
  report(events, time);
  process.exit(0);
}

main().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
