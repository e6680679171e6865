// Emmett on PostgreSQL: appendToStream, one pool, without projections.
import { getPostgreSQLEventStore } from "@event-driven-io/emmett-postgresql";
import pg from "pg";
import { args, appendBatches, payload, report } from "./common.js";

const options = args({ connections: 1, duration: 3, batch: 1, streams: 1000 });
const database = "emmett_bench";

async function main() {
  const { PGHOST, PGPORT, PGUSER } = process.env;
  const admin = new pg.Pool({ max: 1 });
  await admin.query(`DROP DATABASE IF EXISTS ${database}`);
  await admin.query(`CREATE DATABASE ${database}`);
  await admin.end();
  const pool = new pg.Pool({ database, max: options.connections });
  const url = `postgresql://${PGUSER}@localhost/${database}?host=${encodeURIComponent(PGHOST)}&port=${PGPORT}`;
  const store = getPostgreSQLEventStore(url, { connectionOptions: { pooled: true, pool } });
  const event = (n) => ({ type: "order.placed", data: payload(n) });
  await store.appendToStream("first", [event(0)]); // makes the tables
  const [events, time] = await appendBatches(options, (stream, numbers) => store.appendToStream(stream, numbers.map(event)));
  report(events, time);
  process.exit(0);
}

main().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
