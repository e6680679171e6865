/** Types of the pawl client. Times are milliseconds, ids of jobs are numbers, ids of messages and events are UUIDs. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json | undefined };
export type Kind = 'outbox' | 'inbox';

/* ---- Errors */

export type Code = 'invalid' | 'not_found' | 'conflict' | 'stale' | 'busy' | 'unavailable' | 'unknown' | 'denied' | 'internal';
export class PawlError extends Error {
  constructor(code: Code, message: string, options?: { cause?: unknown });
  readonly code: Code;
}
declare class WordError extends PawlError {
  constructor(message: string, options?: { cause?: unknown });
}
export class Invalid extends WordError {}
export class NotFound extends WordError {}
export class Conflict extends WordError {}
/** The grant or the instance has ended. */
export class Stale extends WordError {}
/** Nothing happened; try again later. */
export class Busy extends WordError {}
/** Nothing happened: pawl cannot be reached. */
export class Unavailable extends WordError {}
/** The credential or the role does not allow it. */
export class Denied extends WordError {}
export class Internal extends WordError {}
/** It may have happened. Repeat the same call with this idempotency key to find out: nothing happens twice. */
export class Unknown extends WordError {
  readonly idempotencyKey?: string;
}

/** Thrown by a handler: try again after the backoff, or after `afterMs`. Any other error means the same. */
export class Retry extends Error {
  constructor(message: string, options?: { afterMs?: number; cause?: unknown });
  readonly afterMs?: number;
}
/** Thrown by a handler: failed for good, a dead letter. */
export class Reject extends Error {
  constructor(message: string, options?: { cause?: unknown });
}
/** Thrown by a handler: not now; no attempt is counted. */
export class Snooze extends Error {
  constructor(afterMs: number);
  readonly afterMs: number;
}

/* ---- Producing */

export interface MessageOptions {
  stream?: string;
  topic?: string;
  headers?: { [name: string]: string };
  correlationId?: string;
  causationId?: string;
  traceparent?: string;
}
export interface SendOptions extends MessageOptions {
  id?: string;
  /** Calls with the same key store one message, within an hour. */
  idempotencyKey?: string;
}
export interface NewEvent {
  type: string;
  payload?: Json;
  id?: string;
  metadata?: { [name: string]: Json };
  correlationId?: string;
  causationId?: string;
  traceparent?: string;
  /** Also send an outbox message. */
  publish?: boolean;
  topic?: string;
}
export interface AppendOptions {
  /** The version that the stream must have; 0: it must not exist; -1 (the default): any. */
  expected?: number;
  idempotencyKey?: string;
}
export interface Appended {
  version: number;
  firstVersion: number;
  duplicate: boolean;
}
export interface EnqueueOptions {
  /** A task that pawl knows, instead of a type (pass null for that). */
  task?: string;
  queue?: string;
  /** Jobs with the same key share its limits. */
  key?: string;
  /** At most one unfinished job has it. */
  uniqueKey?: string;
  runAt?: Date;
  deadline?: Date;
  priority?: number;
  maxAttempts?: number;
  traceparent?: string;
  idempotencyKey?: string;
}
export interface JobResult<Output = Json> {
  id: number;
  ended: boolean;
  state: 'ready' | 'running' | 'later' | 'waiting' | 'dead' | 'succeeded' | 'failed' | 'cancelled' | 'lost';
  attempts: number;
  output: Output | null;
  error: string | null;
}

export interface Producer {
  send(type: string, payload?: Json, options?: SendOptions): Promise<string>;
  /** Stores an inbox message once for each consumer and id. */
  receive(consumer: string, id: string, type: string, payload?: Json, options?: MessageOptions): Promise<'applied' | 'duplicate' | 'conflict'>;
  append(stream: string, events: NewEvent | NewEvent[], options?: AppendOptions): Promise<Appended>;
  enqueue(type: string | null, payload?: Json, options?: EnqueueOptions): Promise<number>;
  /** Whether there was such a job. A running one is told when its lease is renewed. */
  cancel(job: number): Promise<boolean>;
}
export interface Client extends Producer {
  /** Waits until a job has ended; after the timeout (a minute), how it is so far. */
  result<Output = Json>(job: number, options?: { timeoutMs?: number }): Promise<JobResult<Output>>;
  /** Waits until a perspective has applied a version of a stream, and says whether it has: so you read your own writes. */
  waitFor(perspective: string, stream: string, version: number, options?: { timeoutMs?: number }): Promise<boolean>;
  worker(options: WorkerOptions): Worker;
}

/** What pg's Client, PoolClient and Pool have in common. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}
export interface QueryablePool extends Queryable {
  readonly totalCount: number;
  connect(): Promise<Queryable & { release(error?: Error | boolean): void }>;
}
export class SqlClient implements Client {
  /** on: a pg Pool, or a connected pg Client, whose transaction everything then belongs to. schema: pawl's, by default the one that PAWL_SCHEMA names. */
  constructor(on: Queryable | QueryablePool, options?: { schema?: string });
  /** The same client inside the caller's transaction. */
  using(client: Queryable): SqlClient;
  send: Client['send'];
  receive: Client['receive'];
  append: Client['append'];
  enqueue: Client['enqueue'];
  cancel: Client['cancel'];
  result: Client['result'];
  waitFor: Client['waitFor'];
  worker: Client['worker'];
}
export class HttpClient implements Client {
  /** token: of the operator, to send and to wait; workerToken: of the lease API (pawl server --lease-api). */
  constructor(url: string | URL, options?: { token?: string; workerToken?: string });
  send: Client['send'];
  receive: Client['receive'];
  append: Client['append'];
  enqueue: Client['enqueue'];
  cancel: Client['cancel'];
  result: Client['result'];
  waitFor: Client['waitFor'];
  worker: Client['worker'];
}

/* ---- Handling */

export interface Message<Payload = any> {
  id: string;
  kind: Kind;
  type: string;
  payload: Payload;
  stream: string | null;
  topic: string | null;
  headers: { [name: string]: string } | null;
  attempt: number;
  traceparent: string | null;
}
export interface Job<Payload = any> {
  id: string;
  kind: 'jobs';
  type: string;
  payload: Payload;
  task: string | null;
  attempt: number;
  /** What an earlier attempt has stored. */
  progress: any;
  traceparent: string | null;
}
export interface Context {
  /** Aborted when the lease is lost, the job is cancelled, or the worker must stop. */
  readonly signal: AbortSignal;
  readonly attempt: number;
  /** Stores how far a job is, for its next attempt, and renews its lease. */
  progress(value: Json): Promise<void>;
}
export interface WorkerContext extends Context {
  /** SQL only: ends the work inside the caller's transaction, together with everything else that it writes. */
  finish(client: Queryable, output?: Json): Promise<void>;
}
export interface WorkerOptions {
  service: string;
  /** How many handlers run at the same time, for each kind of messages and each queue (10). */
  concurrency?: number;
  /** Of jobs (['default']). */
  queues?: string[];
  /** The lease of what is claimed (60000); it is renewed while the handler runs. */
  leaseMs?: number;
  /** After so long a silence others take the work (15000). */
  instanceLeaseMs?: number;
  /** How long one claim waits for work (20000). */
  waitMs?: number;
  /** How long handlers may take to end when the worker stops (25000). */
  drainMs?: number;
  log?: (event: string, details?: unknown) => void;
}
export class Worker {
  private constructor();
  message<Payload = any>(pattern: string, run: (message: Message<Payload>, context: WorkerContext) => unknown, options?: { kind?: Kind }): this;
  /** What the handler returns is the job's output. */
  job<Payload = any>(type: string, run: (job: Job<Payload>, context: WorkerContext) => unknown): this;
  /** Works until stop() is called or, unless signals is false, until SIGTERM or SIGINT. */
  run(options?: { signals?: boolean }): Promise<void>;
  stop(): void;
}

export interface ServeContext extends Context {
  readonly receptor?: string;
  readonly perspective?: string;
  readonly tool?: string;
  readonly idempotencyKey?: string;
  log(text: string, level?: 'debug' | 'info' | 'warn' | 'error'): void;
}
/** A handler program that `pawl worker --on 'TYPE=pipe:node FILE'` keeps running. */
export class Server {
  message<Payload = any>(pattern: string, run: (message: Message<Payload>, context: ServeContext) => unknown): this;
  job<Payload = any>(type: string, run: (job: Job<Payload>, context: ServeContext) => unknown): this;
  perspective(name: string, run: (events: any[], context: ServeContext) => unknown): this;
  tool(name: string, run: (args: any, context: ServeContext) => unknown): this;
  serve(options?: { atOnce?: number; input?: NodeJS.ReadableStream; output?: NodeJS.WritableStream }): Promise<void>;
}
