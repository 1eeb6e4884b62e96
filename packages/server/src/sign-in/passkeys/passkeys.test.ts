import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person, Via } from '../../../test/support/app/client.ts';
import { PasskeyDevice, type Lies } from '../../../test/support/sign-in/passkey-device.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import { users } from '../../schema/people/user.ts';
import { passkeyChallenges } from '../../schema/sign-in/passkey-challenge.ts';
import { passkeyHandles, passkeys } from '../../schema/sign-in/passkey.ts';

const MINUTE = 60_000;

let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp();
});
afterAll(() => app.close());

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

async function addPasskey(token: string, device: PasskeyDevice, via: Via = 'rest', name = 'Laptop') {
  const { challengeId, publicKey } = await app.must('createPasskeyOptions', {}, { token, via });
  const credential = device.create(publicKey);
  return app.must('createPasskey', { challengeId, credential, name }, { token, via });
}

async function withPasskey(device = new PasskeyDevice(), via: Via = 'rest') {
  const person = await app.person();
  const { passkey, recoveryCodes } = await addPasskey(person.token, device, via);
  return { person, device, passkey, recoveryCodes: recoveryCodes ?? [] };
}

async function assertion(device: PasskeyDevice, lies: Lies = {}, via: Via = 'rest') {
  const { challengeId, publicKey } = await app.must('passkeyOptions', {}, { via });
  return { challengeId, credential: device.get(publicKey, lies) };
}

const signInWith = async (device: PasskeyDevice, lies: Lies = {}, via: Via = 'rest') =>
  app.call('signInWithPasskey', await assertion(device, lies, via), { via });

async function signInByPassword({ email, password }: Person) {
  const input = { provider: 'email' as const, providerId: email, providerData: { password } };
  return app.must('login', input);
}

async function enrolApp(token: string) {
  const { factor, secret } = await app.must('createMfaFactor', {}, { token });
  const code = () => codeShown(secret, app.clock.now());
  const done = await app.must('verifyMfaFactor', { id: factor.id, code: code() }, { token });
  return { ...done, code: () => (app.clock.advance(30_000), code()) };
}

const mailsTo = async (address: string) => {
  await app.app.flushMails();
  return app.mails.filter(({ to }) => to === address);
};

describe.each(storyTransports(import.meta))('a passkey over %s', (via) => {
  test('is added, listed, renamed and removed by its user', async () => {
    const person = await app.person();
    const as = { token: person.token, via };
    const created = await app.call('createPasskeyOptions', {}, as);
    const { challengeId, publicKey } = created.data;
    expect(publicKey).toMatchObject({
      rp: { id: 'localhost', name: 'Doorward' },
      user: { name: person.email },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ alg, type: 'public-key' })),
      excludeCredentials: [],
      timeout: 5 * MINUTE,
    });
    expect(Buffer.from(publicKey.challenge, 'base64url')).toHaveLength(32);
    expect(Buffer.from(publicKey.user.id, 'base64url')).toHaveLength(32);
    const device = new PasskeyDevice();
    const credential = device.create(publicKey);
    const added = await app.call('createPasskey', { challengeId, credential, name: 'Laptop' }, as);
    expect(added.status).toBe(via === 'rest' ? 201 : 200);
    const { passkey, recoveryCodes } = added.data;
    expect(passkey).toEqual({
      id: passkey.id,
      createdAt: passkey.createdAt,
      name: 'Laptop',
      aaguid: '00000000-0000-0000-0000-000000000000',
      transports: ['internal', 'hybrid'],
      backedUp: false,
      userVerified: true,
      lastUsedAt: null,
    });
    expect(recoveryCodes).toHaveLength(10);
    for (const secret of [credential.id, publicKey.user.id]) expect(added.body).not.toContain(secret);

    const again = await app.must('createPasskeyOptions', {}, as);
    expect(again.publicKey.user.id).toBe(publicKey.user.id);
    expect(again.publicKey['excludeCredentials']).toEqual([
      { id: credential.id, type: 'public-key', transports: ['internal', 'hybrid'] },
    ]);

    const renamed = await app.must('updateMyPasskey', { id: passkey.id, name: 'Phone' }, as);
    expect(renamed).toEqual({ ...passkey, name: 'Phone' });
    const page = await app.must('myPasskeys', {}, as);
    expect(page).toEqual({ items: [renamed], totalCount: 1, hasNextPage: false, nextCursor: null });
    expect(await app.must('deleteMyPasskey', { id: passkey.id }, as)).toEqual(renamed);
    expect((await app.must('myPasskeys', {}, as)).totalCount).toBe(0);
    expect((await app.call('deleteMyPasskey', { id: passkey.id }, as)).code).toBe('NOT_FOUND');
    expect((await app.call('updateMyPasskey', { id: passkey.id, name: 'x' }, as)).code).toBe('NOT_FOUND');
    expect((await signInWith(device, {}, via)).code).toBe('UNAUTHENTICATED');
  });

  test('signs in without a name, with two factors at once', async () => {
    const { person, device, passkey } = await withPasskey(new PasskeyDevice(), via);
    const options = await app.must('passkeyOptions', {}, { via });
    expect(options.publicKey).toMatchObject({
      rpId: 'localhost',
      allowCredentials: [],
      userVerification: 'preferred',
    });
    const credential = device.get(options.publicKey);
    const input = { challengeId: options.challengeId, credential };
    const signedIn = await app.call('signInWithPasskey', input, { via });
    expect(signedIn.data).toMatchObject({
      mfaRequired: false,
      emailVerified: true,
      user: { id: person.userId },
      accounts: [{ id: person.account.id }],
    });
    expect(signedIn.cookies.map(({ name }) => name)).toContain('doorward_refresh');
    const { accessToken, refreshToken } = signedIn.data;
    expect(claimsOf(accessToken)).toMatchObject({ sub: person.userId, acr: 'aal2', amr: ['pop', 'mfa'] });
    const refreshed = await app.must('refreshSession', { accessToken, refreshToken }, { via });
    expect(claimsOf(refreshed.accessToken)).toMatchObject({ acr: 'aal2', amr: ['pop', 'mfa'] });
    const [listed] = (await app.must('myPasskeys', {}, { token: accessToken, via })).items;
    expect(listed?.id).toBe(passkey.id);
    expect(listed?.lastUsedAt).not.toBeNull();
  });

  test('without user verification is one factor, and the authenticator app is the other', async () => {
    const { person, device } = await withPasskey(new PasskeyDevice(), via);
    const alone = await signInWith(device, { userVerified: false }, via);
    // A passkey alone makes no second factor compulsory.
    expect(alone.data.mfaRequired).toBe(false);
    expect(claimsOf(alone.data.accessToken)).toMatchObject({ acr: 'aal1', amr: ['pop'] });
    const enrolled = await enrolApp(person.token);
    // The first factor created the codes.
    expect(enrolled.recoveryCodes).toBeNull();
    const { data } = await signInWith(device, { userVerified: false }, via);
    expect(data.mfaRequired).toBe(true);
    const as = { token: data.accessToken, via };
    expect((await app.call('myPasskeys', {}, as)).code).toBe('MFA_REQUIRED');
    // Who stole the device must not complete the sign-in with it.
    const same = await app.call(
      'verifyMfa',
      { passkey: await assertion(device, { userVerified: false }) },
      as,
    );
    expect(same.code).toBe('UNAUTHENTICATED');
    const done = await app.must('verifyMfa', { code: enrolled.code() }, as);
    expect(claimsOf(done.accessToken)).toMatchObject({ acr: 'aal2', amr: ['pop', 'otp'] });
    expect((await signInWith(device, {}, via)).data.mfaRequired).toBe(false);
  });

  test('completes a sign-in by password', async () => {
    const { person, device } = await withPasskey(new PasskeyDevice(), via);
    await enrolApp(person.token);
    for (const userVerified of [true, false]) {
      const { accessToken, mfaRequired } = await signInByPassword(person);
      expect(mfaRequired).toBe(true);
      const as = { token: accessToken, via };
      const passkey = await assertion(device, { userVerified }, via);
      const done = await app.must('verifyMfa', { passkey }, as);
      expect(claimsOf(done.accessToken)).toMatchObject({ acr: 'aal2', amr: ['pwd', 'pop', 'mfa'] });
      const replayed = await app.call('verifyMfa', { passkey }, as);
      expect(replayed.code).toBe('UNAUTHENTICATED');
    }
  });

  test('is one of three ways to give a second factor', async () => {
    const { person, device } = await withPasskey(new PasskeyDevice(), via);
    const as = { token: person.token, via };
    const passkey = await assertion(device);
    const both = await app.call('verifyMfa', { code: '123456', passkey }, as);
    expect(both.details).toMatchObject([{ path: 'passkey', code: 'excluded' }]);
    expect((await app.call('verifyMfa', {}, as)).details).toMatchObject([{ path: 'code', code: 'required' }]);
  });
});

describe('recovery codes', () => {
  test('come with the first factor, and go with the last', async () => {
    const { person, device, recoveryCodes, passkey } = await withPasskey();
    const as = { token: person.token };
    expect((await addPasskey(person.token, new PasskeyDevice())).recoveryCodes).toBeNull();
    // A lost passkey: the password and a recovery code.
    const { accessToken } = await signInByPassword(person);
    const [recoveryCode = ''] = recoveryCodes;
    const raised = await app.must('verifyMfa', { recoveryCode }, { token: accessToken });
    expect(claimsOf(raised.accessToken)).toMatchObject({ acr: 'aal2', amr: ['pwd', 'rc'] });
    expect((await app.must('myMfa', {}, as)).recoveryCodesLeft).toBe(9);
    expect((await app.must('regenerateMfaRecoveryCodes', {}, as)).recoveryCodes).toHaveLength(10);
    await app.must('deleteMyPasskey', { id: passkey.id }, as);
    expect((await app.must('myMfa', {}, as)).recoveryCodesLeft).toBe(10);
    const [other] = (await app.must('myPasskeys', {}, as)).items;
    await app.must('deleteMyPasskey', { id: other?.id ?? '' }, as);
    expect((await app.must('myMfa', {}, as)).recoveryCodesLeft).toBe(0);
    expect((await app.call('regenerateMfaRecoveryCodes', {}, as)).code).toBe('INVALID_STATE');
    expect((await signInWith(device)).code).toBe('UNAUTHENTICATED');
  });

  test('stay while an authenticator app or a passkey is left', async () => {
    const { person, passkey } = await withPasskey();
    const { accessToken: token, factor } = await enrolApp(person.token);
    await app.must('deleteMyPasskey', { id: passkey.id }, { token });
    expect((await app.must('myMfa', {}, { token })).recoveryCodesLeft).toBe(10);
    const added = await addPasskey(token, new PasskeyDevice());
    expect(added.recoveryCodes).toBeNull();
    await app.must('deleteMfaFactor', { id: factor.id }, { token });
    expect((await app.must('myMfa', {}, { token })).recoveryCodesLeft).toBe(10);
  });
});

describe('a change of passkeys', () => {
  test('needs a recent sign-in, and the second factor of a user who has one', async () => {
    const { person, passkey } = await withPasskey();
    const as = { token: person.token };
    app.clock.advance(16 * MINUTE);
    const { accessToken, refreshToken } = await signInByPassword(person);
    const old = { token: accessToken };
    expect((await app.call('createPasskeyOptions', {}, old)).ok).toBe(true);
    app.clock.advance(14 * MINUTE);
    const next = await app.must('refreshSession', { accessToken, refreshToken });
    app.clock.advance(2 * MINUTE);
    const stale = { token: next.accessToken };
    expect((await app.call('createPasskeyOptions', {}, stale)).code).toBe('STEP_UP_REQUIRED');
    expect((await app.call('deleteMyPasskey', { id: passkey.id }, stale)).code).toBe('STEP_UP_REQUIRED');
    expect(as.token).not.toBe(stale.token);

    const fresh = await signInByPassword(person);
    const begun = await app.must('createPasskeyOptions', {}, { token: fresh.accessToken });
    const device = new PasskeyDevice();
    const credential = device.create(begun.publicKey);
    const other = await signInByPassword(person);
    await enrolApp(other.accessToken);
    const input = { challengeId: begun.challengeId, credential };
    for (const call of [
      app.call('createPasskey', input, { token: fresh.accessToken }),
      app.call('createPasskeyOptions', {}, { token: fresh.accessToken }),
      app.call('deleteMyPasskey', { id: passkey.id }, { token: fresh.accessToken }),
    ])
      expect((await call).code).toBe('MFA_REQUIRED');
  });

  test('is told to every verified address, and is an event', async () => {
    const { person, passkey } = await withPasskey();
    await app.must('updateMe', { locale: 'de' }, { token: person.token });
    await app.must('deleteMyPasskey', { id: passkey.id }, { token: person.token });
    const mails = await mailsTo(person.email);
    expect(mails.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(['Your ways to sign in have changed', 'Ihre Anmeldewege haben sich geändert']),
    );
    expect(mails.some(({ text }) => text.includes('A passkey (Laptop) was added'))).toBe(true);
    expect(mails.some(({ text }) => text.includes('Ein Passkey (Laptop) wurde'))).toBe(true);
    const rows = await app.database.pool
      .select({ body: events.body })
      .from(events)
      .where(eq(events.type, 'user.sign_in_methods_changed'));
    const data = rows.map(({ body }) => (body as { data: { id: string } }).data);
    for (const change of ['added', 'removed'])
      expect(data).toContainEqual({ id: person.userId, change, provider: 'passkey', label: 'Laptop' });
    const notices = await app.must('myNotifications', {}, { token: person.token });
    expect(notices.items.filter(({ type }) => type === 'sign_in_methods_changed')).toHaveLength(2);
  });

  test('leaves the last verified method in place', async () => {
    const { person } = await withPasskey();
    const as = { token: person.token };
    const [method] = (await app.must('myAuthenticationMethods', {}, as)).items;
    const removed = await app.call('removeMyAuthenticationMethod', { id: method?.id ?? '' }, as);
    expect(removed.code).toBe('LAST_SIGN_IN_METHOD');
  });

  test('stops at ten', async () => {
    const person = await app.person();
    const as = { token: person.token };
    const begun = await app.must('createPasskeyOptions', {}, as);
    for (let count = 0; count < 10; count++) await addPasskey(person.token, new PasskeyDevice());
    expect((await app.call('createPasskeyOptions', {}, as)).code).toBe('CONFLICT');
    const credential = new PasskeyDevice().create(begun.publicKey);
    const late = await app.call('createPasskey', { challengeId: begun.challengeId, credential }, as);
    expect(late.code).toBe('CONFLICT');
    expect((await app.must('myPasskeys', {}, as)).totalCount).toBe(10);
  });
});

describe('the registration refuses', () => {
  const liesOf = async (lies: Lies, device = new PasskeyDevice()) => {
    const { token } = await app.person();
    const { challengeId, publicKey } = await app.must('createPasskeyOptions', {}, { token });
    const credential = device.create(publicKey, lies);
    const answer = await app.call('createPasskey', { challengeId, credential }, { token });
    return { answer, token, challengeId, publicKey };
  };

  test.each<[string, Lies]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['the origin of another port', { origin: 'http://localhost:4001' }],
    ['another domain', { rpId: 'evil.example' }],
    ['another challenge', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
    ['an answer to a sign-in', { type: 'webauthn.get' }],
    ['an answer without the user', { userPresent: false }],
    ['an answer without user verification', { userVerified: false }],
    ['a frame of another site', { crossOrigin: true }],
    [
      'an attestation with certificates, which could make us fetch a list',
      {
        attestation: {
          fmt: 'packed',
          attStmt: new Map<string, unknown>([
            ['alg', -7],
            ['sig', new Uint8Array(64)],
            ['x5c', [new Uint8Array(32)]],
          ]),
        },
      },
    ],
    ['an attestation of another kind', { attestation: { fmt: 'tpm', attStmt: new Map() } }],
  ])('%s', async (_, lies) => {
    const { answer, token, challengeId, publicKey } = await liesOf(lies);
    expect([answer.status, answer.code]).toEqual([400, 'INVALID_TOKEN']);
    // The challenge is used up, so a better answer comes too late.
    const credential = new PasskeyDevice().create(publicKey);
    const second = await app.call('createPasskey', { challengeId, credential }, { token });
    expect(second.code).toBe('INVALID_TOKEN');
    expect((await app.must('myPasskeys', {}, { token })).totalCount).toBe(0);
  });

  test('a challenge of another session, a used one, an expired one, and one to sign in', async () => {
    const person = await app.person();
    const other = await signInByPassword(person);
    const as = { token: person.token };
    const begun = await app.must('createPasskeyOptions', {}, as);
    const credential = new PasskeyDevice().create(begun.publicKey);
    const input = { challengeId: begun.challengeId, credential };
    const elsewhere = await app.call('createPasskey', input, { token: other.accessToken });
    expect(elsewhere.code).toBe('INVALID_TOKEN');
    expect((await app.call('createPasskey', input, as)).ok).toBe(true);
    expect((await app.call('createPasskey', input, as)).code).toBe('INVALID_TOKEN');

    const late = await app.must('createPasskeyOptions', {}, as);
    app.clock.advance(5 * MINUTE);
    const lateInput = {
      challengeId: late.challengeId,
      credential: new PasskeyDevice().create(late.publicKey),
    };
    expect((await app.call('createPasskey', lateInput, as)).code).toBe('INVALID_TOKEN');

    const signIn = await app.must('passkeyOptions', {});
    const wrongUse = new PasskeyDevice().create({ ...signIn.publicKey, user: begun.publicKey.user });
    const wrong = await app.call(
      'createPasskey',
      { challengeId: signIn.challengeId, credential: wrongUse },
      as,
    );
    expect(wrong.code).toBe('INVALID_TOKEN');
  });

  test('a credential that another user has', async () => {
    const { person } = await withPasskey();
    const [row] = await app.database.pool.select().from(passkeys).where(eq(passkeys.userId, person.userId));
    const { token } = await app.person();
    const begun = await app.must('createPasskeyOptions', {}, { token });
    const device = new PasskeyDevice();
    const credential = device.create(begun.publicKey);
    // The same id with another key: what a device under the control of an attacker could answer.
    await app.database.pool
      .update(passkeys)
      .set({ credentialId: credential.id })
      .where(eq(passkeys.id, row?.id ?? ''));
    const taken = await app.call('createPasskey', { challengeId: begun.challengeId, credential }, { token });
    expect([taken.status, taken.code]).toEqual([409, 'CONFLICT']);
    expect(taken.details).toMatchObject([{ path: 'credential', code: 'taken' }]);
  });

  test('an oversized or malformed credential', async () => {
    const { token } = await app.person();
    const { challengeId, publicKey } = await app.must('createPasskeyOptions', {}, { token });
    const credential = new PasskeyDevice().create(publicKey);
    const padded = { ...credential, padding: 'x'.repeat(16 * 1024) };
    const large = await app.raw('createPasskey', { challengeId, credential: padded }, { token });
    expect([large.status, large.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(large.details).toMatchObject([{ path: 'credential', code: 'too_long' }]);
    for (const broken of [{}, 'text', { ...credential, type: 'password' }, { ...credential, id: 'a b' }]) {
      const answer = await app.raw('createPasskey', { challengeId, credential: broken }, { token });
      expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_ERROR']);
    }
    const { response } = credential;
    for (const bytes of ['AA', 'oA', 'gICA', '_____w']) {
      const sent = {
        ...credential,
        response: { ...response, attestationObject: bytes, clientDataJSON: bytes },
      };
      const begun = await app.must('createPasskeyOptions', {}, { token });
      const input = { challengeId: begun.challengeId, credential: sent };
      expect((await app.call('createPasskey', input, { token })).code).toBe('INVALID_TOKEN');
    }
  });
});

describe('the sign-in refuses', () => {
  test.each<[string, Lies]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['the origin of another port', { origin: 'http://localhost:4001' }],
    ['another domain', { rpId: 'evil.example' }],
    ['another challenge', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
    ['an answer to a registration', { type: 'webauthn.create' }],
    ['an answer without the user', { userPresent: false }],
    ['a frame of another site', { crossOrigin: true }],
    ['an answer that names no user', { userHandle: undefined }],
    ['an answer that names another user', { userHandle: Buffer.alloc(32, 2).toString('base64url') }],
  ])('%s', async (_, lies) => {
    const { device, person } = await withPasskey();
    const input = await assertion(device, lies);
    const answer = await app.call('signInWithPasskey', input);
    expect([answer.status, answer.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(answer.cookies).toEqual([]);
    const [entry] = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.requestId, String(answer.headers['x-request-id'])));
    expect(entry).toMatchObject({ operation: 'signInWithPasskey', outcome: 'failed' });
    expect((await signInWith(device)).data.user.id).toBe(person.userId);
  });

  test('a used challenge, an expired one, one to register, and one that never was', async () => {
    const { device, person } = await withPasskey();
    const input = await assertion(device);
    expect((await app.call('signInWithPasskey', input)).ok).toBe(true);
    expect((await app.call('signInWithPasskey', input)).code).toBe('UNAUTHENTICATED');

    const late = await assertion(device);
    app.clock.advance(5 * MINUTE);
    expect((await app.call('signInWithPasskey', late)).code).toBe('UNAUTHENTICATED');

    const { accessToken: token } = await signInByPassword(person);
    const begun = await app.must('createPasskeyOptions', {}, { token });
    const toRegister = { challengeId: begun.challengeId, credential: device.get(begun.publicKey) };
    expect((await app.call('signInWithPasskey', toRegister)).code).toBe('UNAUTHENTICATED');
    const unknown = { ...input, challengeId: '00000000-0000-4000-8000-000000000000' };
    expect((await app.call('signInWithPasskey', unknown)).code).toBe('UNAUTHENTICATED');
  });

  test('two uses of a challenge at once but one', { tags: 'race' }, async () => {
    const { device } = await withPasskey(new PasskeyDevice({ counts: false }));
    const input = await assertion(device);
    const answers = await Promise.all([1, 2, 3].map(() => app.call('signInWithPasskey', input)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  });

  test('a wrong signature, and an unknown passkey, with the same answer', async () => {
    const { device } = await withPasskey();
    const input = await assertion(device);
    const { response } = input.credential;
    const forged = {
      ...input,
      credential: { ...input.credential, response: { ...response, signature: 'MEUCIQDkJ3p1' } },
    };
    const wrong = await app.call('signInWithPasskey', forged);
    const strange = new PasskeyDevice();
    strange.create({ challenge: 'AAAA', user: { id: Buffer.alloc(32, 3).toString('base64url') } });
    const unknown = await signInWith(strange);
    const shown = ({ body, status }: typeof wrong) =>
      [status, { ...(JSON.parse(body) as object), requestId: '' }] as const;
    expect(shown(wrong)).toEqual(shown(unknown));
  });

  test('a counter that goes back, and tells the user', async () => {
    const { device, person } = await withPasskey();
    await app.must('updateMe', { locale: 'fr' }, { token: person.token });
    expect((await signInWith(device, { counter: 7 })).ok).toBe(true);
    for (const counter of [6, 7, 0]) {
      const { status, code } = await signInWith(device, { counter });
      expect([status, code]).toEqual([401, 'UNAUTHENTICATED']);
    }
    const mails = await mailsTo(person.email);
    const warnings = mails.filter(({ text }) => text.includes('« Laptop »'));
    expect(warnings).toHaveLength(3);
    expect(warnings[0]?.subject).toBe('Une connexion avec votre clé d’accès a été refusée');
    expect((await signInWith(device, { counter: 8 })).ok).toBe(true);
    // As a second factor too.
    const input = { passkey: await assertion(device, { counter: 8 }) };
    expect((await app.call('verifyMfa', input, { token: person.token })).code).toBe('UNAUTHENTICATED');
  });

  test('no device that does not count', async () => {
    const { device } = await withPasskey(new PasskeyDevice({ counts: false }));
    for (let times = 0; times < 2; times++) expect((await signInWith(device)).ok).toBe(true);
  });

  test('a passkey of another user as second factor', async () => {
    const [mine, others] = [await withPasskey(), await withPasskey()];
    await enrolApp(mine.person.token);
    const { accessToken: token } = await signInByPassword(mine.person);
    const answer = await app.call('verifyMfa', { passkey: await assertion(others.device) }, { token });
    expect([answer.status, answer.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect((await app.call('myPasskeys', {}, { token })).code).toBe('MFA_REQUIRED');
  });

  test('a disabled, deleted or locked-out user', async () => {
    const disabled = await withPasskey();
    const set = { status: 'disabled' as const };
    await app.database.pool.update(users).set(set).where(eq(users.id, disabled.person.userId));
    expect((await signInWith(disabled.device)).code).toBe('UNAUTHENTICATED');

    const locked = await withPasskey();
    for (let times = 0; times < 10; times++) {
      const providerData = { password: 'a wrong password' };
      await app.call('login', { provider: 'email', providerId: locked.person.email, providerData });
    }
    expect((await signInWith(locked.device)).code).toBe('UNAUTHENTICATED');
    app.clock.advance(16 * MINUTE);
    expect((await signInWith(locked.device)).ok).toBe(true);
  });

  test('the password alone where a factor is required', async () => {
    const { person, device } = await withPasskey();
    await enrolApp(person.token);
    const { accessToken: token } = await signInByPassword(person);
    expect((await app.call('deleteMyPasskey', { id: person.userId }, { token })).code).toBe('MFA_REQUIRED');
    const { data } = await signInWith(device);
    expect((await app.call('myPasskeys', {}, { token: data.accessToken })).ok).toBe(true);
  });
});

describe('wrong passkeys', () => {
  test('count as wrong secrets, expired challenges do not', async () => {
    const { device, person } = await withPasskey();
    for (let times = 0; times < 12; times++) {
      const late = await assertion(device);
      await app.database.pool.delete(passkeyChallenges).where(eq(passkeyChallenges.id, late.challengeId));
      await app.call('signInWithPasskey', late);
    }
    expect((await signInWith(device)).ok).toBe(true);
    for (let times = 0; times < 10; times++) await signInWith(device, { origin: 'https://evil.example' });
    expect((await signInWith(device)).code).toBe('UNAUTHENTICATED');
    expect(
      (
        await app.call('login', {
          provider: 'email',
          providerId: person.email,
          providerData: { password: person.password },
        })
      ).code,
    ).toBe('UNAUTHENTICATED');
  });
});

describe('passkeys of every platform', () => {
  test.each(['ES256', 'EdDSA', 'RS256'] as const)('sign with %s', async (algorithm) => {
    const { device, person } = await withPasskey(new PasskeyDevice({ algorithm }));
    expect((await signInWith(device)).data.user.id).toBe(person.userId);
  });
});

describe('what is stored about passkeys', () => {
  test('is in the export of the user without keys, and is erased with them', async () => {
    const { person, passkey } = await withPasskey();
    const [row] = await app.database.pool.select().from(passkeys).where(eq(passkeys.id, passkey.id));
    const exported = await app.call('exportMe', {}, { token: person.token });
    const { passkeys: own } = JSON.parse(exported.body) as { readonly passkeys: unknown };
    expect(own).toEqual([passkey]);
    expect(exported.body).not.toContain(row?.credentialId);
    await app.must('deleteMe', { hardDelete: true }, { token: person.token });
    await app.purge();
    for (const table of [passkeys, passkeyHandles])
      expect(await app.database.pool.select().from(table).where(eq(table.userId, person.userId))).toEqual([]);
  });

  test('does not keep challenges that have expired', async () => {
    const { challengeId } = await app.must('passkeyOptions', {});
    app.clock.advance(5 * MINUTE);
    await app.purge();
    const left = await app.database.pool
      .select()
      .from(passkeyChallenges)
      .where(eq(passkeyChallenges.id, challengeId));
    expect(left).toEqual([]);
  });
});
