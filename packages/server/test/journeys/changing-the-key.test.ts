import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { establishInstallation, WrongEncryptionKey } from '../../src/crypto/keys/installation.ts';
import { createKek, type Kek } from '../../src/crypto/keys/kek.ts';
import { hashSecret } from '../../src/crypto/tokens/secrets.ts';
import { installation, signingKeySecrets } from '../../src/schema/machines/signing-key.ts';
import { createMailOutbox } from '../../src/events/mail/mail-outbox.ts';
import { mails } from '../../src/schema/events/mail.ts';
import { apiKeySecrets } from '../../src/schema/machines/api-key.ts';
import { mfaFactors } from '../../src/schema/sign-in/mfa-factor.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { codeShown } from '../support/sign-in/authenticator.ts';
import { transports } from '../support/app/client.ts';
import { challengeOf, consented, newVerifier } from '../support/sign-in/project-code.ts';

/**
 * Changes the encryption key and removes the former one, in the order of docs/operating/keys-and-secrets.md: a start
 * with both keys, which encrypts all values again, and a start with the new key alone. Each start is a new app on the
 * data of the one before.
 */
const keys = [Buffer.alloc(32, 7), Buffer.alloc(32, 9)] as const;
const [former, current] = [keys[0].toString('base64'), keys[1].toString('base64')];
const { currentPrefix: mark } = createKek({ current: keys[1], old: [] });

let before: TestApp;
let both: TestApp;
let started: TestApp[];

beforeAll(async () => {
  before = await startOwnApp();
  started = [before];
});
afterAll(async () => {
  for (const app of started.toReversed()) await app.close();
});

async function start(env: Record<string, string>, beside: TestApp): Promise<TestApp> {
  const app = await startOwnApp(env, beside);
  started.push(app);
  return app;
}

/** The work of the service at its start. */
const established = ({ database: { pool } }: TestApp, kek: Kek) =>
  establishInstallation(pool, {
    kek,
    keyPairs: { take: () => Promise.reject(new Error('no pair is needed')) },
    ids: { next: () => '', random: () => '' },
    issuer: '',
  });

const sealedIn = async ({ database: { pool } }: TestApp): Promise<string[]> => [
  ...(await pool.select({ text: signingKeySecrets.sealed }).from(signingKeySecrets)).map(({ text }) => text),
  ...(await pool.select({ text: mfaFactors.sealedSecret }).from(mfaFactors)).map(({ text }) => text),
  ...(await pool.select({ text: mails.sealed }).from(mails)).map(({ text }) => text),
];
const canaryOf = async ({ database: { pool } }: TestApp): Promise<string> =>
  (await pool.select().from(installation).where(eq(installation.name, 'canary')))[0]?.value ?? '';

it('works during a change of the encryption key, and then without the former key', async () => {
  const ada = await before.person();
  const as = { token: ada.token };
  const { factor, secret } = await before.must('createMfaFactor', {}, as);
  const code = (app: TestApp) => {
    app.clock.advance(90_000);
    return codeShown(secret, app.clock.now());
  };
  const enrolled = await before.must(
    'verifyMfaFactor',
    { id: factor.id, code: codeShown(secret, before.clock.now()) },
    as,
  );
  const [recovery = ''] = enrolled.recoveryCodes ?? [];
  const session = { accessToken: enrolled.accessToken, refreshToken: ada.refreshToken };
  const owner = await before.person();
  const { scope } = await before.must(
    'createProject',
    { scope: owner.account, name: 'P' },
    { token: owner.token },
  );
  const once = { token: owner.token, headers: { 'idempotency-key': 'before-the-change' } };
  const key = await before.must('createApiKey', { scope }, once);
  const pair = { clientId: key.clientId, clientSecret: key.clientSecret as string, scope: key.scope };
  const idle = await before.must('createApiKey', { scope }, { token: owner.token });
  const idlePair = { clientId: idle.clientId, clientSecret: idle.clientSecret as string, scope };
  const minted = (await before.must('exchangeApiKey', pair)).accessToken;
  const redirectUri = 'https://app.example/callback';
  const requested = { scope, name: 'App', redirectUris: [redirectUri], confidential: true };
  const { id: appId, ...app } = await before.must('createProjectApp', requested, { token: owner.token });
  const client = { client_id: app.clientId, client_secret: app.clientSecret ?? '' };
  const code_verifier = newVerifier();
  const consent = { appId, userId: owner.userId, redirectUri, challenge: challengeOf(code_verifier) };
  const forCode = { code: await consented(before, consent), redirect_uri: redirectUri, code_verifier };
  const ofApp = await before.must('projectToken', {
    grant_type: 'authorization_code',
    ...forCode,
    ...client,
  });
  const renewed = (at: TestApp, refresh_token: string | null) =>
    at.must('projectToken', {
      grant_type: 'refresh_token',
      refresh_token: refresh_token ?? '',
      ...client,
    });
  const outbox = createMailOutbox({
    pool: before.database.pool,
    kek: before.app.kek,
    mailer: { send: () => Promise.reject(new Error('nothing is sent here')) },
    clock: before.clock,
    ids: { next: () => factor.id, random: () => factor.id },
    log: () => undefined,
  });
  // It waits for its next attempt from the start, so that no change in between sends it.
  const inAnHour = new Date(before.clock.now().getTime() + 3_600_000);
  await before.database.transaction(async (tx) => {
    await outbox.queue(tx, { to: 'waiting@example.test', subject: 'S', text: 'T', html: 'H' });
    await tx.update(mails).set({ nextAttemptAt: inAnHour });
  });
  const canary = await canaryOf(before);

  // A start with the new key alone is refused before any write.
  await expect(established(before, createKek({ current: keys[1], old: [] }))).rejects.toThrow(
    WrongEncryptionKey,
  );

  both = await start({ ENCRYPTION_KEY: current, ENCRYPTION_KEYS_OLD: former }, before);
  for (const via of transports) {
    expect((await both.call('me', {}, { token: owner.token, via })).ok).toBe(true);
    expect((await both.call('tags', { scope }, { token: minted, via })).ok).toBe(true);
    expect((await both.call('exchangeApiKey', pair, { via })).ok).toBe(true);
  }
  expect((await both.must('createApiKey', { scope }, once)).id).toBe(key.id);
  const nextOfApp = await renewed(both, ofApp.refreshToken);
  const secretHash = async (secretOfKey: string) =>
    (await both.database.pool.select().from(apiKeySecrets)).filter(({ hash }) =>
      Buffer.from(hash).equals(hashSecret(both.app.kek.derive('api-key-pepper'), secretOfKey)),
    ).length;
  expect(await secretHash(pair.clientSecret)).toBe(1);
  expect(await secretHash(idlePair.clientSecret)).toBe(0);

  // Only values that were written meanwhile are encrypted with the new key.
  const sealed = await sealedIn(both);
  expect(sealed.filter((text) => !text.startsWith(mark))).toHaveLength(sealed.length);
  expect(await canaryOf(both)).toBe(canary);

  const counts = await both.app.reseal();
  expect(counts).toEqual({
    signing_key_secrets: expect.any(Number) as number,
    mfa_factors: 1,
    mails: 1,
    installation: 1,
  });
  expect((await sealedIn(both)).filter((text) => !text.startsWith(mark))).toEqual([]);
  expect((await canaryOf(both)).startsWith(mark)).toBe(true);
  expect(await both.app.reseal()).toEqual({});
  expect(both.logs.filter((line) => line.includes('"resealed"'))).toHaveLength(1);
  // A start with the former key alone is refused now.
  await expect(established(both, before.app.kek)).rejects.toThrow(WrongEncryptionKey);
  const { accessToken, refreshToken } = await both.must('refreshSession', session);

  const after = await start({ ENCRYPTION_KEY: current }, both);
  after.clock.advance(2 * 86_400_000);
  await after.app.flushMails();
  after.clock.advance(-2 * 86_400_000);
  expect(after.mails.map(({ to }) => to)).toContain('waiting@example.test');
  expect((await after.call('me', {}, { token: owner.token })).ok).toBe(true);
  expect((await after.call('tags', { scope }, { token: minted })).ok).toBe(true);
  expect((await after.call('exchangeApiKey', pair)).ok).toBe(true);
  expect((await renewed(after, nextOfApp.refreshToken)).tokenType).toBe('Bearer');
  // Browser flows that were not used while both keys were set have to start again.
  expect((await after.call('exchangeApiKey', idlePair)).code).toBe('UNAUTHENTICATED');
  const rotated = await after.must('rotateApiKey', { scope, id: idle.id }, { token: owner.token });
  expect(
    (await after.call('exchangeApiKey', { ...idlePair, clientSecret: rotated.clientSecret as string })).ok,
  ).toBe(true);
  expect((await after.call('refreshSession', { accessToken, refreshToken })).ok).toBe(true);
  const { email, password } = ada;
  const login = { provider: 'email' as const, providerId: email, providerData: { password } };
  const pending = await after.must('login', login);
  expect(
    (await after.call('verifyMfa', { recoveryCode: recovery }, { token: pending.accessToken })).code,
  ).toBe('UNAUTHENTICATED');
  expect((await after.call('verifyMfa', { code: code(after) }, { token: pending.accessToken })).ok).toBe(
    true,
  );
});

it('keeps the canary while a value cannot be decrypted, and encrypts the others again', async () => {
  const app = both;
  const { pool } = app.database;
  // Encrypts every value with the former key again, and one value so that no key decrypts it.
  const old = before.app.kek;
  const rows = await pool.select().from(signingKeySecrets);
  for (const { keyId, sealed } of rows) {
    const place = `signing_key_secrets:${keyId}`;
    const text = old.seal(app.app.kek.open(sealed, place), keyId === rows[0]?.keyId ? 'elsewhere' : place);
    await pool.update(signingKeySecrets).set({ sealed: text }).where(eq(signingKeySecrets.keyId, keyId));
  }
  const canary = old.seal('doorward', 'canary');
  await pool.update(installation).set({ value: canary }).where(eq(installation.name, 'canary'));
  const counts = await app.app.reseal();
  expect(counts['signing_key_secrets']).toBe(rows.length - 1);
  expect(counts['installation']).toBeUndefined();
  expect(await canaryOf(app)).toBe(canary);
  expect(app.logs.join('\n')).toContain(
    `a sealed value of signing_key_secrets:${rows[0]?.keyId} cannot be opened`,
  );
});
