/* Idempotency keys, and calls whose outcome is not known. */
import { createHash, randomUUID } from 'node:crypto';
import { Busy, Unavailable, Unknown } from './errors.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const RESOLVE_MS = 10_000;
const PAUSE_MS_MAX = 1_000;

export const newKey = () => randomUUID();

/** A key of the caller as the UUID that SQL wants; the same text is the same UUID. */
export function uuidOf(text) {
  if (UUID.test(text)) return text.toLowerCase();
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export const sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });

/**
 * Runs call(). Only when its outcome is unknown it is repeated, under the same key, which tells what happened; what still cannot be told
 * after ten seconds is thrown as Unknown, with the key.
 */
export async function resolved(key, call) {
  let unknown;
  const end = performance.now() + RESOLVE_MS;
  for (let pause = 50; ; pause = Math.min(pause * 2, PAUSE_MS_MAX)) {
    try {
      return await call();
    } catch (error) {
      if (error instanceof Unknown) unknown = error;
      else if (!unknown || !(error instanceof Unavailable || error instanceof Busy)) throw error;
      if (performance.now() + pause > end) {
        unknown.idempotencyKey = key;
        throw unknown;
      }
    }
    await sleep(pause);
  }
}
