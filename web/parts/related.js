// Links from one thing to those that belong to it.
import { withQuery } from "../api.js";
import { h } from "../dom.js";
import { shortId } from "../format.js";

export const link = (path, text) => (text ? h("a", { href: path + encodeURIComponent(text) }, text) : null);
export const streamLink = (name) => link("/ui/streams/", name);
export const taskLink = (name) => link("/ui/tasks/", name);
export const messageLink = (id) => (id ? h("a", { href: "/ui/messages/" + id, title: id }, h("code", null, shortId(id))) : null);
export const instanceLink = (id) => (id ? h("a", { href: "/ui/instances/" + id, title: id }, h("code", null, shortId(id))) : null);
export const jobLink = (id) => (id ? h("a", { href: "/ui/jobs/" + id }, String(id)) : null);
export const eventAddress = (id, stream, version) => withQuery("/ui/events/" + id, { stream, version });

// The trace id of a traceparent: what the tracing system knows it by.
export const traceId = (traceparent) => (traceparent ? traceparent.split("-")[1] : null);

// What is gone is null.
export const orNull = (reading) => reading.catch((problem) => {
  if (problem.status === 404) return null;
  throw problem;
});

const ACTIONS = 200; // the latest, among which what people did to one thing is looked for

export const actionsOf = async (read) => (await read("/v1/actions?limit=" + ACTIONS)).items;
