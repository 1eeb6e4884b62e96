import { sql } from 'drizzle-orm';
import { decodeProtectedHeader, type JSONWebKeySet } from 'jose';
import { expect, it } from 'vitest';
import { startOwnApp } from '../../../test/support/app/app.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';

/** The key of session tokens rotates automatically when it is due, once among concurrent processes. */
it('rotates the system key when it is due, and sessions stay valid', { tags: 'race' }, async () => {
  const app = await startOwnApp({ JWT_SYSTEM_KEY_ROTATION_DAYS: '90' });
  const { rotateSystemKey } = app.app;
  const kids = async () => {
    const { keys } = (await app.server.inject('/.well-known/jwks.json')).json<JSONWebKeySet>();
    return keys.map(({ kid }) => kid);
  };
  const person = await app.person();
  expect(await rotateSystemKey()).toBe(false);
  const before = await kids();

  // Makes only the key older, and does not advance the clock, so that sessions do not expire.
  await app.database.pool.execute(
    sql`update signing_keys set activated_at = now() - interval '90 days' where tenant_id = ${SYSTEM_NODE} and status = 'active'`,
  );
  const rotated = await Promise.all([rotateSystemKey(), rotateSystemKey(), rotateSystemKey()]);
  expect(rotated.filter(Boolean)).toHaveLength(1);
  expect(await rotateSystemKey()).toBe(false);

  const old = decodeProtectedHeader(person.token).kid;
  const next = before.find((kid) => kid !== old);
  expect(await kids()).toEqual(expect.arrayContaining([old, next]));
  expect((await app.call('me', {}, { token: person.token })).ok).toBe(true);
  const { accessToken } = await app.must('refreshSession', {
    accessToken: person.token,
    refreshToken: person.refreshToken,
  });
  expect(decodeProtectedHeader(accessToken).kid).toBe(next);
  expect((await app.call('me', {}, { token: accessToken })).ok).toBe(true);

  const entries = await rowsOf<{ operation: string; event: string; actor: object }>(
    app.database.pool,
    sql`select operation, event, actor from audit_log where tenant_id = ${SYSTEM_NODE}`,
  );
  expect(entries).toMatchObject([
    { operation: 'rotateSystemKey', event: 'signing_key.rotated', actor: { type: 'system', id: null } },
  ]);
  await app.close();
});

it('never rotates it with JWT_SYSTEM_KEY_ROTATION_DAYS=0', async () => {
  const app = await startOwnApp({ JWT_SYSTEM_KEY_ROTATION_DAYS: '0' });
  await app.database.pool.execute(sql`update signing_keys set activated_at = now() - interval '9 years'`);
  expect(await app.app.rotateSystemKey()).toBe(false);
  await app.close();
});
