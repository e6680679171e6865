// Reads OTLP requests, one JSON document per line, with OpenTelemetry's own message types: whatever those do not know
// or would write differently is an error. Prints how many spans there were.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const path = require.resolve("@opentelemetry/otlp-transformer").replace(/index\.js$/, "generated/root.js");
const { opentelemetry } = require(path);
const Request = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

const names = new Set(Object.values(require("@opentelemetry/semantic-conventions/incubating")));

// Names that are not our own (pawl.…) are those of the semantic conventions.
function known(attributes) {
  for (const { key } of attributes) if (!key.startsWith("pawl.") && !names.has(key)) throw new Error(`attribute ${key} is in no convention`);
}

// The JSON form writes ids as hexadecimal digits where protobuf's own mapping has base64.
const ID = { traceId: 16, spanId: 8, parentSpanId: 8 };
function binary(value, key) {
  if (key in ID) {
    if (!new RegExp(`^[0-9a-f]{${2 * ID[key]}}$`).test(value) || /^0+$/.test(value)) throw new Error(`${key} ${value}`);
    return Buffer.from(value, "hex");
  }
  if (Array.isArray(value)) return value.map((item) => binary(item, ""));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, binary(v, k)]));
  return value;
}

function same(sent, read, where) {
  if (Array.isArray(sent)) {
    if (sent.length !== read?.length) throw new Error(`${where}: ${sent.length} items, ${read?.length} read`);
    sent.forEach((item, i) => same(item, read[i], `${where}[${i}]`));
  } else if (sent && typeof sent === "object" && !Buffer.isBuffer(sent)) {
    for (const [key, value] of Object.entries(sent)) {
      if (read?.[key] === undefined) throw new Error(`${where}.${key} is not known`);
      same(value, read[key], `${where}.${key}`);
    }
  } else {
    const a = Buffer.isBuffer(sent) ? sent.toString("hex") : String(sent);
    const b = Buffer.isBuffer(sent) ? Buffer.from(read).toString("hex") : String(read);
    if (a !== b) throw new Error(`${where}: ${a} was read as ${b}`);
  }
}

let spans = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const sent = binary(JSON.parse(line), "");
  const message = Request.fromObject(sent);
  const wrong = Request.verify(message);
  if (wrong) throw new Error(wrong);
  const read = Request.toObject(Request.decode(Request.encode(message).finish()), { longs: String, defaults: false, arrays: true, objects: true });
  same(sent, read, "request");
  for (const resource of message.resourceSpans) {
    known(resource.resource.attributes);
    for (const scope of resource.scopeSpans) {
      spans += scope.spans.length;
      scope.spans.forEach((span) => known(span.attributes));
    }
  }
}
console.log(spans);
