/* pawl over HTTP: the routes of pawl server, with the built-in fetch. */
import { failure, PawlError } from './errors.js';
import { newKey, resolved, uuidOf } from './keys.js';
import { Worker } from './worker.js';

const WAIT_SLICE_MS = 60_000;
const GRACE_MS = 10_000; // beyond the time that the server may wait by itself
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH']);
const BY_STATUS = { 400: 'invalid', 401: 'denied', 403: 'denied', 404: 'not_found', 409: 'busy', 413: 'invalid', 415: 'invalid', 421: 'denied', 422: 'conflict' };

function problem(status, body) {
  const word = /^urn:pawl:problem:(.*)$/.exec(body?.type ?? '')?.[1]?.replace('-', '_');
  const code = word ?? BY_STATUS[status] ?? (status >= 502 && status <= 504 ? 'unknown' : 'internal');
  return failure(code, body?.detail ?? `HTTP status ${status}`);
}

export class HttpClient {
  /** token: of the operator, to send and to wait; workerToken: of the lease API (pawl server --lease-api). */
  constructor(url, { token, workerToken = token } = {}) {
    this.url = String(url).replace(/\/+$/, '');
    this.token = token;
    this.workerToken = workerToken;
  }

  /** The JSON of one answer. A request that changes something and gets none is unknown, any other is unavailable. */
  async call(method, path, { body, key, token = this.token, waitMs = 0, signal } = {}) {
    const headers = { Authorization: `Bearer ${token}` };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (key) headers['Idempotency-Key'] = key;
    const limit = new AbortController();
    const giveUp = () => limit.abort(new Error('it took too long, or was given up'));
    const timer = setTimeout(giveUp, waitMs + GRACE_MS);
    signal?.addEventListener('abort', giveUp, { once: true });
    let response, text;
    try {
      response = await fetch(this.url + path, {
        method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: limit.signal,
      });
      text = await response.text();
    } catch (error) {
      const sent = method !== 'GET' && !NOT_SENT.has(error.cause?.code);
      throw failure(sent ? 'unknown' : 'unavailable', `no answer from ${this.url}: ${error.cause?.message ?? error.message}`, { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    }
    const json = text && /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : undefined;
    if (!response.ok) throw problem(response.status, json);
    if (json && response.headers.get('idempotent-replayed')) json.answer = 'duplicate';
    return json;
  }

  async send(type, payload, { idempotencyKey = newKey(), stream, topic, headers, id, correlationId, causationId, traceparent } = {}) {
    const body = { type, payload: payload ?? {}, id: id ?? uuidOf(idempotencyKey), stream, topic, headers, correlation_id: correlationId, causation_id: causationId, traceparent };
    const made = await resolved(idempotencyKey, () => this.call('POST', '/v1/messages', { body, key: idempotencyKey }));
    return made.items[0].id;
  }

  async receive(consumer, id, type, payload, { stream, topic, headers, correlationId, causationId, traceparent } = {}) {
    const key = newKey();
    const body = {
      kind: 'inbox', consumer, id, type, payload: payload ?? {}, stream, topic, headers, correlation_id: correlationId,
      causation_id: causationId, traceparent,
    };
    const made = await resolved(key, () => this.call('POST', '/v1/messages', { body, key }));
    return made.items[0].answer;
  }

  async append(stream, events, { expected, idempotencyKey = newKey() } = {}) {
    const list = [events].flat().map((event, i) => ({
      type: event.type, payload: event.payload ?? {}, id: event.id ?? uuidOf(`${idempotencyKey} ${i}`), metadata: event.metadata, correlation_id: event.correlationId,
      causation_id: event.causationId, traceparent: event.traceparent, publish: event.publish, topic: event.topic,
    }));
    const body = { events: list, expected: expected === -1 ? undefined : expected };
    const made = await resolved(idempotencyKey, () =>
      this.call('POST', `/v1/streams/${encodeURIComponent(stream)}/events`, { body, key: idempotencyKey }));
    return { version: made.version, firstVersion: made.first_version, duplicate: made.answer === 'duplicate' };
  }

  async enqueue(type, payload, options = {}) {
    const { task, queue, key, uniqueKey, runAt, priority, maxAttempts, deadline, traceparent, idempotencyKey = newKey() } = options;
    const body = {
      type: task ? undefined : type, [task ? 'params' : 'payload']: payload, task, queue, key, unique_key: uniqueKey, priority,
      max_attempts: maxAttempts, traceparent, due_ms: runAt?.getTime(), deadline_ms: deadline?.getTime(),
    };
    const made = await resolved(idempotencyKey, () => this.call('POST', '/v1/jobs', { body, key: idempotencyKey }));
    return Number(made.id);
  }

  async cancel(job) {
    try {
      return (await this.call('POST', `/v1/jobs/${job}/cancel`, { body: {} })).answer !== 'not found';
    } catch (error) {
      if (error.code === 'not_found') return false;
      throw error;
    }
  }

  async result(job, { timeoutMs = 60_000 } = {}) {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const waitMs = Math.ceil(Math.max(1, Math.min(end - performance.now(), WAIT_SLICE_MS)));
      const { id, ended, state, attempts, output, error } = await this.call('GET', `/v1/jobs/${job}/wait?timeout_ms=${waitMs}`, { waitMs });
      if (ended || performance.now() >= end) return { id: Number(id), ended, state, attempts, output, error };
    }
  }

  async waitFor(perspective, stream, version, { timeoutMs = 5_000 } = {}) {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const waitMs = Math.ceil(Math.max(1, Math.min(end - performance.now(), WAIT_SLICE_MS)));
      const path = `/v1/perspectives/${encodeURIComponent(perspective)}/wait?${new URLSearchParams({ stream, at_version: version, timeout_ms: waitMs })}`;
      const { applied } = await this.call('GET', path, { waitMs });
      if (applied || performance.now() >= end) return applied;
    }
  }

  worker(options) {
    return new Worker(new HttpLeases(this), options);
  }
}

/** What a worker does, on the lease API. */
class HttpLeases {
  constructor(client) {
    this.client = client;
  }

  call(method, path, more = {}) {
    return this.client.call(method, `/v1/leases${path}`, { token: this.client.workerToken, ...more });
  }

  async register({ service, kinds, leaseMs, host }) {
    const key = newKey(); // an instance that nobody knows of would keep its lanes until its lease ends
    const made = await resolved(key, () => this.call('POST', '', { body: { service, kinds, lease_ms: leaseMs, host }, key }));
    this.instance = made.id;
  }

  beat() {
    return this.call('POST', `/${this.instance}/beat`);
  }

  deregister() {
    return this.call('DELETE', `/${this.instance}`);
  }

  async claim({ kind, queue, max, leaseMs, waitMs, signal }) {
    const key = newKey(); // a claim that may have happened is repeated under its key: it grants the same
    const body = { kind, queue: kind === 'jobs' ? queue : undefined, max, lease_ms: leaseMs, wait_ms: Math.min(waitMs, 30_000) };
    let items;
    try {
      ({ items } = await resolved(key, () => signal.aborted ? { items: [] } : this.call('POST', `/${this.instance}/claim`, { body, key, waitMs, signal })));
    } catch (error) {
      if (signal.aborted) return [];
      throw error;
    }
    return items.map((item) => ({ ...item, leaseUntil: new Date(item.lease_until_ms) }));
  }

  async renew(kind, items, leaseMs) {
    const more = (item) => (item.progressNow !== undefined ? { progress: item.progressNow } : {});
    return this.report('renew', kind, items, more, { lease_ms: leaseMs });
  }

  complete(kind, items) {
    return this.report('complete', kind, items, (item) => (item.output !== undefined ? { output: item.output } : {}));
  }

  fail(kind, items, { permanent, delayMs }) {
    return this.report('fail', kind, items, (item) => ({ error: item.error, permanent, delay_ms: delayMs }));
  }

  release(kind, items, { delayMs = 0 } = {}) {
    return this.report('release', kind, items, () => ({ delay_ms: delayMs }));
  }

  finish() {
    throw new PawlError('invalid', 'only a worker over SQL can finish its work inside a transaction');
  }

  async report(verb, kind, items, more, rest = {}) {
    const body = { kind, items: items.map((item) => ({ token: item.token, id: item.id, ...more(item) })), ...rest };
    const answers = await this.call('POST', `/${this.instance}/${verb}`, { body });
    return answers.items.map((row) => row.answer);
  }
}
