// Requests to the server: JSON in and out; a failure becomes an error with a helpful message.
import { recall } from "./keep.js";

export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function detailOf(answer) {
  try {
    const problem = await answer.json();
    return problem.detail || problem.title;
  } catch {
    return "The server answered " + answer.status + ".";
  }
}

let onEnded = () => {}; // the session has ended

export function whenSessionEnds(listener) {
  onEnded = listener;
}

// A header takes bytes: those of UTF-8.
const bytesOf = (text) => String.fromCharCode(...new TextEncoder().encode(text));

async function request(method, path, body, signal, headers) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      signal,
      headers: { ...(method === "GET" ? {} : { "pawl-request": "dashboard" }),
                 ...(method !== "GET" && recall("name", "") ? { "pawl-actor": bytesOf(recall("name", "")) } : {}),
                 ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Is pawl server still running?");
  }
  if (answer.status === 401 && !headers) onEnded();
  if (!answer.ok) throw new Problem(answer.status, await detailOf(answer));
  return answer.status === 204 ? null : answer.json();
}

export const get = (path, signal) => request("GET", path, undefined, signal);
export const post = (path, body) => request("POST", path, body);
export const put = (path, body) => request("PUT", path, body);
export const drop = (path) => request("DELETE", path);
export const signIn = (token) => request("POST", "/v1/session", undefined, undefined, { authorization: "Bearer " + token });

export const signOut = () => request("DELETE", "/v1/session");

// The path with the parameters that say something.
export function withQuery(path, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  const text = query.toString();
  return text ? path + (path.includes("?") ? "&" : "?") + text : path;
}
