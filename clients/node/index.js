/* The client of pawl for Node: see README.md. */
export * from './errors.js';
export { HttpClient } from './http.js';
export { Server } from './serve.js';
export { SqlClient } from './sql.js';
export { Worker } from './worker.js';
