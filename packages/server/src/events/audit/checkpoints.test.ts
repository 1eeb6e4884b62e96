import { generateKeyPairSync } from 'node:crypto';
import { and, desc, eq, sql } from 'drizzle-orm';
import { decodeJwt, decodeProtectedHeader, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { signJwt } from '../../crypto/tokens/jwt.ts';
import { createKeyring } from '../../crypto/keys/keyring.ts';
import { signingKeys } from '../../schema/machines/signing-key.ts';
import { openChanges } from '../../db/cache/changes.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { nodes, SYSTEM_NODE } from '../../schema/nodes.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { sealEntry, type ChainEntry, type Sealing } from './audit-chain.ts';
import { checkpointReader } from './read-checkpoint.ts';
import { verifyExport } from '../../../../node/src/audit.ts';

/** Checkpoints: when they are signed, what they prove, and that they are not access tokens. */
let app: TestApp;
let owner: Person;
let project: { readonly id: string; readonly scope: ScopeRef };

beforeAll(async () => {
  app = await startOwnApp({ SECURITY_RATE_LIMIT_EXPORT_MAX: '100' });
  owner = await app.person({ name: 'Ada' });
  project = await app.must('createProject', { scope: owner.account, name: 'P' }, { token: owner.token });
  await app.must('createTag', { scope: project.scope, name: 'T' }, { token: owner.token });
});
afterAll(() => app.close());

type Sealed = ChainEntry & Sealing;
const token = async (): Promise<string> => {
  const { email, password } = owner;
  const provider = { provider: 'email', providerId: email, providerData: { password } } as const;
  return ((await app.must('login', provider)) as { accessToken: string }).accessToken;
};
const exported = async (): Promise<string[]> => {
  const { body } = await app.raw('exportAuditLogs', { scope: project.scope }, { token: await token() });
  return body.split('\n').slice(0, -1);
};
const published = async (name: string) =>
  (await app.server.inject(`/.well-known/${name}.json`)).json<JSONWebKeySet>();
const jwks = () => published('audit-jwks');
const verify = async (lines: readonly string[]) =>
  verifyExport(lines, {
    filtered: false,
    end: 'own entry',
    readCheckpoint: checkpointReader(await jwks()),
  });
const signed = (lines: readonly string[]) =>
  lines.map((line) => JSON.parse(line) as Sealed).filter(({ operation }) => operation === 'auditCheckpoint');
const jwsOf = ({ metadata }: Sealed): string => (metadata as { jws: string }).jws;

it('are signed daily for every log with new entries', async () => {
  expect(await app.app.signAuditLogs()).toBe(0);
  app.clock.advance(24 * 3_600_000 + 1000);
  const logs = await app.database.pool
    .select()
    .from(nodes)
    .where(sql`audit_sequence > 0`);
  expect(logs.map(({ id }) => id)).toEqual(expect.arrayContaining([project.id, owner.account.id]));
  expect(await app.app.signAuditLogs()).toBe(logs.length);
  expect(await app.app.signAuditLogs()).toBe(0);
  const lines = await exported();
  const [checkpoint, ...more] = signed(lines) as [Sealed];
  expect(more).toEqual([]);
  const covered = JSON.parse(lines[1] as string) as Sealed;
  expect(checkpoint).toMatchObject({
    sequence: 3,
    outcome: 'success',
    event: null,
    actor: { type: 'system', id: null },
    metadata: { sequence: 2, hash: covered.hash },
  });
  expect(decodeJwt(jwsOf(checkpoint))).toEqual({
    iss: 'http://localhost:4000',
    type: 'auditCheckpoint',
    scope: project.scope,
    sequence: 2,
    hash: covered.hash,
    iat: expect.any(Number) as number,
  });
  // A checkpoint alone is not a new entry.
  app.clock.advance(24 * 3_600_000 + 1000);
  await app.app.signAuditLogs();
  const [{ audit } = { audit: -1 }] = await app.database.pool
    .select({ audit: nodes.auditSequence })
    .from(nodes)
    .where(eq(nodes.id, project.id));
  app.clock.advance(24 * 3_600_000 + 1000);
  await app.app.signAuditLogs();
  expect((await exported()).length).toBe(audit + 1);
});

it('leave no entry unsigned that was added during their signing', async () => {
  const logOf = async () => {
    const [row] = await app.database.pool.select().from(nodes).where(eq(nodes.id, project.id));
    return row?.auditSequence ?? 0;
  };
  const lastSigned = async () => {
    const [row] = await app.database.pool
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.tenantId, project.id), eq(auditLog.operation, 'auditCheckpoint')))
      .orderBy(desc(auditLog.sequence));
    return { at: row?.sequence ?? 0, upTo: (row?.metadata as { sequence: number }).sequence };
  };
  // Until the checkpoint is the last entry and does not cover the one before it.
  for (let isBetween = false; !isBetween;) {
    app.clock.advance(24 * 3_600_000 + 1000);
    const tag = { scope: project.scope, name: unique() };
    const as = { token: await token() };
    await Promise.all([app.app.signAuditLogs(), app.must('createTag', tag, as)]);
    const { at, upTo } = await lastSigned();
    isBetween = at > upTo + 1 && at === (await logOf());
  }
  const before = await logOf();
  app.clock.advance(24 * 3_600_000 + 1000);
  await app.app.signAuditLogs();
  expect((await lastSigned()).upTo).toBe(before);
});

it('are signed after a thousand entries', async () => {
  // Pretends that the log got this many entries after its last checkpoint.
  const since = (count: number) =>
    app.database.pool
      .update(nodes)
      .set({ auditCheckpoint: sql`${nodes.auditSequence} - ${count}::int` })
      .where(eq(nodes.id, project.id));
  await app.app.signAuditLogs();
  await since(999);
  expect(await app.app.signAuditLogs()).toBe(0);
  await since(1000);
  const both = [app.app.signAuditLogs(), app.app.signAuditLogs()];
  expect(await Promise.all(both)).toEqual([1, 1]);
  expect(await app.app.signAuditLogs()).toBe(0);
});

it('prove the entries before them with the published keys', async () => {
  const lines = await exported();
  const last = signed(lines).at(-1) as Sealed;
  const upTo = (last.metadata as { sequence: number }).sequence;
  expect(await verify(lines)).toMatchObject({ fault: null, chains: [{ signedUpTo: upTo }] });

  // The whole chain recomputed, with valid hashes: only the signature reveals it.
  const forge = (change: (entry: ChainEntry) => ChainEntry): string[] => {
    let previous = '0'.repeat(64);
    return lines.map((text) => {
      const {
        previousHash: _,
        hash: __,
        personalDigest: ___,
        salt: ____,
        ...entry
      } = JSON.parse(text) as Sealed;
      const made = change(entry);
      const sealing = sealEntry(made, previous);
      previous = sealing.hash;
      return JSON.stringify({ ...made, ...sealing });
    });
  };
  const rewritten = forge((entry) => (entry.sequence === 2 ? { ...entry, operation: 'x' } : entry));
  const alone = { filtered: false, end: 'own entry' } as const;
  expect((await verifyExport(rewritten, alone)).fault).toBeNull();
  expect((await verify(rewritten)).fault).toMatchObject({ line: 3, sequence: 3, kind: 'bad checkpoint' });

  // Signed with another key, or for another log.
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { kid } = (await jwks()).keys[0] as { kid: string };
  const first = signed(lines)[0] as Sealed;
  const own = await signJwt(privateKey, kid, decodeJwt(jwsOf(first)));
  const bySomebody = forge((entry) =>
    entry.sequence === 3 ? { ...entry, metadata: { ...(first.metadata as object), jws: own } } : entry,
  );
  expect((await verify(bySomebody)).fault).toMatchObject({ line: 3, kind: 'bad checkpoint' });
  const other = { ...project.scope, id: owner.account.id };
  const { body } = await app.raw(
    'exportAuditLogs',
    { scope: { tenant: 'account', id: other.id }, operation: 'auditCheckpoint' },
    { token: await token() },
  );
  const foreign = JSON.parse(body.split('\n')[0] as string) as Sealed;
  const ofAnother = forge((entry) =>
    entry.sequence === 3 ? { ...entry, metadata: foreign.metadata } : entry,
  );
  expect((await verify(ofAnother)).fault).toMatchObject({ line: 3, kind: 'bad checkpoint' });
});

it('are no access tokens, not even with all claims of a session', async () => {
  const jws = jwsOf(signed(await exported())[0] as Sealed);
  expect((await app.raw('me', {}, { token: jws })).code).toBe('UNAUTHENTICATED');
  const changes = await openChanges(app.database, () => undefined);
  const keyring = createKeyring({ pool: app.database.pool, kek: app.app.kek, changes });
  const claims = decodeJwt(await token());
  const answers: unknown[] = [];
  for (const type of ['session', 'auditCheckpoint']) {
    const made = await keyring.signIn(app.database.pool, SYSTEM_NODE, { ...claims, type });
    answers.push((await app.raw('me', {}, { token: made })).code);
  }
  expect(answers).toEqual([null, 'UNAUTHENTICATED']);
  await changes.close();
});

it('stay verifiable by published keys after their key left the JWKS for tokens, unless it was revoked', async () => {
  const { kid = '' } = decodeProtectedHeader(jwsOf(signed(await exported())[0] as Sealed));
  const kids = async (name: string) => (await published(name)).keys.map((key) => key.kid);
  const become = (status: 'retired' | 'revoked') =>
    app.database.pool
      .update(signingKeys)
      .set({
        status,
        retiredAt: sql`now() - interval '3 years'`,
        publishedUntil: sql`now() - interval '3 years'`,
      })
      .where(eq(signingKeys.kid, kid));
  expect(await kids('jwks')).toContain(kid);
  app.clock.advance(91 * 24 * 3_600_000);
  await app.app.rotateSystemKey();
  await become('retired');
  expect(await kids('jwks')).not.toContain(kid);
  expect(await kids('audit-jwks')).toEqual([kid, expect.any(String)]);
  expect((await verify(await exported())).fault).toBeNull();
  await become('revoked');
  expect(await kids('audit-jwks')).not.toContain(kid);
  expect((await verify(await exported())).fault).toMatchObject({ kind: 'bad checkpoint' });
});
