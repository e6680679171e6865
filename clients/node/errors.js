/* What can go wrong, by pawl's own words, and what a handler throws to say what comes next. */

/** Base of every error of this client; `code` is pawl's word for it. */
export class PawlError extends Error {
  constructor(code, message, options = {}) {
    super(message, options.cause ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.code = code;
  }
}
const word = (code) =>
  class extends PawlError {
    constructor(message, options) {
      super(code, message, options);
    }
  };
export class Invalid extends word('invalid') {}
export class NotFound extends word('not_found') {}
export class Conflict extends word('conflict') {}
/** The grant or the instance has ended. */
export class Stale extends word('stale') {}
/** Nothing happened; try again later. */
export class Busy extends word('busy') {}
/** Nothing happened: pawl cannot be reached. */
export class Unavailable extends word('unavailable') {}
/** The credential or the role does not allow it. */
export class Denied extends word('denied') {}
export class Internal extends word('internal') {}
/** It may have happened. Repeat the same call with `{ idempotencyKey: error.idempotencyKey }` to find out: nothing happens twice. */
export class Unknown extends PawlError {
  constructor(message, options = {}) {
    super('unknown', message, options);
    this.idempotencyKey = options.idempotencyKey;
  }
}

const classes = {
  invalid: Invalid, not_found: NotFound, conflict: Conflict, stale: Stale, busy: Busy, unavailable: Unavailable, denied: Denied,
  unknown: Unknown, internal: Internal,
};
export const failure = (code, message, options) => new (classes[code] ?? Internal)(message, options);

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
