// Bills orders until SIGTERM. Each bill is written in the transaction that completes its message: exactly-once effect.
import pg from 'pg';
import { Reject, SqlClient } from '@pawl/client';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const worker = new SqlClient(pool).worker({ service: 'billing' });
await pool.query('CREATE TABLE IF NOT EXISTS bills (id text PRIMARY KEY, amount int NOT NULL)');

worker.message('order.placed', async ({ payload }, { finish }) => {
  if (payload.amount <= 0) throw new Reject('an order needs an amount');
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('INSERT INTO bills VALUES ($1, $2)', [payload.order, payload.amount]);
    await finish(client);
    await client.query('COMMIT');
    console.log(`${payload.order} is billed`);
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
});

await worker.run();
await pool.end();
