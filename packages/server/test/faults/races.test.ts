import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { unique, type Answer, type OperationName, type Person } from '../support/app/client.ts';

/** The database decides who wins: of twenty requests for the same name one succeeds, and none gets a 5xx. */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person({ type: 'organization' });
  ({ scope } = await app.must(
    'createProject',
    { scope: owner.account, name: 'Race' },
    { token: owner.token },
  ));
});
afterAll(() => app.close());

const outcomes = (answers: readonly Answer[]) =>
  answers.reduce<Record<string, number>>(
    (sum, { status }) => ({ ...sum, [status]: (sum[status] ?? 0) + 1 }),
    {},
  );

const taken: readonly [OperationName, (name: string) => object, string][] = [
  ['createTag', (name) => ({ scope, name }), 'name'],
  ['createResource', (name) => ({ scope, name, slug: `r-${name}` }), 'slug'],
  ['createOrganization', (name) => ({ scope: owner.account, name, slug: name }), 'slug'],
  ['createProject', (name) => ({ scope: owner.account, name, slug: name }), 'slug'],
];

it.each(taken)('%s: twenty at once, one succeeds', async (operation, input, path) => {
  const name = unique();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => app.raw(operation, input(name), { token: owner.token })),
  );
  expect(outcomes(answers)).toEqual({ 201: 1, 409: 19 });
  const refused = answers.find(({ status }) => status === 409);
  expect(refused).toMatchObject({ code: 'CONFLICT', details: [{ path, code: 'taken' }] });
  process.stdout.write(`one name, twenty at once, ${operation}: ${JSON.stringify(outcomes(answers))}\n`);
});

it('revokes a key once, however many requests come at once', async () => {
  const { id } = await app.must('createApiKey', { scope }, { token: owner.token });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => app.raw('revokeApiKey', { scope, id }, { token: owner.token })),
  );
  expect(outcomes(answers)).toEqual({ 200: 1, 409: 19 });
  expect(answers.find(({ status }) => status === 409)?.code).toBe('INVALID_STATE');
});

it('issues no token after a revocation, in every interleaving', async () => {
  const as = { token: owner.token };
  for (let round = 0; round < 20; round++) {
    const key = await app.must('createApiKey', { scope }, as);
    const exchange = { clientId: key.clientId, clientSecret: key.clientSecret as string, scope: key.scope };
    const [, ...minted] = await Promise.all([
      app.must('revokeApiKey', { scope, id: key.id }, as),
      ...Array.from({ length: 4 }, () => app.call('exchangeApiKey', exchange)),
    ]);
    expect((await app.call('exchangeApiKey', exchange)).code).toBe('UNAUTHENTICATED');
    for (const { ok, data } of minted) {
      if (ok) expect((await app.call('tags', { scope }, { token: data.accessToken })).status).toBe(401);
    }
  }
});
