import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person, Via } from '../../../test/support/app/client.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { apiKeys } from '../../schema/machines/api-key.ts';

/** Allowed networks of keys, and the record of their last use and revocation. */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let as: { token: string };

beforeAll(async () => {
  app = await startApp({ SECURITY_TRUSTED_PROXIES: '127.0.0.1/32' });
  owner = await app.person();
  as = { token: owner.token };
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, as));
});
afterAll(() => app.close());

interface Pair {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: ScopeRef;
}
const newKey = async (input: object = {}) =>
  (await app.must('createApiKey', { scope, ...input }, as)) as unknown as Pair;
const from = (address: string) => ({ 'x-forwarded-for': address });
const exchange = ({ clientId, clientSecret, scope: own }: Pair, via: Via, address: string) =>
  app.call('exchangeApiKey', { clientId, clientSecret, scope: own }, { via, headers: from(address) });

describe.each(storyTransports(import.meta))('over %s', (via) => {
  it.each([
    ['one IPv4 address', '203.0.113.7/32', ['203.0.113.7'], ['203.0.113.6', '203.0.113.8']],
    ['an IPv4 network', '203.0.113.0/24', ['203.0.113.255'], ['203.0.112.255', '2001:db8::1']],
    ['a network with bits of a host', '10.1.2.3/8', ['10.255.0.1'], ['11.0.0.1']],
    ['all of IPv4', '0.0.0.0/0', ['198.51.100.1', '::ffff:198.51.100.1'], ['2001:db8::1']],
    ['one IPv6 address', '2001:DB8::7/128', ['2001:db8:0:0::7'], ['2001:db8::8']],
    ['an IPv6 network', '2001:db8::/33', ['2001:db8:7fff::1'], ['2001:db8:8000::1', '203.0.113.7']],
    ['all of IPv6', '::/0', ['2001:db8::1'], ['203.0.113.7']],
    ['a mapped network', '::ffff:203.0.113.0/120', ['203.0.113.7', '::ffff:cb00:7107'], ['203.0.114.7']],
  ])('works from %s and from nowhere else', async (_name, cidr, inside, outside) => {
    const key = await newKey({ allowedCidrs: ['192.0.2.1/32', cidr] });
    const { accessToken } = (await exchange(key, via, inside[0] as string)).data;
    const use = (address: string) =>
      app.raw('tags', { scope }, { via, token: accessToken, headers: from(address) });
    for (const address of inside) {
      expect((await exchange(key, via, address)).ok, address).toBe(true);
      expect((await use(address)).ok, address).toBe(true);
    }
    for (const address of outside) {
      expect((await exchange(key, via, address)).code, address).toBe('UNAUTHENTICATED');
      expect((await use(address)).code, address).toBe('UNAUTHENTICATED');
    }
  });

  it('works from anywhere without allowed networks', async () => {
    const key = await newKey({ allowedCidrs: [] });
    for (const address of ['203.0.113.7', '2001:db8::1']) {
      expect((await exchange(key, via, address)).ok).toBe(true);
    }
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '010.0.0.0/8',
    ' 10.0.0.0/8',
    '10.0.0/8',
    '::/129',
    '::ffff:10.0.0.0/8',
    'fe80::1%eth0/64',
    'example.com/24',
    '',
  ])('refuses the network %j', async (cidr) => {
    const answer = await app.raw(
      'createApiKey',
      { scope, allowedCidrs: ['10.0.0.0/8', cidr] },
      { via, ...as },
    );
    expect(answer).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'allowedCidrs.1', code: 'format' }],
    });
  });

  it('has at most twenty networks, without duplicates', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => `10.0.${n}.0/24`);
    const created = await app.raw(
      'createApiKey',
      { scope, allowedCidrs: [...many(19), '10.0.0.0/24'] },
      { via, ...as },
    );
    expect(created.data).toMatchObject({ allowedCidrs: many(19) });
    const refused = await app.raw('createApiKey', { scope, allowedCidrs: many(21) }, { via, ...as });
    expect(refused.details).toMatchObject([{ path: 'allowedCidrs' }]);
  });

  it('records when and from where it was last exchanged, once a minute', async () => {
    const key = await newKey();
    const read = () => app.must('apiKey', { scope, id: key.id }, { via, ...as });
    expect(await read()).toMatchObject({ lastUsedAt: null, lastUsedIp: null });
    const wrong = { ...key, clientSecret: key.clientSecret.replace(/.$/, '!') };
    expect((await exchange(wrong, via, '203.0.113.6')).ok).toBe(false);
    expect(await read()).toMatchObject({ lastUsedAt: null, lastUsedIp: null });
    expect((await exchange(key, via, '203.0.113.7')).ok).toBe(true);
    const first = await read();
    expect(first).toMatchObject({ lastUsedIp: '203.0.113.7', lastUsedAt: expect.any(String) as string });
    expect((await exchange(key, via, '203.0.113.8')).ok).toBe(true);
    expect(await read()).toEqual(first);
    await app.database.pool
      .update(apiKeys)
      .set({ lastUsedAt: sql`last_used_at - interval '61 seconds'` })
      .where(eq(apiKeys.id, key.id));
    // The minute has passed only in the database. A change of rights in the project makes the cache reload the key.
    await app.must('createGroup', { scope, name: `${via} ${key.id}` }, as);
    expect((await exchange(key, via, '2001:DB8::8')).ok).toBe(true);
    const second = await read();
    expect(second.lastUsedIp).toBe('2001:db8::8');
    expect(Date.parse(second.lastUsedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(first.lastUsedAt ?? ''));
    expect(second.updatedAt).toBe(first.updatedAt);
  });

  it.each([
    ['expired', { expiresAt: sql`now()` }],
    ['was deleted', { deletedAt: sql`now()` }],
  ])('keeps no use of one that %s since it was remembered', async (_name, ended) => {
    const key = await newKey();
    const wrong = { ...key, clientSecret: key.clientSecret.replace(/.$/, '!') };
    expect((await exchange(wrong, via, '203.0.113.6')).ok).toBe(false);
    const { pool } = app.database;
    await pool.update(apiKeys).set(ended).where(eq(apiKeys.id, key.id));
    expect((await exchange(key, via, '203.0.113.7')).code).toBe('UNAUTHENTICATED');
    const [row] = await pool.select().from(apiKeys).where(eq(apiKeys.id, key.id));
    expect(row).toMatchObject({ lastUsedAt: null, lastUsedIp: null });
  });

  it('records who revoked it, when and why', async () => {
    const revoke = (id: string, input: object) =>
      app.raw('revokeApiKey', { scope, id, ...input }, { via, ...as });
    const reported = await revoke((await newKey()).id, { reason: '  leaked to a log  ' });
    expect(reported.data).toMatchObject({
      status: 'revoked',
      revokedBy: owner.userId,
      revokedAt: expect.any(String) as string,
      revokedReason: 'leaked to a log',
    });
    const about = { scope, operation: 'revokeApiKey', targetId: (reported.data as { id: string }).id };
    const { items } = await app.must('auditLogs', about, { via, ...as });
    expect(items).toMatchObject([{ metadata: { reason: 'leaked to a log' } }]);
    const { id } = await newKey();
    for (const [reason, code] of [
      ['x'.repeat(256), 'too_long'],
      ['a\u0007b', 'format'],
      [' ', 'too_short'],
    ]) {
      expect((await revoke(id, { reason })).details, code).toMatchObject([{ path: 'reason', code }]);
    }
    expect((await revoke(id, {})).data).toMatchObject({ status: 'revoked', revokedReason: null });
    expect(await revoke(id, { reason: 'again' })).toMatchObject({ code: 'INVALID_STATE' });
    expect((await app.must('apiKey', { scope, id }, { via, ...as })).revokedReason).toBeNull();
  });
});

it('reads the address of a dual-stack socket', async () => {
  const key = await newKey({ allowedCidrs: ['203.0.113.0/24'] });
  const { clientId, clientSecret, scope: own } = key;
  const at = (remoteAddress: string) =>
    app.server.inject({
      method: 'POST',
      url: '/api/auth/token',
      remoteAddress,
      // The proxy is not trusted, so the header is ignored.
      headers: from('203.0.113.9'),
      payload: { clientId, clientSecret, scope: own },
    });
  expect((await at('::ffff:203.0.113.7')).statusCode).toBe(200);
  expect((await at('::ffff:198.51.100.7')).statusCode).toBe(401);
  const [entry] = await app.database.pool
    .select({ metadata: auditLog.metadata, ipAddress: auditLog.ipAddress })
    .from(auditLog)
    .where(sql`operation = 'exchangeApiKey' and target->>'id' = ${key.id} and outcome = 'failed'`);
  expect(entry).toMatchObject({ ipAddress: '198.51.100.7', metadata: { clientId, fault: 'network' } });
});
