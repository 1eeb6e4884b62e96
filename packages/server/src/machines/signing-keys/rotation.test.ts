import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Rotation of a project's keys: which key signs, which are published, and which are refused. */
let app: TestApp;
let owner: Person;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
});
afterAll(() => app.close());

async function project() {
  const as = { token: owner.token };
  const { scope, id } = await app.must('createProject', { scope: owner.account, name: 'P' }, as);
  const key = await app.must('createApiKey', { scope }, as);
  const { clientId } = key;
  const clientSecret = key.clientSecret as string;
  return {
    scope,
    token: async () =>
      (await app.must('exchangeApiKey', { clientId, clientSecret, scope: key.scope })).accessToken,
    jwks: async () =>
      (
        await app.server.inject(`/acc/${owner.account.id}/prj/${id}/.well-known/jwks.json`)
      ).json<JSONWebKeySet>(),
    issuer: `http://localhost:4000/acc/${owner.account.id}/prj/${id}`,
  };
}

const verifies = async (token: string, jwks: JSONWebKeySet, issuer: string): Promise<boolean> =>
  jwtVerify(token, createLocalJWKSet(jwks), { issuer, algorithms: ['RS256'] }).then(
    () => true,
    () => false,
  );
const kidsOf = ({ keys }: JSONWebKeySet) => keys.map(({ kid }) => kid);

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const rotate = (scope: ScopeRef, input: object = {}, token = owner.token) =>
    app.raw('rotateSigningKey', { scope, ...input }, { via, token });

  it('signs with the key that was published as the next one, and keeps the old one published', async () => {
    const { scope, token, jwks, issuer } = await project();
    const before = await jwks();
    const old = await token();
    const { data } = await rotate(scope);
    const after = await jwks();
    const next = kidsOf(before).find((kid) => kid !== decodeProtectedHeader(old).kid);
    expect(data).toMatchObject({ kid: next, status: 'active', isActive: true });
    expect(kidsOf(after)).toEqual(expect.arrayContaining(kidsOf(before)));
    expect(kidsOf(after)).toHaveLength(3);
    const fresh = await token();
    expect(decodeProtectedHeader(fresh).kid).toBe(next);
    expect(await verifies(fresh, before, issuer)).toBe(true);
    expect(await verifies(old, after, issuer)).toBe(true);
    expect((await app.call('tags', { scope }, { token: old })).ok).toBe(true);
  });

  it('revokes a leaked key at once', async () => {
    const { scope, token, jwks, issuer } = await project();
    const oldest = await token();
    await rotate(scope);
    const old = await token();
    expect((await app.call('tags', { scope }, { token: oldest })).ok).toBe(true);
    expect((await rotate(scope, { revokeOld: true })).ok).toBe(true);
    const after = await jwks();
    expect(kidsOf(after)).toHaveLength(2);
    for (const revoked of [oldest, old]) {
      expect(await verifies(revoked, after, issuer)).toBe(false);
      expect((await app.call('tags', { scope }, { token: revoked })).status).toBe(401);
    }
    const fresh = await token();
    expect(await verifies(fresh, after, issuer)).toBe(true);
    expect((await app.call('tags', { scope }, { token: fresh })).ok).toBe(true);
  });

  it('refuses API keys', async () => {
    const { scope, token } = await project();
    expect((await rotate(scope, {}, await token())).code).toBe('SESSION_REQUIRED');
  });

  it('leaves one key of each status after concurrent rotations', { tags: 'race' }, async () => {
    const { scope } = await project();
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(scope)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const { items } = await app.must('signingKeys', { scope }, { token: owner.token });
    const states = items.map(({ status }) => status).sort();
    expect(states).toEqual(['active', 'next', ...Array.from({ length: 5 }, () => 'retired')]);
  });
});

it('never issues a token whose key was already unpublished', { tags: 'race' }, async () => {
  const { scope, token, jwks, issuer } = await project();
  for (let round = 0; round < 10; round++) {
    const revokeOld = round % 2 === 1;
    const [, ...minted] = await Promise.all([
      app.must('rotateSigningKey', { scope, revokeOld }, { token: owner.token }),
      ...Array.from({ length: 4 }, token),
    ]);
    const published = await jwks();
    if (!revokeOld) for (const item of minted) expect(await verifies(item, published, issuer)).toBe(true);
    expect(await verifies(await token(), published, issuer)).toBe(true);
  }
});
