/**
 * The reference for is-authorized: plain Fastify, JSON in and JSON out. It answers the request body, padded to
 * RESPONSE_BYTES. It prints its port when it listens.
 */
import fastify from 'fastify';

const responseBytes = Number(process.env['RESPONSE_BYTES'] ?? 0);
const app = fastify({ logger: false });

let fill: string | undefined;
app.post('/api/auth/is-authorized', async ({ body }) => {
  // All requests of a run are about equal in size, so one measurement fits all.
  fill ??= '.'.repeat(Math.max(0, responseBytes - JSON.stringify({ echo: body, fill: '' }).length));
  return { echo: body, fill };
});

await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.stdout.write(`${typeof address === 'object' && address ? address.port : 0}\n`);
process.once('SIGTERM', () => void app.close());
