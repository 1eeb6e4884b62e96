import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { transports, unique, type Person } from '../../../test/support/client.ts';
import { roleIdOf } from '../../access/built-in.ts';
import { hashOneTimeToken } from '../../crypto/one-time-token.ts';
import { rowsOf } from '../../db/rows.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { users } from '../users/user.ts';
import { invitationTokens } from './invitation.ts';

/** What is mailed to the invited, and that what is mailed stands nowhere else. */
const VIEWER = roleIdOf('Organization Viewer');

let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let as: { token: string };

async function found(on: TestApp, names: { inviter: string; organization: string }) {
  const person = await on.person({ type: 'organization', name: names.inviter });
  const { id } = await on.must(
    'createOrganization',
    { scope: person.account, name: names.organization, slug: `acme-${unique()}` },
    { token: person.token },
  );
  return { person, scope: { tenant: 'organization', id } as const };
}

beforeAll(async () => {
  app = await startApp();
  const made = await found(app, { inviter: 'Olga', organization: 'Acme' });
  [owner, scope] = [made.person, made.scope];
  as = { token: owner.token };
});
afterAll(() => app.close());

const address = () => `${unique()}@example.test`;
const mailTo = async (email: string, on: TestApp = app): Promise<Mail> => {
  await on.app.flushMails();
  const mail = on.mails.findLast(({ to }) => to === email);
  if (!mail) throw new Error(`nothing was mailed to ${email}`);
  return mail;
};

test.each([
  ['en', 'Invitation to Acme', 'Olga invites you', 'View the invitation', 'UTC'],
  ['de', 'Einladung zu Acme', 'Olga lädt Sie', 'Einladung ansehen', 'UTC'],
  ['es', 'Invitación a Acme', 'Olga le invita', 'Ver la invitación', 'UTC'],
  ['fr', 'Invitation à Acme', 'Olga vous invite', "Voir l'invitation", 'UTC'],
])('the mail in %s has everything that is needed, once', async (language, subject, ...parts) => {
  const email = address();
  const headers = { 'accept-language': `${language};q=0.9, ja` };
  await app.must('inviteMember', { scope, email, roleId: VIEWER }, { ...as, headers });
  const mail = await mailTo(email);
  expect(mail.subject).toBe(subject);
  const token = await app.mailedToken(email);
  const link = `http://localhost:4000/hosted/invitation?token=${token}`;
  for (const part of [...parts, 'Acme', 'Organization Viewer', link]) expect(mail.text).toContain(part);
  expect(mail.html).toContain(`<html lang="${language}">`);
  expect(mail.html).toContain(`href="${link}"`);
  expect(mail.text.split(token)).toHaveLength(2);
});

test('the language of the invited goes before that of the inviter', async () => {
  const person = await app.person();
  await app.database.pool.update(users).set({ locale: 'fr' }).where(eq(users.id, person.userId));
  const headers = { 'accept-language': 'de' };
  const { id } = await app.must(
    'inviteMember',
    { scope, email: person.email, roleId: VIEWER },
    { ...as, headers },
  );
  expect((await mailTo(person.email)).subject).toBe('Invitation à Acme');
  await app.must('resendInvitation', { scope, id }, { ...as, headers });
  expect((await mailTo(person.email)).subject).toBe('Invitation à Acme');
});

test('the link leads to the frontend where there is one', async () => {
  const on = await startApp({ SECURITY_FRONTEND_URL: 'https://app.example.test' });
  try {
    const made = await found(on, { inviter: 'Olga', organization: 'Acme' });
    const email = address();
    await on.must('inviteMember', { scope: made.scope, email, roleId: VIEWER }, { token: made.person.token });
    const token = await on.mailedToken(email);
    const mail = await mailTo(email, on);
    expect(mail.text).toContain(`\nhttps://app.example.test/invitations/${token}\n`);
  } finally {
    await on.close();
  }
});

test('names of strangers are text, and never links of their own', async () => {
  const evil = '<img src=x onerror=alert(1)> & "evil.example" https://evil.example/a';
  const made = await found(app, { inviter: `${evil} 1`, organization: `${evil} 2` });
  const token = made.person.token;
  const role = await app.must('createRole', { scope: made.scope, name: `${evil} 3` }, { token });
  const email = address();
  await app.must('inviteMember', { scope: made.scope, email, roleId: role.id }, { token });
  const { subject, text, html } = await mailTo(email);
  expect(html).not.toMatch(/<img|onerror=alert\(1\)>/);
  for (const n of [1, 2, 3]) expect(html).toContain(`/a ${n}`);
  expect(html).toContain('&lt;img src=x');
  for (const part of [subject, text, html]) {
    expect(part).not.toContain('evil.example');
    expect(part).not.toMatch(/\r|\nBcc:/);
  }
  // The one link that works is ours.
  const own = /href="([^"]+)"/g;
  expect([...html.matchAll(own)].map(([, link]) => new URL(link ?? '').origin)).toEqual([
    'http://localhost:4000',
  ]);
});

test('an address that may get no more mails is answered as if it got one, and keeps the link it has', async () => {
  const on = await startApp({ SECURITY_RATE_LIMIT_MAIL_MAX: '2' });
  try {
    const made = await found(on, { inviter: 'Olga', organization: 'Acme' });
    const caller = { token: made.person.token };
    const email = address();
    // Refused calls send no mail, so they take none away.
    const { id } = await on.must('inviteMember', { scope: made.scope, email, roleId: VIEWER }, caller);
    for (let i = 0; i < 5; i++) {
      expect(
        (await on.raw('inviteMember', { scope: made.scope, email, roleId: VIEWER }, caller)).status,
      ).toBe(409);
    }
    const answers = [];
    for (const name of ['resendInvitation', 'resendInvitation', 'renewInvitation'] as const) {
      on.clock.advance(1000);
      answers.push(await on.must(name, { scope: made.scope, id }, caller));
    }
    await on.app.flushMails();
    expect(on.mails.filter(({ to }) => to === email)).toHaveLength(2);
    expect(new Set(answers.map(({ lastSentAt }) => lastSentAt)).size).toBe(3);
    const look = await on.must('invitation', { token: await on.mailedToken(email) });
    expect(look).toMatchObject({ status: 'pending', expiresAt: answers[2]?.expiresAt });
  } finally {
    await on.close();
  }
});

describe.each(transports)('over %s', (via) => {
  test('the token stands in the mail, and in no answer, log, event, audit entry or table', async () => {
    const person = await app.person();
    const tokens: string[] = [];
    const answers: string[] = [];
    const call = async (name: string, input: object, token?: string) => {
      const answer = await app.raw(name, input, { via, token });
      answers.push(answer.body, JSON.stringify(answer.headers));
      return answer;
    };
    const created = await call('inviteMember', { scope, email: person.email, roleId: VIEWER }, owner.token);
    const { id } = created.data as { id: string };
    tokens.push(await app.mailedToken(person.email));
    for (const name of ['resendInvitation', 'renewInvitation']) {
      await call(name, { scope, id }, owner.token);
      tokens.push(await app.mailedToken(person.email));
    }
    expect(new Set(tokens).size).toBe(3);
    const [old = '', , token = ''] = tokens;
    await call('organizationInvitations', { scope }, owner.token);
    for (const one of [old, token]) {
      await call('invitation', { token: one });
      await call('acceptInvitation', { token: one });
      await call('acceptInvitation', { token: one }, person.token);
    }
    expect((await call('invitation', { token })).data).toMatchObject({ status: 'accepted' });
    await call('revokeInvitation', { scope, id }, owner.token);

    const written = [...answers, ...app.logs, ...(await everything())].join('\n');
    for (const one of tokens) {
      expect(written).not.toContain(one);
      expect([...answers, ...app.logs].join('\n')).not.toContain(hashOneTimeToken(one));
    }
    const [kept] = await app.database.pool
      .select()
      .from(invitationTokens)
      .where(eq(invitationTokens.invitationId, id));
    expect(kept?.hash).toBe(hashOneTimeToken(token));
  });
});

/** Every row of every table, as text. */
async function everything(): Promise<string[]> {
  const { pool } = app.database;
  const tables = await rowsOf<{ name: string }>(
    pool,
    sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const found = [];
  for (const { name } of tables) {
    const rows = await rowsOf<{ text: string }>(
      pool,
      sql`select t::text as text from ${sql.identifier(name)} t`,
    );
    found.push(...rows.map(({ text }) => text));
  }
  return found;
}
