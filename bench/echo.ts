/**
 * What the hot path is held against: Fastify as it comes, JSON in and JSON out, nothing else. It answers the body that it
 * was sent, filled up to RESPONSE_BYTES, or signed: a token costs that before anything is looked up or written. Prints
 * its port when it listens.
 */
import fastify from 'fastify';
import { generateKeyPairSync } from 'node:crypto';
import { signJwt } from '../src/crypto/jwt.ts';

const responseBytes = Number(process.env['RESPONSE_BYTES'] ?? 0);
const app = fastify({ logger: false });

let fill: string | undefined;
app.post('/echo', async ({ body }) => {
  // All requests of a run are equal, so one measurement fits all.
  fill ??= '.'.repeat(Math.max(0, responseBytes - JSON.stringify({ echo: body, fill: '' }).length));
  return { echo: body, fill };
});

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
app.post('/token', async ({ body }) => ({
  accessToken: await signJwt(privateKey, 'bench', { ...(body as object), aud: 'http://doorward.test' }),
}));

await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.stdout.write(`${typeof address === 'object' && address ? address.port : 0}\n`);
process.once('SIGTERM', () => void app.close());
