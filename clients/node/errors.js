/* What can go wrong, by pawl's own words, and what a handler throws to say what comes next. */

/** Base of every error of this client; `code` is pawl's word for it. */
export class PawlError extends Error {
  constructor(code, message, options = {}) {
    super(message, options.cause ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.code = code;
  }
}

/** One class for each of pawl's words; index.d.ts says when which is thrown. */
const named = (name, code) =>
  ({
    [name]: class extends PawlError {
      constructor(message, options) {
        super(code, message, options);
        if (code === 'unknown') this.idempotencyKey = options?.idempotencyKey;
      }
    },
  })[name];
const words = { invalid: 'Invalid', not_found: 'NotFound', conflict: 'Conflict', stale: 'Stale', busy: 'Busy', unavailable: 'Unavailable',
  denied: 'Denied', unknown: 'Unknown', internal: 'Internal' };
const classes = Object.fromEntries(Object.entries(words).map(([code, name]) => [name, named(name, code)]));
export const { Invalid, NotFound, Conflict, Stale, Busy, Unavailable, Denied, Unknown, Internal } = classes;
export const failure = (code, message, options) => new (classes[words[code]] ?? Internal)(message, options);

/** Thrown by a handler: try again after the backoff, or after `afterMs`. Any other error means the same. */
export class Retry extends Error {
  constructor(message, { afterMs, cause } = {}) {
    super(message, cause ? { cause } : undefined);
    this.name = 'Retry';
    this.afterMs = afterMs;
  }
}
/** Thrown by a handler: failed for good, a dead letter. */
export class Reject extends Error {
  constructor(message, { cause } = {}) {
    super(message, cause ? { cause } : undefined);
    this.name = 'Reject';
  }
}
/** Thrown by a handler: not now; no attempt is counted. */
export class Snooze extends Error {
  constructor(afterMs) {
    super(`snoozed for ${afterMs} ms`);
    this.name = 'Snooze';
    this.afterMs = afterMs;
  }
}
