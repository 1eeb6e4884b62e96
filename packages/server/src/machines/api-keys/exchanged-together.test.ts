import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { signingKeys } from '../../schema/machines/signing-key.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { apiKeys, apiKeySecrets } from '../../schema/machines/api-key.ts';

/** Exchanges in one group commit, from both endpoints, use cached keys; the locking statement decides. */
let app: TestApp;
let owner: Person;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
});
afterAll(() => app.close());

const AT_ONCE = 6;
const STALE = 3;

const endpoints = ['exchangeApiKey', 'projectToken'] as const;
type Endpoint = (typeof endpoints)[number];

/** Creates keys and exchanges each once, so that they are in the cache of this process. */
async function knownKeys() {
  const as = { token: owner.token };
  const { scope, id: projectId } = await app.must('createProject', { scope: owner.account, name: 'P' }, as);
  const make = () => app.must('createApiKey', { scope }, as);
  const keys = await Promise.all(Array.from({ length: AT_ONCE }, make));
  const exchange = (place: number, endpoint = endpoints[place % endpoints.length]) => {
    const { clientId, clientSecret, scope: own } = keys[place] as (typeof keys)[number];
    const secret = clientSecret as string;
    return endpoint === 'projectToken'
      ? app.call(endpoint, { grant_type: 'client_credentials', client_id: clientId, client_secret: secret })
      : app.call('exchangeApiKey', { clientId, clientSecret: secret, scope: own });
  };
  const allAtOnce = (endpoint?: Endpoint) => Promise.all(keys.map((_, place) => exchange(place, endpoint)));
  for (const { ok } of await allAtOnce()) expect(ok).toBe(true);
  return { keys, projectId, exchange, allAtOnce };
}

const entriesOf = async (projectId: string) => {
  const rows = await app.database.pool
    .select({ outcome: auditLog.outcome, target: sql<string>`target->>'id'` })
    .from(auditLog)
    .where(sql`operation in ('exchangeApiKey', 'projectToken') and tenant_id = ${projectId}`);
  return rows.map(({ outcome, target }) => `${target} ${outcome}`).sort();
};

const now = sql`now()`;
// The change is written directly to the database, without invalidation, as if by another process at the same moment.
it.each([
  ['revoked', { revokedAt: now }],
  ['deleted', { deletedAt: now }],
  ['given an end', { expiresAt: now }],
  ['given another secret', null],
])('one that was %s meanwhile gives nothing, and the others all', { tags: 'race' }, async (_name, change) => {
  const { keys, projectId, exchange, allAtOnce } = await knownKeys();
  const id = keys[STALE]?.id ?? '';
  if (change) await app.owner.update(apiKeys).set(change).where(eq(apiKeys.id, id));
  else await app.owner.delete(apiKeySecrets).where(eq(apiKeySecrets.keyId, id));
  const answers = await allAtOnce();
  expect(answers.map(({ status }) => status)).toEqual(keys.map((_, place) => (place === STALE ? 401 : 200)));
  const written = keys.flatMap(({ id }, place) => [
    `${id} success`,
    `${id} ${place === STALE ? 'failed' : 'success'}`,
  ]);
  expect(await entriesOf(projectId)).toEqual(written.sort());
  expect((await exchange(STALE)).code).toBe('UNAUTHENTICATED');
});

it('are all signed again if their signing key was revoked in between', { tags: 'race' }, async () => {
  const { keys, projectId, allAtOnce } = await knownKeys();
  const before = (await allAtOnce()).map(({ data }) => data.accessToken);
  await app.owner.transaction(async (tx) => {
    const become = (status: 'active' | 'revoked', from: 'active' | 'next') =>
      tx
        .update(signingKeys)
        .set({ status })
        .where(sql`${signingKeys.tenantId} = ${projectId} and ${signingKeys.status} = ${from}`);
    await become('revoked', 'active');
    await become('active', 'next');
  });
  const answers = await allAtOnce();
  expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200));
  for (const { data } of answers) expect(before).not.toContain(data.accessToken);
});

it.runIf(inject('postgresUrl')).each(endpoints)(
  'of %s lock their keys together',
  { tags: 'race' },
  async (endpoint) => {
    const { allAtOnce } = await knownKeys();
    const requested = (await app.spent(() => allAtOnce(endpoint))).filter((text) =>
      text.includes('from api_keys where id'),
    );
    // One statement per commit; the first commit runs alone while the other exchanges arrive.
    expect(requested.length).toBeLessThan(AT_ONCE);
  },
);
