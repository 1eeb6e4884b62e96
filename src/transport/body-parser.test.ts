import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerBodyParser } from './body-parser.ts';

/** Which bodies are one frozen value when they come again; the handlers tell whether theirs is. */
const app = fastify();
beforeAll(async () => {
  app.decorateRequest('route', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.route = request.routeOptions.config;
    done();
  });
  registerBodyParser(app);
  const isFrozen = ({ body }: { body: unknown }) => ({ isFrozen: Object.isFrozen(body) });
  app.post('/graphql', isFrozen);
  app.post('/api/auth/login', isFrozen);
  app.post('/api/auth/is-authorized', { config: { rate: 'check' } }, isFrozen);
  await app.ready();
});
afterAll(() => app.close());

/** Whether the body that came for the third time was known. */
async function isKnown(url: string, payload: string): Promise<boolean> {
  const send = async () => {
    const headers = { 'content-type': 'application/json' };
    const reply = await app.inject({ method: 'POST', url, headers, payload });
    return reply.json<{ isFrozen: boolean }>().isFrozen;
  };
  expect(await send()).toBe(false);
  await send();
  return send();
}
const document = (query: string, variables: object = {}) => JSON.stringify({ query, variables });

describe('a body that comes again', () => {
  it('is known where it asks, over either transport', async () => {
    expect(await isKnown('/api/auth/is-authorized', '{"permission":{}}')).toBe(true);
    expect(await isKnown('/graphql', document('query Q { roles { items { id } } }'))).toBe(true);
    expect(await isKnown('/graphql', `[${document('{ roles { items { id } } }')}]`)).toBe(true);
  });

  it('is not where it may carry what is to be kept nowhere', async () => {
    expect(await isKnown('/api/auth/login', '{"password":"three-lanterns"}')).toBe(false);
    expect(await isKnown('/graphql', document('mutation { login(input: {password: "x"}) { id } }'))).toBe(
      false,
    );
    expect(await isKnown('/graphql', document('query Q { a } mutation M { b }'))).toBe(false);
    expect(
      await isKnown(
        '/graphql',
        document('query Q($i: I!) { invitation(input: $i) { id } }', { i: { token: 'x' } }),
      ),
    ).toBe(false);
    // The same word, as JSON may write it.
    const hidden = document('mutation { b }').replace('mutation', '\\u006dutation');
    expect(JSON.parse(hidden)).toEqual({ query: 'mutation { b }', variables: {} });
    expect(await isKnown('/graphql', hidden)).toBe(false);
  });
});
