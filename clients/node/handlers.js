/* Handlers by the patterns of the types that they are for. */

/** Patterns may contain * and ? and ignore case, as those of pawl worker do. */
function matcher(pattern) {
  const text = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.');
  return new RegExp(`^${text}$`, 'is');
}

export class Handlers {
  list = [];

  add(kind, pattern, run) {
    if (typeof run !== 'function') throw new TypeError(`the handler of ${pattern} is not a function`);
    this.list.push({ kind, pattern, matches: matcher(pattern), run });
  }

  /** The first that matches wins. */
  find(kind, type) {
    return this.list.find((handler) => handler.kind === kind && handler.matches.test(type))?.run;
  }

  kinds() {
    return [...new Set(this.list.map((handler) => handler.kind))];
  }
}

/** What a handler's error means: a verb and its details. */
export function verdictOf(error) {
  const text = String(error?.message ?? error).slice(0, 2000);
  if (error?.name === 'Snooze') return { verb: 'release', delayMs: error.afterMs ?? 1000 };
  if (error?.name === 'Reject') return { verb: 'fail', error: text, permanent: true };
  return { verb: 'fail', error: text, permanent: false, delayMs: error?.name === 'Retry' ? error.afterMs : undefined };
}
