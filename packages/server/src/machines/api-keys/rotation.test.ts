import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { apiKeySecrets } from '../../schema/machines/api-key.ts';

/** Rotation of a key: which secrets work, for how long, and who may rotate. */
let app: TestApp;
let owner: Person;
let organization: ScopeRef;
let scope: ScopeRef;
let projectId: string;

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person({ type: 'organization' });
  const as = { token: owner.token };
  const created = await app.must('createOrganization', { scope: owner.account, name: 'O' }, as);
  organization = { tenant: 'organization', id: created.id };
  ({ scope, id: projectId } = await app.must('createProject', { scope: organization, name: 'P' }, as));
});
afterAll(() => app.close());

type RoleName = Parameters<typeof roleIdOf>[0];
type Pair = Readonly<{ id: string; clientId: string; clientSecret: string; scope: ScopeRef }>;

const newKey = async (input: object = {}) =>
  (await app.must('createApiKey', { scope, ...input }, { token: owner.token })) as Pair;

const exchange = ({ clientId, clientSecret, scope: own }: Pair, secret = clientSecret) =>
  app.call('exchangeApiKey', { clientId, clientSecret: secret, scope: own });

/** A user with a role in the organization, and with roles in the project. */
async function colleague(role: RoleName, ...projectRoles: RoleName[]): Promise<Person> {
  const person = await app.person();
  const as = { token: owner.token };
  await app.must('inviteMember', { scope: organization, email: person.email, roleId: roleIdOf(role) }, as);
  await app.must('acceptInvitation', { token: await app.mailedToken(person.email) }, { token: person.token });
  if (projectRoles.length > 0) {
    const roleIds = projectRoles.map((name) => roleIdOf(name));
    await app.must('createUser', { scope, userId: person.userId, roleIds }, as);
  }
  return person;
}

/** Ends the overlap in the database, because the clock of the database decides. */
const endOverlap = (keyId: string) =>
  app.database.pool
    .update(apiKeySecrets)
    .set({ expiresAt: sql`now() - interval '1 second'` })
    .where(sql`${apiKeySecrets.keyId} = ${keyId} and ${apiKeySecrets.expiresAt} is not null`);

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const rotate = (input: object, token = owner.token, headers: Record<string, string> = {}) =>
    app.raw('rotateApiKey', { scope, ...input }, { via, token, headers });
  const secretOf = ({ data }: { data: unknown }) => (data as Pair).clientSecret;

  it('keeps the id and the clientId, and both secrets for the overlap', async () => {
    const key = await newKey();
    const token = (await exchange(key)).data.accessToken;
    const rotated = await rotate({ id: key.id });
    expect(rotated).toMatchObject({
      ok: true,
      data: { id: key.id, clientId: key.clientId, status: 'active' },
    });
    const { rotatedAt, previousSecretExpiresAt } = rotated.data as Record<string, string>;
    expect(Date.parse(previousSecretExpiresAt as string) - Date.parse(rotatedAt as string)).toBe(86_400_000);
    expect(secretOf(rotated)).not.toBe(key.clientSecret);
    expect((await exchange(key)).ok).toBe(true);
    expect((await exchange(key, secretOf(rotated))).ok).toBe(true);
    expect((await app.call('tags', { scope }, { token })).ok).toBe(true);
    await endOverlap(key.id);
    expect((await exchange(key)).code).toBe('UNAUTHENTICATED');
    expect((await exchange(key, secretOf(rotated))).ok).toBe(true);
  });

  it('ends the old secret at once without an overlap', async () => {
    const key = await newKey();
    const rotated = await rotate({ id: key.id, graceSeconds: 0 });
    expect(rotated.data).toMatchObject({ previousSecretExpiresAt: null });
    expect((await exchange(key)).code).toBe('UNAUTHENTICATED');
    expect((await exchange(key, secretOf(rotated))).ok).toBe(true);
  });

  it('never leaves more than two secrets', async () => {
    const key = await newKey();
    const second = await rotate({ id: key.id, graceSeconds: 2_592_000 });
    const third = await rotate({ id: key.id });
    expect((await exchange(key)).code).toBe('UNAUTHENTICATED');
    expect((await exchange(key, secretOf(second))).ok).toBe(true);
    expect((await exchange(key, secretOf(third))).ok).toBe(true);
    const stored = await app.database.pool
      .select()
      .from(apiKeySecrets)
      .where(eq(apiKeySecrets.keyId, key.id));
    expect(stored).toHaveLength(2);
  });

  it('is refused for a revoked key, a bad overlap and an unknown id', async () => {
    const key = await newKey();
    await app.must('revokeApiKey', { scope, id: key.id }, { token: owner.token });
    expect((await rotate({ id: key.id })).code).toBe('INVALID_STATE');
    for (const graceSeconds of [-1, 2_592_001]) {
      expect(await rotate({ id: key.id, graceSeconds })).toMatchObject({ code: 'VALIDATION_ERROR' });
    }
    expect((await rotate({ id: '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11' })).code).toBe('NOT_FOUND');
  });

  it('is refused for a key that holds more than the caller', async () => {
    const manager = await colleague('Organization Developer');
    const strong = await newKey({ roleId: roleIdOf('Project Admin') });
    const weak = await newKey({ roleId: roleIdOf('Project Viewer') });
    expect((await rotate({ id: strong.id }, manager.token)).code).toBe('PRIVILEGE_ESCALATION');
    expect((await exchange(strong)).ok).toBe(true);
    expect((await rotate({ id: weak.id }, manager.token)).ok).toBe(true);
  });

  it('is refused for the key of another user without the right to create such keys', async () => {
    const reader = await colleague('Organization Viewer', 'Project Viewer');
    const manager = await colleague('Organization Developer');
    const userScope: ScopeRef = { tenant: 'projectUser', id: `${projectId}:${reader.userId}` };
    const key = (await app.must('createApiKey', { scope: userScope }, { token: owner.token })) as Pair;
    expect(await rotate({ id: key.id }, manager.token)).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'NO_PERMISSION',
    });
    expect((await rotate({ id: key.id })).ok).toBe(true);
  });

  it('answers a repeated request with the same key and without its secret', async () => {
    const key = await newKey();
    const headers = { 'idempotency-key': `rotate-${via}` };
    const first = await rotate({ id: key.id }, owner.token, headers);
    const again = await rotate({ id: key.id }, owner.token, headers);
    expect(again.data).toMatchObject({ id: key.id, clientSecret: null });
    expect((await exchange(key, secretOf(first))).ok).toBe(true);
    expect((await exchange(key)).ok).toBe(true);
  });

  it('is recorded, without the secret', async () => {
    const key = await newKey();
    const rotated = await rotate({ id: key.id, graceSeconds: 60 });
    const { pool } = app.database;
    const [event] = await rowsOf<{ body: { data: object } }>(
      pool,
      sql`select body from ${events} where type = 'api_key.rotated' order by sequence desc limit 1`,
    );
    expect(event?.body.data).toMatchObject({
      id: key.id,
      previousSecretExpiresAt: expect.any(String) as string,
    });
    const [entry] = await rowsOf<{ text: string }>(
      pool,
      sql`select to_jsonb(a)::text as text from ${auditLog} a where operation = 'rotateApiKey' order by sequence desc limit 1`,
    );
    expect(entry?.text).toContain('"graceSeconds": 60');
    expect(entry?.text).not.toContain(secretOf(rotated));
  });
});

it('ends a secret for every exchange that begins after the answer', { tags: 'race' }, async () => {
  const key = await newKey();
  let current = key.clientSecret;
  for (let round = 0; round < 10; round++) {
    const old = current;
    const [rotated, ...beside] = await Promise.all([
      app.must('rotateApiKey', { scope, id: key.id, graceSeconds: 0 }, { token: owner.token }),
      ...Array.from({ length: 4 }, () => exchange(key, old)),
    ]);
    for (const answer of beside) expect([200, 401]).toContain(answer.status);
    current = rotated.clientSecret as string;
    expect((await exchange(key, old)).status).toBe(401);
    expect((await exchange(key, current)).status).toBe(200);
  }
});

it('needs a recent sign-in of a user, but not of a key', async () => {
  const key = await newKey({ roleId: roleIdOf('Project Admin') });
  app.clock.advance(16 * 60_000);
  const refreshed = await app.must('refreshSession', {
    accessToken: owner.token,
    refreshToken: owner.refreshToken,
  });
  const rotate = (token: string) => app.call('rotateApiKey', { scope, id: key.id }, { token });
  expect((await rotate(refreshed.accessToken)).code).toBe('STEP_UP_REQUIRED');
  expect((await rotate((await exchange(key)).data.accessToken)).ok).toBe(true);
});
