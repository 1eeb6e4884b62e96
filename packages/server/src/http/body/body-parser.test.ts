import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyToken } from '../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';

/** Room for a picture is for those who may send one, and for a request that does. */
let app: TestApp;
let person: Person;
let key: string;
let port: number;
beforeAll(async () => {
  app = await startApp();
  person = await app.person();
  const as = { token: person.token };
  const { scope } = await app.must('createProject', { scope: person.account, name: 'P' }, as);
  key = await keyToken(app, person.token, scope);
  await app.server.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = app.server.server.address() as AddressInfo);
});
afterAll(() => app.close());

const upload = 'mutation ($file: String!) { uploadMyPicture(input: { file: $file }) { pictureUrl } }';
const large = 'A'.repeat(1_500_000);

/** The default limit of a body. */
const USUAL = 1024 * 1024;

/**
 * The code of the answer to a document with variables, sent with its length or in chunks. The
 * client sends no more of a refused body than the server reads, so that the answer is not lost with the connection.
 */
function post(
  query: string,
  variables: object,
  token: string | undefined,
  how: 'whole' | 'chunked',
  isRead = true,
) {
  const body = JSON.stringify({ query, variables });
  return new Promise<string>((resolve, reject) => {
    const sent = request(
      {
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/graphql',
        headers: {
          'content-type': 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(how === 'whole' ? { 'content-length': body.length } : { 'transfer-encoding': 'chunked' }),
        },
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () => {
          resolve(/"code":"(\w+)"/.exec(text)?.[1] ?? text);
          sent.destroy();
        });
      },
    );
    sent.on('error', reject);
    if (isRead) sent.end(body);
    else if (how === 'chunked') sent.write(body.slice(0, USUAL + 1));
    else sent.flushHeaders();
  });
}

it.each(['whole', 'chunked'] as const)(
  'is not for strangers or keys, whatever they name: %s',
  async (how) => {
    expect(await post(upload, { file: large }, undefined, how, false)).toBe('PAYLOAD_TOO_LARGE');
    expect(await post(upload, { file: large }, 'no.such.token', how, false)).toBe('PAYLOAD_TOO_LARGE');
    expect(await post(upload, { file: large }, key, how, false)).toBe('PAYLOAD_TOO_LARGE');
    // What is no longer than usual is read from everybody.
    expect(await post('{ me { user { id } } }', {}, undefined, how)).toBe('UNAUTHENTICATED');
    expect(
      await post('query ($x: String) { me { user { id } } }', { x: 'A'.repeat(900_000) }, key, how),
    ).toBe('GRAPHQL_VALIDATION_FAILED');
  },
);

it('is for a request that sends a picture, and for no other', async () => {
  const { token } = person;
  expect(await post(upload, { file: large }, token, 'whole')).toBe('UNSUPPORTED_MEDIA_TYPE');
  expect(await post(upload, { file: large }, token, 'chunked')).toBe('UNSUPPORTED_MEDIA_TYPE');
  const named = `# uploadMyPicture\nquery { me { user { id } } }`;
  expect(await post(named, { uploadMyPicture: large }, token, 'whole')).toBe('PAYLOAD_TOO_LARGE');
  expect(await post(upload, { file: large.repeat(3) }, token, 'whole', false)).toBe('PAYLOAD_TOO_LARGE');
});
