import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleInput } from '../../../test/contract/sample.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown, fromBase32 } from '../../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Answer, Person, Via } from '../../../test/support/app/client.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import { operations } from '../../operations.ts';
import { mfaFactors, mfaRecoveryCodes } from '../../schema/sign-in/mfa-factor.ts';

const MINUTE = 60_000;
const STEP = 30_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

interface Session {
  readonly token: string;
  readonly refreshToken: string;
  readonly mfaRequired: boolean;
}
interface Enrolled {
  readonly person: Person;
  /** Of the session that enrolled, at `aal2`. */
  readonly token: string;
  readonly factorId: string;
  readonly recoveryCodes: readonly string[];
  /** A code that was not used yet: time moves on with each. */
  readonly next: () => string;
}

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
const codeOf = (secret: string | null, later = 0) => codeShown(secret, app.clock.now(), later);

async function signIn({ email, password }: Person): Promise<Session> {
  const input = { provider: 'email' as const, providerId: email, providerData: { password } };
  const { accessToken, refreshToken, mfaRequired } = await app.must('login', input);
  return { token: accessToken, refreshToken, mfaRequired };
}

async function enrol(via: Via = 'rest'): Promise<Enrolled> {
  const person = await app.person();
  const { factor, secret } = await app.must('createMfaFactor', {}, { token: person.token, via });
  const input = { id: factor.id, code: codeOf(secret) };
  const done = await app.must('verifyMfaFactor', input, { token: person.token, via });
  const next = () => {
    app.clock.advance(STEP);
    return codeOf(secret);
  };
  return {
    person,
    token: done.accessToken,
    factorId: factor.id,
    recoveryCodes: done.recoveryCodes ?? [],
    next,
  };
}

/** Six digits that are no code of the moment. */
function wrong({ next }: Enrolled): string {
  return String((Number(next()) + 1) % 1_000_000).padStart(6, '0');
}

const codesLeft = async (token: string) => (await app.must('myMfa', {}, { token })).recoveryCodesLeft;

const expectRefused = ({ ok, code, status }: Answer, via: Via) =>
  expect([ok, code, status]).toEqual([false, 'UNAUTHENTICATED', via === 'rest' ? 401 : 200]);

describe.each(storyTransports(import.meta))(
  'the password alone of a user with a second factor, over %s,',
  (via) => {
    const isAlive = async (token: string) => (await app.raw('me', {}, { token })).status === 200;

    test('ends no session but its own', async () => {
      const enrolled = await enrol();
      const [pending, other] = [await signIn(enrolled.person), await signIn(enrolled.person)];
      const done = await app.must('logout', { allSessions: true }, { token: pending.token, via });
      expect(done).toEqual({ revoked: 1 });
      const byRefresh = { allSessions: true, refreshToken: other.refreshToken };
      expect(await app.must('logout', byRefresh, { via })).toEqual({ revoked: 1 });
      expect(await isAlive(enrolled.token)).toBe(true);
      expect(await app.must('logout', { allSessions: true }, { token: enrolled.token, via })).toEqual({
        revoked: 1,
      });
    });

    test(
      'pushes out no full session, and a full one pushes out its like',
      { tags: 'independent' },
      async () => {
        const few = await startApp({ AUTH_MAX_SESSIONS_PER_USER: '2' });
        try {
          const person = await few.person();
          const { factor, secret } = await few.must('createMfaFactor', {}, { token: person.token, via });
          const code = () => codeShown(secret, few.clock.now());
          const full = [
            await few.must('verifyMfaFactor', { id: factor.id, code: code() }, { token: person.token }),
          ];
          const input = {
            provider: 'email' as const,
            providerId: person.email,
            providerData: { password: person.password },
          };
          const login = async () => (await few.must('login', input, { via })).accessToken;
          const alive = async (tokens: readonly string[]) =>
            Promise.all(tokens.map(async (token) => (await few.raw('me', {}, { token })).status === 200));
          const pending = [await login(), await login(), await login()];
          expect(await alive(pending)).toEqual([false, true, true]);
          expect(await alive(full.map(({ accessToken }) => accessToken))).toEqual([true]);
          for (const token of pending.slice(1)) {
            few.clock.advance(STEP);
            full.push((await few.must('verifyMfa', { code: code() }, { token, via })) as never);
          }
          expect(await alive(full.map(({ accessToken }) => accessToken))).toEqual([false, true, true]);
        } finally {
          await few.close();
        }
      },
    );
  },
);

describe.each(storyTransports(import.meta))('a second factor over %s', (via) => {
  test('is added in two steps; the second raises this session', async () => {
    const person = await app.person();
    const as = { token: person.token, via };
    expect(await app.must('myMfa', {}, as)).toEqual({
      enabled: false,
      verified: false,
      factors: [],
      recoveryCodesLeft: 0,
    });
    const created = await app.call('createMfaFactor', { name: 'Phone' }, as);
    expect(created.status).toBe(via === 'rest' ? 201 : 200);
    const { factor, secret, otpauthUrl } = created.data;
    expect(factor).toMatchObject({ type: 'totp', name: 'Phone', isEnabled: false, lastUsedAt: null });
    expect(Object.keys(factor).sort()).toEqual([
      'createdAt',
      'id',
      'isEnabled',
      'lastUsedAt',
      'name',
      'type',
    ]);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(otpauthUrl).toBe(
      `otpauth://totp/Doorward:${encodeURIComponent(person.email)}?secret=${secret}&issuer=Doorward&algorithm=SHA1&digits=6&period=30`,
    );
    // Until its first code it counts for nothing.
    expect((await signIn(person)).mfaRequired).toBe(false);
    expect((await app.must('me', {}, as)).mfa).toEqual({ enabled: false, verified: false });

    const code = codeOf(secret);
    const spaced = `${code.slice(0, 3)} ${code.slice(3)}`;
    const done = await app.must('verifyMfaFactor', { id: factor.id, code: spaced }, as);
    expect(done.factor).toMatchObject({ id: factor.id, isEnabled: true });
    expect(done.expiresIn).toBe(900);
    expect(new Set(done.recoveryCodes).size).toBe(10);
    for (const recoveryCode of done.recoveryCodes ?? [])
      expect(recoveryCode).toMatch(/^[a-hjkmnp-z2-9]{10}$/);
    expect(claimsOf(done.accessToken)).toMatchObject({ acr: 'aal2', amr: ['pwd', 'otp'] });
    // The state decides, so the token from before is as good.
    expect(await app.must('myMfa', {}, as)).toMatchObject({
      enabled: true,
      verified: true,
      recoveryCodesLeft: 10,
    });
    expect((await app.must('me', {}, as)).mfa).toEqual({ enabled: true, verified: true });

    const again = await app.call('verifyMfaFactor', { id: factor.id, code: codeOf(secret, 1) }, as);
    expect(again.code).toBe('INVALID_STATE');
    const second = await app.must('createMfaFactor', {}, as);
    const other = await app.must(
      'verifyMfaFactor',
      { id: second.factor.id, code: codeOf(second.secret) },
      as,
    );
    expect(other.recoveryCodes).toBeNull();
  });

  test('is asked for at the next sign-in, and a refresh keeps what was given', async () => {
    const enrolled = await enrol(via);
    const { token, refreshToken, mfaRequired } = await signIn(enrolled.person);
    expect(mfaRequired).toBe(true);
    expect(claimsOf(token)).toMatchObject({ acr: 'aal1', amr: ['pwd'] });
    const pending = await app.must('refreshSession', { accessToken: token, refreshToken }, { via });
    expect(pending.mfaRequired).toBe(true);
    expect((await app.must('me', {}, { token, via })).mfa).toEqual({ enabled: true, verified: false });

    const verified = await app.must('verifyMfa', { code: enrolled.next() }, { token, via });
    expect(verified).toMatchObject({ expiresIn: 900, mfaVerified: true });
    expect(claimsOf(verified.accessToken)).toMatchObject({ acr: 'aal2', amr: ['pwd', 'otp'] });
    const refreshed = await app.must(
      'refreshSession',
      { accessToken: pending.accessToken, refreshToken: pending.refreshToken },
      { via },
    );
    expect(refreshed.mfaRequired).toBe(false);
    expect(claimsOf(refreshed.accessToken)).toMatchObject({ acr: 'aal2', amr: ['pwd', 'otp'] });
    const scope = enrolled.person.account;
    expect((await app.call('projects', { scope }, { token: refreshed.accessToken, via })).ok).toBe(true);
    expect((await signIn(enrolled.person)).mfaRequired).toBe(true);
  });

  test('is needed for everything but the five', async () => {
    const { person } = await enrol();
    const { token } = await signIn(person);
    const open = new Set(['me', 'myMfa', 'verifyMfa']);
    const gated = operations.filter(({ name, access }) => access !== 'public' && !open.has(name));
    expect(gated.length).toBeGreaterThan(50);
    for (const op of gated) {
      if (op.only === 'rest' && via === 'graphql') continue;
      const answer = await app.raw(op.name, sampleInput(op), { token, via });
      expect([answer.code, answer.reason], op.name).toEqual(['MFA_REQUIRED', null]);
      if (via === 'rest') expect(answer.status).toBe(403);
    }
    const joining = await app.raw('acceptInvitation', { token: 'x'.repeat(43) }, { token, via });
    expect(joining.code).toBe('MFA_REQUIRED');
    for (const name of ['me', 'myMfa']) expect((await app.raw(name, {}, { token, via })).ok, name).toBe(true);
    expect((await app.raw('logout', {}, { token, via })).data).toEqual({ revoked: 1 });
  });

  test('closes the older sessions too, at once', async () => {
    const person = await app.person();
    const older = await signIn(person);
    const as = { token: person.token, via };
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    expect((await app.call('projects', { scope: person.account }, { token: older.token, via })).ok).toBe(
      true,
    );
    await app.must('verifyMfaFactor', { id: factor.id, code: codeOf(secret) }, as);
    const answer = await app.call('projects', { scope: person.account }, { token: older.token, via });
    expect(answer.code).toBe('MFA_REQUIRED');
  });

  test('takes each step once, also of codes that come at the same time', { tags: 'race' }, async () => {
    const enrolled = await enrol();
    const [first, second] = [await signIn(enrolled.person), await signIn(enrolled.person)];
    const code = enrolled.next();
    await app.must('verifyMfa', { code }, { token: first.token, via });
    expectRefused(await app.call('verifyMfa', { code }, { token: second.token, via }), via);

    const third = await signIn(enrolled.person);
    const raced = enrolled.next();
    const answers = await Promise.all(
      [second, third, second, third].map(({ token }) =>
        app.call('verifyMfa', { code: raced }, { token, via }),
      ),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  });

  test('is replaced by a recovery code, once', { tags: 'race' }, async () => {
    const { person, token, recoveryCodes } = await enrol();
    const [recoveryCode = '', other = ''] = recoveryCodes;
    const session = await signIn(person);
    const typed = ` ${recoveryCode.slice(0, 5).toUpperCase()}-${recoveryCode.slice(5)}`;
    const as = { token: session.token, via };
    const { accessToken } = await app.must('verifyMfa', { recoveryCode: typed }, as);
    expect(claimsOf(accessToken)).toMatchObject({ acr: 'aal2', amr: ['pwd', 'rc'] });
    expect(await codesLeft(token)).toBe(9);
    const [a, b] = [await signIn(person), await signIn(person)];
    expectRefused(await app.call('verifyMfa', { recoveryCode }, { token: a.token, via }), via);
    const answers = await Promise.all(
      [a, b].map((session) => app.call('verifyMfa', { recoveryCode: other }, { token: session.token, via })),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await codesLeft(token)).toBe(8);
  });

  test('looks at nothing after five wrong codes, until the window ends', async () => {
    const enrolled = await enrol();
    const { token } = await signIn(enrolled.person);
    const as = { token, via };
    const guesses = [wrong(enrolled), wrong(enrolled), wrong(enrolled)];
    for (const code of guesses) expectRefused(await app.call('verifyMfa', { code }, as), via);
    for (const recoveryCode of ['aaaaaaaaaa', 'bbbbbbbbbb'])
      expectRefused(await app.call('verifyMfa', { recoveryCode }, as), via);
    const [recoveryCode = ''] = enrolled.recoveryCodes;
    expectRefused(await app.call('verifyMfa', { code: enrolled.next() }, as), via);
    expectRefused(await app.call('verifyMfa', { recoveryCode }, as), via);
    // Refused codes are not used up.
    expect((await app.must('myMfa', {}, as)).recoveryCodesLeft).toBe(10);
    app.clock.advance(15 * MINUTE);
    const later = await signIn(enrolled.person);
    await app.must('verifyMfa', { recoveryCode }, { token: later.token, via });
  });

  test('counts each of many wrong codes that come at once', { tags: 'race' }, async () => {
    const enrolled = await enrol();
    const { token } = await signIn(enrolled.person);
    const code = wrong(enrolled);
    await Promise.all(Array.from({ length: 5 }, () => app.call('verifyMfa', { code }, { token, via })));
    expectRefused(await app.call('verifyMfa', { code: enrolled.next() }, { token, via }), via);
  });

  test('gets new recovery codes, and the old ones stop', async () => {
    const { person, token, recoveryCodes } = await enrol();
    const renewed = await app.must('regenerateMfaRecoveryCodes', {}, { token, via });
    expect(renewed.recoveryCodes).toHaveLength(10);
    const session = await signIn(person);
    const as = { token: session.token, via };
    expectRefused(await app.call('verifyMfa', { recoveryCode: recoveryCodes[0] }, as), via);
    await app.must('verifyMfa', { recoveryCode: renewed.recoveryCodes[0] }, as);
    const nobody = await app.person();
    const none = await app.call('regenerateMfaRecoveryCodes', {}, { token: nobody.token, via });
    expect(none.code).toBe('INVALID_STATE');
  });

  test('is removed, the last one with the recovery codes', async () => {
    const { person, token, factorId } = await enrol();
    const stranger = await enrol();
    const foreign = await app.call('deleteMfaFactor', { id: factorId }, { token: stranger.token, via });
    expect(foreign.code).toBe('NOT_FOUND');
    const removed = await app.must('deleteMfaFactor', { id: factorId }, { token, via });
    expect(removed).toMatchObject({ id: factorId, isEnabled: true });
    const status = await app.must('myMfa', {}, { token, via });
    expect(status).toMatchObject({ enabled: false, factors: [], recoveryCodesLeft: 0 });
    const session = await signIn(person);
    expect(session.mfaRequired).toBe(false);
    const as = { token: session.token, via };
    expect((await app.call('projects', { scope: person.account }, as)).ok).toBe(true);
    expectRefused(await app.call('verifyMfa', { code: '000000' }, as), via);
  });

  test('that was never enabled is removed without a word to its user', async () => {
    const { token, account } = await app.person();
    const { factor } = await app.must('createMfaFactor', {}, { token, via });
    await app.must('deleteMfaFactor', { id: factor.id }, { token, via });
    expect((await app.must('myMfa', {}, { token, via })).factors).toEqual([]);
    const { pool } = app.database;
    const reported = await pool.select().from(events).where(eq(events.tenantId, account.id));
    expect(reported.filter(({ type }) => type === 'user.mfa_changed')).toEqual([]);
    const acts = await pool.select().from(auditLog).where(eq(auditLog.tenantId, account.id));
    expect(acts.filter(({ operation }) => operation === 'deleteMfaFactor')).toHaveLength(1);
  });

  test('exists five times at most', async () => {
    const { token } = await app.person();
    for (let i = 0; i < 5; i += 1) await app.must('createMfaFactor', {}, { token, via });
    expect((await app.call('createMfaFactor', {}, { token, via })).code).toBe('CONFLICT');
  });

  test('is changed only after a recent sign-in; giving it again is one', async () => {
    const enrolled = await enrol();
    app.clock.advance(16 * MINUTE);
    const { accessToken: token } = await app.must('refreshSession', {
      accessToken: enrolled.token,
      refreshToken: enrolled.person.refreshToken,
    });
    const as = { token, via };
    const calls = [
      () => app.call('createMfaFactor', {}, as),
      () => app.call('verifyMfaFactor', { id: enrolled.factorId, code: '000000' }, as),
      () => app.call('deleteMfaFactor', { id: enrolled.factorId }, as),
      () => app.call('regenerateMfaRecoveryCodes', {}, as),
    ];
    for (const call of calls) expect((await call()).code).toBe('STEP_UP_REQUIRED');
    await app.must('verifyMfa', { code: enrolled.next() }, as);
    expect((await app.call('regenerateMfaRecoveryCodes', {}, as)).ok).toBe(true);
  });

  test('lets a session do what an organization reserves for it', async () => {
    const person = await app.person({ type: 'organization' });
    const as = { token: person.token, via };
    const { id } = await app.must('createOrganization', { scope: person.account, name: 'Careful' }, as);
    const scope = { tenant: 'organization' as const, id };
    await app.must('updateOrganization', { scope, id, requireMfaForSensitiveActions: true }, as);
    expect((await app.call('createTag', { scope, name: 'x' }, as)).code).toBe('MFA_REQUIRED');
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    await app.must('verifyMfaFactor', { id: factor.id, code: codeOf(secret) }, as);
    expect((await app.call('createTag', { scope, name: 'x' }, as)).ok).toBe(true);
  });

  test('takes one of the two kinds of code, in its form', async () => {
    const { token } = await app.person();
    const both = { code: '123456', recoveryCode: 'abcdefghjk' };
    for (const [input, path] of [
      [{}, 'code'],
      [both, 'recoveryCode'],
      [{ code: '12345' }, 'code'],
      [{ code: 'abcdef' }, 'code'],
    ] as const) {
      const { code, details } = await app.raw('verifyMfa', input, { token, via });
      expect([code, details[0]?.path], JSON.stringify(input)).toEqual(['VALIDATION_ERROR', path]);
    }
  });
});

describe('what is kept', () => {
  test('of secrets and codes is sealed or hashed, and in no log, event or audit entry', async () => {
    const person = await app.person();
    const as = { token: person.token };
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    const code = codeOf(secret);
    const { recoveryCodes } = await app.must('verifyMfaFactor', { id: factor.id, code }, as);
    await app.must('deleteMfaFactor', { id: (await app.must('createMfaFactor', {}, as)).factor.id }, as);
    const { pool } = app.database;
    const at = person.account.id;
    const reported = await pool.select().from(events).where(eq(events.tenantId, at)).orderBy(events.sequence);
    const changes = reported.filter(({ type }) => type === 'user.mfa_changed');
    expect(changes).toHaveLength(1);
    const audited = await pool.select().from(auditLog).where(eq(auditLog.tenantId, at));
    const kept = [
      await pool.select().from(mfaFactors).where(eq(mfaFactors.userId, person.userId)),
      await pool.select().from(mfaRecoveryCodes).where(eq(mfaRecoveryCodes.userId, person.userId)),
      reported,
      audited,
      app.logs,
    ];
    const text = JSON.stringify(kept);
    const hex = fromBase32(secret ?? '').toString('hex');
    for (const item of [secret ?? '', hex, ...(recoveryCodes ?? [])]) expect(text).not.toContain(item);
    expect(JSON.stringify(reported) + JSON.stringify(audited)).not.toContain(`"${code}"`);
  });

  test('of a refused code is an audit entry', async () => {
    const enrolled = await enrol();
    await app.call('verifyMfa', { code: wrong(enrolled) }, { token: enrolled.token });
    const failed = await app.database.pool
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.tenantId, enrolled.person.account.id), eq(auditLog.outcome, 'failed')));
    expect(failed).toMatchObject([{ operation: 'verifyMfa', code: 'UNAUTHENTICATED' }]);
  });

  test('of an idempotent creation is no secret', async () => {
    const { token } = await app.person();
    const options = { token, headers: { 'idempotency-key': 'one-factor' } };
    const first = await app.must('createMfaFactor', {}, options);
    const second = await app.must('createMfaFactor', {}, options);
    expect(second).toEqual({ factor: first.factor, secret: null, otpauthUrl: null });
  });
});
