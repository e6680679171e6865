/* A program that uses everything that index.d.ts declares; tsc --strict must accept it, and refuse what is marked. */
import { HttpClient, PawlError, Reject, Retry, Server, Snooze, SqlClient, Unknown, type Client, type Queryable } from '@pawl/client';

declare const pool: Queryable & { totalCount: number; connect(): Promise<Queryable & { release(): void }> };
const sql = new SqlClient(pool, { schema: 'orders' });
const http: Client = new HttpClient('http://127.0.0.1:7295', { token: 'a', workerToken: 'b' });

export async function all(client: Client): Promise<number> {
  const id: string = await client.send('order.placed', { amount: 5 }, { stream: 'order-1', headers: { a: 'b' } });
  const { version, duplicate } = await client.append('order-1', { type: 'order.placed' }, { expected: 0 });
  const job: number = await client.enqueue('report', [1, 2], { runAt: new Date(), uniqueKey: id });
  const result = await client.result<{ pages: number }>(job, { timeoutMs: 10 });
  const seen: boolean = await client.waitFor('orders', 'order-1', version);
  await client.cancel(job);
  // @ts-expect-error a stream is text
  await client.send('order.placed', {}, { stream: 1 });
  // @ts-expect-error there is no such option
  await client.enqueue('report', {}, { limit: 1 });
  return (result.output?.pages ?? 0) + Number(duplicate) + Number(seen);
}

const worker = sql.worker({ service: 'orders', concurrency: 5, queues: ['a'] });
worker
  .message<{ amount: number }>('order.*', async (message, { signal, finish }) => {
    if (message.payload.amount > 5) throw new Reject('too much');
    if (signal.aborted) throw new Retry('later', { afterMs: 5 });
    await finish(pool);
  }, { kind: 'inbox' })
  .job('report', async (job, { progress }) => {
    await progress({ page: job.attempt });
    throw new Snooze(100);
  });
await worker.run({ signals: false });
worker.stop();

new Server().message('a', (message, { log }) => log(message.type, 'warn')).job('b', () => 1).perspective('c', (events) => events.length)
  .tool('d', (args) => args).serve({ atOnce: 4 });

try {
  await all(http);
} catch (error) {
  if (error instanceof Unknown) console.log(error.idempotencyKey);
  else if (error instanceof PawlError) console.log(error.code === 'stale');
}
