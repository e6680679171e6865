// A scripted agent: creates a task with a schedule, runs it, waits for its result, is refused what is outside its scopes, and
// finds the reason in `why`. Prints TAP.
// Usage: node agent_session.mjs sdk|client stdio PAWL | … http URL TOKEN AGENT
// sdk: the client of @modelcontextprotocol/sdk (2025-11-25); client: that of @modelcontextprotocol/client (2026-07-28).
const [, , library, transport, where, token, agent] = process.argv;
const own = library === 'sdk' ? '@modelcontextprotocol/sdk/client' : '@modelcontextprotocol/client';
const { Client } = await import(library === 'sdk' ? `${own}/index.js` : own);
const { StdioClientTransport } = await import(`${own}/stdio${library === 'sdk' ? '.js' : ''}`);
const { StreamableHTTPClientTransport } = await import(library === 'sdk' ? `${own}/streamableHttp.js` : own);

let count = 0;
let failed = false;
function check(name, good, why) {
    count += 1;
    failed ||= !good;
    console.log(`${good ? 'ok' : 'not ok'} ${count} - ${library} over ${transport}: ${name}`);
    if (!good) console.log(`# ${JSON.stringify(why)}`);
}

const link =
    transport === 'stdio'
        ? new StdioClientTransport({
              command: where,
              args: ['mcp', '--role', 'operator', '--agent', 'planner'],
              env: process.env,
              stderr: 'inherit',
          })
        : new StreamableHTTPClientTransport(new URL(where), {
              requestInit: { headers: { Authorization: `Bearer ${token}`, 'Pawl-Agent': agent } },
          });
const options = library === 'client' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};
const client = new Client({ name: 'scripted-agent', version: '1.0.0' }, options);
await client.connect(link);

async function call(name, args, more) {
    const request = { name, arguments: args };
    return library === 'sdk' ? client.callTool(request, undefined, more) : client.callTool(request, more);
}

const name = `${library}-${transport}`;
const tools = [];
for (let cursor; ; ) {
    const page = await client.listTools(cursor ? { cursor } : undefined);
    tools.push(...page.tools);
    cursor = page.nextCursor;
    if (!cursor) break;
}
const names = tools.map((tool) => tool.name);
check('it sees what it may use', names.includes('task_create') && !names.includes('job_cancel'), names);
const task = await call('task_create', {
    name,
    pipeline: { steps: [{ id: 'note', uses: 'pawl.append', with: { stream: name, events: [{ type: 'noted', payload: { by: name } }] } }] },
});
check('it creates a task of its own', task.structuredContent?.agent === 'planner', task);
const schedule = await call('schedule_set', { name, task: name, cron: '0 3 * * *', zone: 'Europe/Berlin' });
check('it schedules it', schedule.structuredContent?.task === name, schedule);
const run = await call('task_run', { name });
const id = run.structuredContent?.id;
check('it runs it now', Number.isInteger(id), run);
const result = await call('job_wait', { id, timeout_ms: 50000 }, { timeout: 60000 });
check('it waits for the result', result.structuredContent?.state === 'succeeded', result);
const stream = await client.readResource({ uri: `pawl://stream/${name}` });
check('it reads what was done', JSON.parse(stream.contents[0].text).items.length === 1, stream);
const refused = await call('job_cancel', { id });
check('it is refused a tool outside its scopes', refused.isError === true && refused.content[0].text.includes('operation:job.cancel'), refused);
const later = await call('job_enqueue', { task: name, due_ms: Date.now() + 3600000 });
const why = await call('why', { kind: 'job', id: String(later.structuredContent?.id) });
check('it finds the reason in why', why.structuredContent?.kind === 'job' && why.structuredContent.explanation.includes('not due before'), why);
const leave = new AbortController();
const news = [];
const onprogress = (note) => {
    news.push(note);
    leave.abort('enough');
};
const more = { signal: leave.signal, onprogress, timeout: 60000 };
const waiting = call('job_wait', { id: later.structuredContent?.id, timeout_ms: 50000 }, more);
check('it hears of the progress and stops waiting', await waiting.then(() => false, () => news.length > 0), news);
const refusals = await call('agent_refusals', {});
check('the refusal is kept', refusals.structuredContent.items[0]?.missing === 'operation:job.cancel', refusals);
const actions = await call('action_list', { limit: 4 });
check('what it did is in the audit', actions.structuredContent.items.some((row) => row.actor === 'agent planner' && row.action === 'task.create'), actions);
await client.close();
console.log(`1..${count}`);
process.exit(failed ? 1 : 0);
