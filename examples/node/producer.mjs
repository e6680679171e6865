// Places an order and tells of it, in one transaction: node producer.mjs ORDER AMOUNT
import pg from 'pg';
import { SqlClient } from '@pawl/client';

const [, , order, amount] = process.argv;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const client = await pool.connect();
try {
  await client.query('BEGIN');
  await client.query('CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, amount int NOT NULL)');
  await client.query('INSERT INTO orders VALUES ($1, $2)', [order, amount]);
  await new SqlClient(client).send('order.placed', { order, amount: Number(amount) }, { stream: order });
  await client.query('COMMIT');
  console.log(`${order} is placed`);
} catch (error) {
  await client.query('ROLLBACK');
  console.error(error.message);
  process.exitCode = 1;
} finally {
  client.release();
  await pool.end();
}
