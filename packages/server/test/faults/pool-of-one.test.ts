/** Every operation works with one connection: none holds a connection while it waits for another. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import type { Person } from '../support/app/client.ts';

const WRITES = 200;

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await startApp({ DATABASE_POOL_MAX: '1' });
  ada = await app.person();
});
afterAll(() => app.close());

const createTag = (name: string) => app.call('createTag', { scope: ada.account, name }, { token: ada.token });

test(`${WRITES} writes at once all succeed or get the advice to retry, and the service keeps serving`, async () => {
  const began = performance.now();
  const answers = await Promise.all(numbered('burst', WRITES).map(createTag));
  const took = Math.round(performance.now() - began);
  const done = answers.filter(({ status }) => status === 201);
  const shed = answers.filter(({ status }) => status === 503);
  process.stdout.write(`pool of one: ${done.length} written, ${shed.length} shed, ${took} ms\n`);
  expect(done.length + shed.length).toBe(WRITES);
  expect(done.length).toBeGreaterThan(0);
  for (const { code, headers } of shed) {
    expect(code).toBe('UNAVAILABLE');
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
  }

  const page = await app.must('tags', { scope: ada.account, search: 'burst' }, { token: ada.token });
  expect(page.totalCount).toBe(done.length);
  expect((await createTag('afterwards')).status).toBe(201);
  expect((await app.server.inject('/health/ready')).statusCode).toBe(200);
});

test('an operation that reads, hashes, signs and writes succeeds too, many at a time', async () => {
  const scope = ada.account;
  const projects = await Promise.all(
    numbered('project', 8).map((name) => app.must('createProject', { scope, name }, { token: ada.token })),
  );
  const keys = await Promise.all(
    projects.map((project) =>
      app.must(
        'createApiKey',
        { scope: { tenant: 'accountProject', id: `${scope.id}:${project.id}` } },
        { token: ada.token },
      ),
    ),
  );
  const exchanges = await Promise.all(
    keys.map(({ clientId, clientSecret, scope: own }) =>
      app.call('exchangeApiKey', { clientId, clientSecret: clientSecret ?? '', scope: own }),
    ),
  );
  expect(exchanges.map(({ status }) => status)).toEqual(keys.map(() => 200));
  const people = await Promise.all(numbered('person', 4).map(() => app.person()));
  expect(people).toHaveLength(4);
});

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index}`);
}
