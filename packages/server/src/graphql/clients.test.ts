import { serverAudits } from 'graphql-http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';

/** Members and headers that GraphQL clients send besides a document, and how the service responds to them. */
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const document = '{ __typename }';
const answered = { data: { __typename: 'Query' } };

async function post(payload: unknown, headers: Record<string, string> = {}) {
  const {
    statusCode,
    body,
    headers: sent,
  } = await app.server.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(payload),
  });
  return { status: statusCode, type: sent['content-type'], body: JSON.parse(body) as unknown };
}

async function get(parameters: Record<string, string>) {
  const { statusCode, body } = await app.server.inject({
    url: `/graphql?${new URLSearchParams(parameters).toString()}`,
    headers: { accept: '*/*' },
  });
  return { status: statusCode, body: JSON.parse(body) as unknown };
}

describe('the audits of GraphQL over HTTP', () => {
  /** Recommendations that we do not follow: a document that cannot run gets 400 in every media type. */
  const declined = new Set(['572B', 'FDE2', '7B9B', 'D586', '5E5B']);

  it('hold, but for those that are declined', async () => {
    await app.server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.server.address() as AddressInfo;
    const results = [];
    for (const audit of serverAudits({ url: `http://127.0.0.1:${port}/graphql` }))
      results.push(await audit.fn());
    expect(results.length).toBeGreaterThan(55);
    const failed = results.filter(({ status }) => status !== 'ok');
    expect(
      failed.map(({ id, name }) => `${id} ${name}`).filter((item) => !declined.has(item.slice(0, 4))),
    ).toEqual([]);
    expect(failed.filter(({ status }) => status === 'error')).toEqual([]);
  });
});

describe('the media type of an answer', () => {
  const json = 'application/json; charset=utf-8';
  const graphql = 'application/graphql-response+json; charset=utf-8';
  it.each([
    ['*/*', json],
    ['application/*', json],
    ['application/json', json],
    ['application/graphql-response+json', graphql],
    ['application/graphql-response+json, application/json', graphql],
    ['application/json, application/graphql-response+json', graphql],
    ['application/graphql-response+json;charset=utf-8, application/json;charset=utf-8', graphql],
    ['Application/GraphQL-Response+JSON;Q=0.9, application/json;q=0.8', graphql],
    ['application/graphql-response+json;q=0.8, application/json', json],
    ['application/graphql-response+json;q=0.8, */*;q=0.9', json],
    ['application/graphql-response+json;q=0, application/xml', json],
    ['text/plain', json],
  ])('for Accept: %s', async (accept, type) => {
    expect(await post({ query: document }, { accept })).toEqual({ status: 200, type, body: answered });
    const refused = await post({ query: '{' }, { accept });
    expect([refused.status, refused.type]).toEqual([400, type]);
    expect(refused.body).toMatchObject({ data: null });
  });
});

describe('members beside the query', () => {
  it('are ignored where they are not known', async () => {
    const sent = { query: document, id: 'x', clientLibrary: { name: 'y' }, extensions: { tracing: true } };
    expect((await post(sent)).body).toEqual(answered);
    expect((await post([sent, sent])).body).toEqual([answered, answered]);
    const extensions = JSON.stringify({ clientLibrary: { name: '@apollo/client', version: '4' } });
    expect(await get({ query: document, extensions, x: '1' })).toEqual({ status: 200, body: answered });
  });

  it('say that no documents are stored', async () => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } };
    const unknown = {
      data: null,
      errors: [
        {
          message: 'PersistedQueryNotSupported',
          extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', requestId: expect.any(String) as string },
        },
      ],
    };
    expect(await post({ extensions })).toMatchObject({ status: 200, body: unknown });
    expect(await post({ extensions }, { 'accept-language': 'de' })).toMatchObject({ body: unknown });
    expect(await get({ extensions: JSON.stringify(extensions) })).toEqual({ status: 200, body: unknown });
    expect((await post([{ extensions }, { query: document }])).body).toEqual([unknown, answered]);
    expect((await post({ query: document, extensions })).body).toEqual(answered);
    expect((await post({ query: document, extensions })).body).toEqual(answered);
  });

  it('do not stand for a query', async () => {
    for (const body of [{}, { query: null }, { extensions: {} }, { extensions: { persistedQuery: null } }]) {
      const refused = await post(body);
      expect(refused.status).toBe(400);
      expect(refused.body).toMatchObject({
        errors: [
          { extensions: { code: 'VALIDATION_ERROR', details: [{ path: 'query', code: 'required' }] } },
        ],
      });
    }
  });
});
