/* The client of pawl for Node: see README.md. */
export {
  Busy, Conflict, Denied, Internal, Invalid, NotFound, PawlError, Reject, Retry, Snooze, Stale, Unavailable, Unknown,
} from './errors.js';
export { HttpClient } from './http.js';
export { Server } from './serve.js';
export { SqlClient } from './sql.js';
export { Worker } from './worker.js';
