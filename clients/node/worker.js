/* A worker: claims work, runs handlers, keeps their leases, reports, and drains when it is to stop. The same on SQL and HTTP. */
import { hostname } from 'node:os';
import { PawlError, Stale, Unavailable, Unknown, Busy } from './errors.js';
import { Handlers, verdictOf } from './handlers.js';
import { sleep } from './keys.js';

const NO_HANDLER_MS = 5_000; // work without a handler is left to other workers for so long
const LAST_MS = 2_000; // a handler that was told to stop has so long
const PAUSE_MS_MAX = 5_000;
const passing = (error) => error instanceof Unavailable || error instanceof Unknown || error instanceof Busy;

export class Worker {
  handlers = new Handlers();
  held = new Set(); // what is claimed and not reported
  streams = new Map(); // of messages: what waits for its turn, by kind and stream
  reports = []; // in the order in which handlers ended
  stopping = new AbortController();

  constructor(leases, options = {}) {
    const { service, concurrency = 10, queues = ['default'], leaseMs = 60_000, instanceLeaseMs = 15_000, waitMs = 20_000, drainMs = 25_000 } = options;
    if (!service) throw new PawlError('invalid', 'a worker needs the name of its service');
    Object.assign(this, { leases, service, concurrency, queues, leaseMs, instanceLeaseMs, waitMs, drainMs });
    this.log = options.log ?? ((event, details) => console.error(`pawl: ${event}`, details ?? ''));
  }

  /** Registers a handler of outbox messages; its options may name the inbox. */
  message(pattern, run, { kind = 'outbox' } = {}) {
    this.handlers.add(kind, pattern, run);
    return this;
  }

  /** Registers a handler of jobs; what it returns is the job's output. */
  job(type, run) {
    this.handlers.add('jobs', type, run);
    return this;
  }

  /** Works until stop() is called or, unless signals is false, until SIGTERM or SIGINT. */
  async run({ signals = true } = {}) {
    const stop = () => this.stop();
    if (signals) ['SIGTERM', 'SIGINT'].forEach((name) => process.once(name, stop));
    try {
      await this.register();
      this.timers = [this.every(this.instanceLeaseMs / 4, () => this.beat()), this.every(this.leaseMs / 6, () => this.renew())];
      const sources = this.handlers.kinds().flatMap((kind) =>
        kind === 'jobs' ? this.queues.map((queue) => ({ kind, queue })) : [{ kind }]);
      this.started?.();
      await Promise.all(sources.map((source) => this.claim(source)));
      await this.drain();
    } finally {
      this.timers?.forEach((timer) => timer.end());
      if (signals) ['SIGTERM', 'SIGINT'].forEach((name) => process.removeListener(name, stop));
    }
    await this.leases.deregister().catch((error) => this.log('deregister failed', error.message));
  }

  stop() {
    this.stopping.abort();
  }

  /* ---- The instance */

  async register() {
    for (let pause = 100; ; pause = Math.min(pause * 2, PAUSE_MS_MAX)) {
      try {
        this.beatAt = performance.now();
        return await this.leases.register({ service: this.service, kinds: this.handlers.kinds(), leaseMs: this.instanceLeaseMs, host: hostname() });
      } catch (error) {
        if (!passing(error) || this.stopping.signal.aborted) throw error;
        this.log('cannot register yet', error.message);
        await sleep(pause, this.stopping.signal);
      }
    }
  }

  every(ms, run) {
    const timer = { ended: false, end: () => ((timer.ended = true), clearTimeout(timer.handle)) };
    const next = () => {
      if (!timer.ended) timer.handle = setTimeout(() => run().catch((error) => this.log('failed', error.message)).finally(next), ms);
    };
    next();
    return timer;
  }

  async beat() {
    const began = performance.now(), instance = this.leases.instance;
    try {
      await this.leases.beat();
      this.beatAt = began;
    } catch (error) {
      if (error instanceof Stale || performance.now() - this.beatAt > this.instanceLeaseMs) await this.again(error, instance);
    }
  }

  /** The instance has ended: everything that it held is lost, and it begins anew. */
  async again(error, instance) {
    if (instance !== this.leases.instance) return this.registering; // another call has noticed it
    this.log('the instance has ended; registering again', error.message);
    for (const item of this.held) this.lose(item, 'lost');
    await (this.registering ??= this.register().finally(() => (this.registering = undefined)));
  }

  /* ---- Claims */

  async claim(source) {
    const mine = new Set();
    while (!this.stopping.signal.aborted) {
      if (mine.size >= this.concurrency) {
        await new Promise((resolve) => (this.wakeOf(source).wake = resolve));
        continue;
      }
      const items = await this.take(source, this.concurrency - mine.size);
      for (const item of items) {
        mine.add(item);
        item.leave = () => {
          mine.delete(item);
          this.wakeOf(source).wake?.();
        };
        this.begin(item);
      }
    }
  }

  wakeOf(source) {
    if (!source.waiting) {
      source.waiting = {};
      this.stopping.signal.addEventListener('abort', () => source.waiting.wake?.(), { once: true });
    }
    return source.waiting;
  }

  async take(source, max) {
    for (let pause = 100; !this.stopping.signal.aborted; pause = Math.min(pause * 2, PAUSE_MS_MAX)) {
      const began = performance.now(), instance = this.leases.instance;
      try {
        const items = await this.leases.claim({ ...source, max, leaseMs: this.leaseMs, waitMs: this.waitMs, signal: this.stopping.signal });
        return items.map((item) => ({ ...item, until: began + this.leaseMs, abort: new AbortController() }));
      } catch (error) {
        if (error instanceof Stale) {
          await this.again(error, instance);
          return [];
        }
        this.log('cannot claim', error.message);
        if (!passing(error)) pause = PAUSE_MS_MAX;
        await sleep(pause, this.stopping.signal);
      }
    }
    return [];
  }

  /* ---- Handlers. Messages of one stream run one after the other. */

  begin(item) {
    this.held.add(item);
    if (item.kind === 'jobs' || !item.stream) return void this.handle(item);
    const name = `${item.kind} ${item.stream}`;
    const queue = this.streams.get(name);
    if (queue) queue.push(item);
    else this.follow(name, item);
  }

  async follow(name, first) {
    const queue = [first];
    this.streams.set(name, queue);
    while (queue.length > 0) {
      const done = await this.handle(queue.shift());
      // Nothing of the stream may pass a message that was not done.
      if (!done) queue.splice(0).forEach((item) => this.end(item, { verb: 'release' }));
    }
    this.streams.delete(name);
  }

  /** Whether the item is done. */
  async handle(item) {
    const run = this.handlers.find(item.kind, item.type);
    if (item.abort.signal.aborted || this.stopping.signal.aborted) return this.end(item, { verb: 'release' });
    if (!run) {
      this.log('no handler', item.type);
      return this.end(item, { verb: 'release', delayMs: NO_HANDLER_MS });
    }
    try {
      item.running = true;
      const output = await run(item, this.context(item));
      item.running = false;
      return item.finished ? this.leave(item, true) : this.end(item, { verb: 'complete', output });
    } catch (error) {
      item.running = false;
      const verdict = verdictOf(error);
      if (item.reason === 'stopping' && verdict.verb === 'fail' && !verdict.permanent) return this.end(item, { verb: 'release' });
      return this.end(item, verdict);
    }
  }

  context(item) {
    return {
      signal: item.abort.signal,
      attempt: item.attempt,
      progress: async (value) => {
        const [answer] = await this.leases.renew(item.kind, [{ ...item, progressNow: value }], this.leaseMs);
        this.heard(item, answer);
      },
      finish: async (client, output) => {
        item.output = output;
        await this.leases.finish(item, client);
        item.finished = true;
      },
    };
  }

  /** The grant has ended, or someone wants it to: the handler's signal is aborted. */
  lose(item, reason) {
    if (item.reason === 'lost') return;
    item.reason = reason;
    item.abort.abort(new Stale(`the work is ${reason}`));
  }

  leave(item, done) {
    this.held.delete(item);
    item.leave();
    return done;
  }

  /* ---- Reports: one call at a time, in order; what ends meanwhile goes with the next one. */

  end(item, verdict) {
    if (item.reason === 'lost') return this.leave(item, false);
    Object.assign(item, { output: verdict.output, error: verdict.error });
    this.reports.push({ item, verdict });
    this.reporting ??= this.report().finally(() => (this.reporting = undefined));
    return verdict.verb === 'complete';
  }

  async report() {
    while (this.reports.length > 0) {
      const [{ item: first, verdict }] = this.reports;
      const same = ({ item, verdict: other }) =>
        item.kind === first.kind && other.verb === verdict.verb && other.permanent === verdict.permanent && other.delayMs === verdict.delayMs;
      const other = this.reports.findIndex((entry) => !same(entry));
      const items = this.reports.splice(0, Math.min(other < 0 ? this.reports.length : other, 100)).map((entry) => entry.item);
      await this.tell(items, verdict);
      items.forEach((item) => this.leave(item, true));
    }
  }

  /** A report that may have happened is repeated: the token makes it harmless. It is dropped when the leases are over. */
  async tell(items, verdict) {
    for (let pause = 50; ; pause = Math.min(pause * 2, PAUSE_MS_MAX)) {
      try {
        const answers = await this.leases[verdict.verb](items[0].kind, items, verdict);
        answers.forEach((answer, i) => {
          if (answer !== 'applied' && answer !== 'duplicate') this.log(`the report is ${answer}`, `${items[i].type} ${items[i].id}`);
        });
        return;
      } catch (error) {
        if (!passing(error) || items.every((item) => performance.now() > item.until)) return this.log('cannot report', error.message);
      }
      await sleep(pause);
    }
  }

  /* ---- Leases */

  async renew() {
    const now = performance.now();
    for (const item of this.held) if (now > item.until - this.leaseMs / 10) this.lose(item, 'lost');
    const old = [...this.held].filter((item) => item.reason !== 'lost' && item.until - now < (this.leaseMs * 2) / 3);
    for (const kind of new Set(old.map((item) => item.kind))) {
      const items = old.filter((item) => item.kind === kind);
      const began = performance.now();
      const answers = await this.leases.renew(kind, items, this.leaseMs).catch((error) => {
        this.log('cannot renew', error.message);
        return [];
      });
      answers.forEach((answer, i) => {
        if (answer === 'applied') items[i].until = began + this.leaseMs;
        this.heard(items[i], answer);
      });
    }
  }

  heard(item, answer) {
    if (!this.held.has(item)) return;
    if (answer === 'cancel') this.lose(item, 'cancelled');
    else if (answer !== 'applied') this.lose(item, 'lost');
  }

  /* ---- The end */

  async drain() {
    const running = () => [...this.held].some((item) => item.running);
    const until = async (ms) => {
      for (const end = performance.now() + ms; running() && performance.now() < end; ) await sleep(20);
    };
    await until(this.drainMs);
    for (const item of this.held) if (item.running) this.lose(item, 'stopping');
    await until(LAST_MS);
    await this.reporting;
  }
}
