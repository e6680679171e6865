/* pawl over PostgreSQL: the functions of its schema, called on a pg pool or inside the caller's own transaction. */
import { Conflict, failure, Invalid, Unknown } from './errors.js';
import { newKey, resolved, sleep, uuidOf } from './keys.js';
import { Worker } from './worker.js';

const WAIT_SLICE_MS = 5_000; // a waiting statement holds back vacuum, so it is never long
const POLL_MS = 1_000;
const LISTEN_MS = 30_000;
const WORDS = { PW001: 'invalid', PW002: 'not_found', PW003: 'conflict', PW004: 'stale', 42501: 'denied' };

/** Whether the connection is gone; then nobody knows whether the statement was carried out. */
const lost = (error) => !/^[0-9A-Z]{5}$/.test(error.code ?? '') || /^(08|57P)/.test(error.code);
const busy = (code) => /^(40001|40P01|55P03|57014|53)/.test(code);

function wordOf(error, outcome) {
  if (lost(error)) return failure(outcome, `the connection to PostgreSQL was lost: ${error.message}`, { cause: error });
  const code = WORDS[error.code] ?? (busy(error.code) ? 'busy' : 'internal');
  return failure(code, error.message, { cause: error });
}

const json = (value) => (value === undefined ? null : JSON.stringify(value));
const ms = (value) => (value === undefined ? null : `${value} milliseconds`);

export class SqlClient {
  /** on: a pg Pool, or a connected pg Client, whose transaction everything then belongs to. schema: by default the one that PAWL_SCHEMA names. */
  constructor(on, { schema = process.env.PAWL_SCHEMA || 'pawl' } = {}) {
    if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) throw new Invalid(`${schema} is not the name of a schema`);
    this.on = on;
    this.schema = schema;
    this.pooled = 'totalCount' in on;
  }

  /** The same client inside the caller's transaction. */
  using(client) {
    return new SqlClient(client, { schema: this.schema });
  }

  /** Rows of one function call: { name: value } become named arguments, absent ones are left out. */
  async call(what, name, types, values, on = this.on) {
    const given = Object.keys(values).filter((key) => values[key] !== null && values[key] !== undefined);
    const list = given.map((key, i) => `${key} => $${i + 1}::${types[key]}`).join(', ');
    const text = `SELECT ${what} FROM ${this.schema}.${name}(${list}) AS r`;
    let client = on;
    if (on === this.on && this.pooled) {
      client = await this.on.connect().catch((error) => {
        throw wordOf(error, 'unavailable');
      });
    }
    let broken;
    const ignored = () => {}; // a connection that is lost fails its query as well
    if (client !== on) client.on('error', ignored);
    try {
      return (await client.query(text, given.map((key) => values[key]))).rows;
    } catch (error) {
      broken = lost(error) ? error : undefined;
      // Inside the caller's transaction a lost connection is a transaction that never commits.
      throw wordOf(error, this.pooled ? 'unknown' : 'unavailable');
    } finally {
      if (client !== on) client.off('error', ignored).release(broken);
    }
  }

  async send(type, payload, { stream, topic, headers, id, correlationId, causationId, traceparent, idempotencyKey = id ?? newKey() } = {}) {
    const request = uuidOf(idempotencyKey);
    const [row] = await resolved(idempotencyKey, () =>
      this.call('r AS id', 'send', {
        type: 'text', payload: 'json', stream: 'text', topic: 'text', headers: 'json', id: 'uuid', correlation_id: 'uuid',
        causation_id: 'uuid', traceparent: 'text', request: 'uuid',
      }, {
        type, payload: json(payload ?? {}), stream, topic, headers: json(headers), id, correlation_id: correlationId,
        causation_id: causationId, traceparent, request,
      }));
    return row.id;
  }

  async receive(consumer, id, type, payload, { stream, topic, headers, correlationId, causationId, traceparent } = {}) {
    const [row] = await resolved(id, () =>
      this.call('r AS answer', 'receive', {
        consumer: 'text', id: 'uuid', type: 'text', payload: 'json', stream: 'text', topic: 'text', headers: 'json',
        correlation_id: 'uuid', causation_id: 'uuid', traceparent: 'text',
      }, {
        consumer, id, type, payload: json(payload ?? {}), stream, topic, headers: json(headers), correlation_id: correlationId,
        causation_id: causationId, traceparent,
      }));
    return row.answer;
  }

  async append(stream, events, { expected = -1, idempotencyKey = newKey() } = {}) {
    // Their ids make the call repeatable.
    const list = [events].flat().map((event, i) => ({
      type: event.type, payload: event.payload ?? {}, id: event.id ?? uuidOf(`${idempotencyKey} ${i}`), metadata: event.metadata,
      correlation_id: event.correlationId, causation_id: event.causationId, traceparent: event.traceparent, publish: event.publish,
      topic: event.topic,
    }));
    const [row] = await resolved(idempotencyKey, () =>
      this.call('row_to_json(r) AS made', 'append', { stream: 'text', expected_version: 'bigint', events: 'json' },
        { stream, expected_version: expected, events: json(list) }));
    return { version: row.made.version, firstVersion: row.made.first_version, duplicate: row.made.repeated };
  }

  async enqueue(type, payload, options = {}) {
    const { task, queue, key, uniqueKey, runAt, priority, maxAttempts, deadline, traceparent, idempotencyKey = newKey() } = options;
    const request = uuidOf(idempotencyKey);
    const [row] = await resolved(idempotencyKey, () =>
      this.call('r AS id', 'enqueue', {
        type: 'text', payload: 'json', task: 'text', queue: 'text', key: 'text', unique_key: 'text', run_at: 'timestamptz',
        priority: 'integer', max_attempts: 'integer', deadline: 'timestamptz', traceparent: 'text', request: 'uuid',
      }, {
        type: task ? null : type, payload: json(payload), task, queue, key, unique_key: uniqueKey, run_at: runAt, priority,
        max_attempts: maxAttempts, deadline, traceparent, request,
      }));
    return Number(row.id);
  }

  async cancel(job) {
    const [row] = await this.call('r AS answer', 'job_cancel', { id: 'bigint' }, { id: job });
    return row.answer === 'applied';
  }

  async result(job, { timeoutMs = 60_000 } = {}) {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const left = Math.max(0, Math.min(end - performance.now(), WAIT_SLICE_MS));
      const [row] = await this.call('r.*', 'job_wait', { id: 'bigint', timeout: 'interval' }, { id: job, timeout: ms(Math.ceil(left)) });
      if (row.ended || performance.now() >= end) return { id: Number(job), ...row };
    }
  }

  async waitFor(perspective, stream, version, { timeoutMs = 5_000 } = {}) {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const left = Math.max(0, Math.min(end - performance.now(), WAIT_SLICE_MS));
      const [row] = await this.call('r AS reached', 'wait_for',
        { perspective: 'text', stream: 'text', version: 'bigint', timeout: 'interval' },
        { perspective, stream, version, timeout: ms(Math.ceil(left)) });
      if (row.reached || performance.now() >= end) return row.reached;
    }
  }

  worker(options) {
    if (!this.pooled) throw new Invalid('a worker needs a pool, not a connection that has a transaction');
    return new Worker(new SqlLeases(this), options);
  }
}

/** What a worker does, on the SQL functions. */
class SqlLeases {
  constructor(client) {
    this.client = client;
    this.wakers = new Set();
  }

  async register({ service, kinds, leaseMs, host }) {
    const instance = newKey(); // one that nobody knows of would keep its lanes until its lease ends
    let unknown = false;
    await resolved(instance, () => this.client.call('r AS id', 'register',
      { service: 'text', kinds: 'text[]', instance: 'uuid', lease: 'interval', host: 'text', process_id: 'integer' },
      { service, kinds, instance, lease: ms(leaseMs), host, process_id: process.pid }).catch((error) => {
      if (unknown && error instanceof Conflict) return; // it is known: the call before has happened
      unknown ||= error instanceof Unknown;
      throw error;
    }));
    this.instance = instance;
    await this.listen();
  }

  async beat() {
    await this.client.call('r', 'heartbeat', { instance: 'uuid' }, { instance: this.instance });
    if (!this.ears && performance.now() - this.listenedAt > LISTEN_MS) await this.listen();
  }

  async deregister() {
    this.deaf();
    await this.client.call('r', 'deregister', { instance: 'uuid' }, { instance: this.instance });
  }

  async claim({ kind, queue, max, leaseMs, waitMs, signal }) {
    const jobs = kind === 'jobs';
    const end = performance.now() + waitMs;
    for (;;) {
      const request = newKey(); // a claim that may have happened is repeated under its key: it grants the same
      const rows = await resolved(request, () => this.client.call('r.*', jobs ? 'job_claim' : 'claim',
        { instance: 'uuid', kind: 'text', queue: 'text', max: 'integer', lease: 'interval', request: 'uuid' },
        { instance: this.instance, kind: jobs ? null : kind, queue: jobs ? queue : null, max, lease: ms(leaseMs), request }));
      if (rows.length > 0 || performance.now() >= end || signal.aborted)
        return rows.map((row) => ({
          ...row, id: String(row.id), kind, leaseUntil: row.lease_until, correlationId: row.correlation_id,
          causationId: row.causation_id, outOfOrder: row.out_of_order, maxAttempts: row.max_attempts,
        }));
      await this.wake(Math.min(POLL_MS, Math.max(1, end - performance.now())), signal);
    }
  }

  async renew(kind, items, leaseMs) {
    const refs = this.refs(kind, items, { lease: ms(leaseMs) });
    if (kind !== 'jobs') {
      const [row] = await this.client.call('r AS answers', 'renew', refs.types, refs.values);
      return row.answers;
    }
    if (items.some((item) => item.progressNow !== undefined)) {
      refs.types.progress = 'json[]';
      refs.values.progress = items.map((item) => json(item.progressNow));
    }
    const [row] = await this.client.call('r.answers, r.cancelled', 'job_renew', refs.types, refs.values);
    return row.answers.map((answer, i) => (row.cancelled[i] ? 'cancel' : answer));
  }

  async complete(kind, items) {
    const refs = this.refs(kind, items);
    if (kind === 'jobs' && items.some((item) => item.output !== undefined)) {
      refs.types.outputs = 'json[]';
      refs.values.outputs = items.map((item) => json(item.output));
    }
    return this.report(kind, 'complete', refs);
  }

  async fail(kind, items, { permanent, delayMs }) {
    const errors = items.map((item) => item.error);
    return this.report(kind, 'fail', this.refs(kind, items, { errors, permanent, delay: ms(delayMs) }));
  }

  async release(kind, items, { delayMs = 0 } = {}) {
    return this.report(kind, 'release', this.refs(kind, items, { delay: ms(delayMs) }));
  }

  /** Ends the item inside the caller's transaction. */
  async finish(item, on) {
    const jobs = item.kind === 'jobs';
    await this.client.using(on).call('r', jobs ? 'job_finish' : 'finish',
      { token: 'bigint', id: jobs ? 'bigint' : 'uuid', kind: 'text', output: 'json' },
      { token: item.token, id: item.id, kind: jobs ? null : item.kind, output: jobs ? json(item.output) : null });
  }

  refs(kind, items, more = {}) {
    const jobs = kind === 'jobs';
    return {
      types: {
        instance: 'uuid', tokens: 'bigint[]', ids: jobs ? 'bigint[]' : 'uuid[]', kind: 'text', lease: 'interval', errors: 'text[]',
        permanent: 'boolean', delay: 'interval',
      },
      values: {
        instance: this.instance, tokens: items.map((item) => item.token), ids: items.map((item) => item.id), kind: jobs ? null : kind,
        ...more,
      },
    };
  }

  async report(kind, verb, { types, values }) {
    const [row] = await this.client.call('r AS answers', kind === 'jobs' ? `job_${verb}` : verb, types, values);
    return row.answers;
  }

  /* ---- Being woken: a connection of its own listens, and says again twice a minute that it does. Until it can, polling has to do. */

  async listen() {
    this.deaf();
    this.listenedAt = performance.now();
    await this.hear().catch(() => this.deaf());
  }

  async hear() {
    const client = await this.client.on.connect();
    const ask = () => this.client.call('r AS channel', 'listen', { instance: 'uuid' }, { instance: this.instance }, client);
    this.ears = { client, timer: setInterval(() => ask().catch(() => this.deaf()), LISTEN_MS) };
    client.on('error', () => this.deaf());
    client.on('notification', () => this.wakers.forEach((wake) => wake()));
    const [row] = await ask();
    await client.query(`LISTEN "${row.channel}"`);
  }

  deaf() {
    if (!this.ears) return;
    const { client, timer } = this.ears;
    this.ears = undefined;
    clearInterval(timer);
    client.removeAllListeners('notification');
    client.release(true);
  }

  async wake(waitMs, signal) {
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.wakers.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    await sleep(waitMs, woken.signal);
    signal.removeEventListener('abort', wake);
    this.wakers.delete(wake);
  }
}
