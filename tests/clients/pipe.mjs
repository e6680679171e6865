/* Handlers of every kind of work that a pipe gets, for clients_test.py. pipe.py is the same in Python. */
import { Reject, Retry, Server, Snooze } from '@pawl/client';

const server = new Server();
let snoozed = false;
server.message('pipe.bad', () => {
  throw new Reject('no such account');
});
server.message('pipe.late', (message, { attempt, log }) => {
  if (!snoozed) {
    snoozed = true;
    throw new Snooze(10);
  }
  log(`late at attempt ${attempt}`, 'warn');
});
server.job('pipe.job', async (job, { progress, attempt, signal }) => {
  if (attempt === 2) return { page: job.progress.page, aborted: signal.aborted };
  await progress({ page: 3 });
  throw new Retry('not yet', { afterMs: 0 });
});
server.job('pipe.hang', (job, { signal }) => new Promise((resolve, reject) =>
  signal.addEventListener('abort', () => reject(new Reject(String(signal.reason.message))))));
server.perspective('seen@*', (events, { log, idempotencyKey }) => log(`seen ${events.map((event) => event.type)} ${idempotencyKey}`));
await server.serve({ atOnce: 4 });
