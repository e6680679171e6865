/* A handler program that pawl worker keeps running (pipe:): one line of JSON per item in, one per result out. */
import { createInterface } from 'node:readline';
import { Handlers, verdictOf } from './handlers.js';

const answers = { fail: 'retry', release: 'snooze' };

/** What a line is about: its kind, and what the handler gets. */
function itemOf(line) {
  if (line.job) return { kind: 'jobs', type: line.job.type, body: line.job };
  if (line.events) return { kind: 'events', type: line.perspective ?? '', body: line.events };
  if (line.tool !== undefined) return { kind: 'tools', type: line.tool, body: line.arguments };
  return { kind: 'messages', type: line.message?.type ?? '', body: line.message };
}

export class Server {
  handlers = new Handlers();
  running = new Map();

  message(pattern, run) {
    this.handlers.add('messages', pattern, run);
    return this;
  }

  job(type, run) {
    this.handlers.add('jobs', type, run);
    return this;
  }

  /** A handler of the events of a perspective. */
  perspective(name, run) {
    this.handlers.add('events', name, run);
    return this;
  }

  /** A handler of the calls of a tool. */
  tool(name, run) {
    this.handlers.add('tools', name, run);
    return this;
  }

  /** Serves until the worker closes the input; then what runs is finished. */
  async serve({ atOnce = 1, input = process.stdin, output = process.stdout } = {}) {
    const say = (line) => output.write(`${JSON.stringify(line)}\n`);
    say({ ready: true, at_once: atOnce });
    for await (const text of createInterface({ input, crlfDelay: Infinity })) {
      const line = JSON.parse(text);
      if (line.cancel !== undefined) this.running.get(line.id)?.abort.abort(new Error(`pawl: ${line.cancel}`));
      else this.start(line, say);
    }
    await Promise.all([...this.running.values()].map((one) => one.ended));
  }

  start(line, say) {
    const one = { abort: new AbortController() };
    this.running.set(line.id, one);
    one.ended = this.handle(line, one.abort.signal, say)
      .then(
        (result) => ({ result: 'done', output: result }),
        (error) => {
          const { verb, permanent, delayMs, error: text } = verdictOf(error);
          return { result: permanent ? 'reject' : answers[verb], error: text, after_ms: delayMs };
        },
      )
      .then((answer) => {
        this.running.delete(line.id);
        say({ id: line.id, ...answer });
      });
  }

  async handle(line, signal, say) {
    const { kind, type, body } = itemOf(line);
    const run = this.handlers.find(kind, type);
    if (!run) throw new Error(`there is no handler for ${type}`);
    const { receptor, perspective, tool, idempotency_key: idempotencyKey = body?.idempotency_key } = line;
    return run(body, {
      signal, attempt: body?.attempt, receptor, perspective, tool, idempotencyKey,
      progress: async (value) => say({ id: line.id, progress: value }),
      log: (text, level = 'info') => say({ id: line.id, log: text, level }),
    });
  }
}
