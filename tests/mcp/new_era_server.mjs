// A server of the newer era only (2026-07-28): node new_era_server.mjs [--http]; prints its port then.
import { createServer } from 'node:http';
import { McpServer, createMcpHandler, fromJsonSchema } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { toNodeHandler } from '@modelcontextprotocol/node';

function factory() {
    const server = new McpServer({ name: 'new-era', version: '1.0.0' });
    const region = { type: 'string', 'x-mcp-header': 'Region' };
    server.registerTool(
        'greet',
        {
            description: 'greets',
            inputSchema: fromJsonSchema({
                type: 'object',
                properties: { name: { type: 'string' }, region },
                required: ['name'],
            }),
        },
        async ({ name, region }) => ({ content: [{ type: 'text', text: `hello ${name} in ${region ?? 'no region'}` }] }),
    );
    server.registerTool(
        'slow',
        { description: 'takes a while', inputSchema: fromJsonSchema({ type: 'object' }) },
        async () => {
            await new Promise((wake) => setTimeout(wake, 60000));
            return { content: [] };
        },
    );
    return server;
}

if (process.argv.includes('--http')) {
    const mode = process.argv.includes('--sse') ? 'sse' : 'auto';
    const handler = toNodeHandler(createMcpHandler(factory, { legacy: 'reject', responseMode: mode }));
    const listener = createServer((request, response) => handler(request, response));
    listener.listen(0, '127.0.0.1', () => console.log(listener.address().port));
} else {
    serveStdio(factory, { legacy: 'reject' });
}
