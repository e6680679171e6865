// Requests to the server: JSON in and out; a failure becomes an error with a helpful message.
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

async function request(method, path, body, signal, headers) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      signal,
      headers: { ...(method === "GET" ? {} : { "pawl-request": "dashboard" }),
                 ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Is pawl server still running?");
  }
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
  return text ? path + "?" + text : path;
}
