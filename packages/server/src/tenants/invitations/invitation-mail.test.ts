import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { users } from '../../schema/people/user.ts';
import { invitationTokens } from '../../schema/tenants/organization-invitation.ts';

/** The invitation mail, and that its token is stored and shown nowhere else. */
const VIEWER = roleIdOf('Organization Viewer');

let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let as: { token: string };

async function newOrganization(on: TestApp, names: { inviter: string; organization: string }) {
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
  const made = await newOrganization(app, { inviter: 'Olga', organization: 'Acme' });
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
  ['fr', 'Invitation à Acme', 'Olga vous invite', 'Voir l’invitation', 'UTC'],
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

test('the language of the invited user takes precedence over that of the inviter', async () => {
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

test('the link points to the frontend if one is configured', async () => {
  const on = await startApp({ SECURITY_FRONTEND_URL: 'https://app.example.test' });
  try {
    const made = await newOrganization(on, { inviter: 'Olga', organization: 'Acme' });
    const email = address();
    await on.must('inviteMember', { scope: made.scope, email, roleId: VIEWER }, { token: made.person.token });
    const token = await on.mailedToken(email);
    const mail = await mailTo(email, on);
    expect(mail.text).toContain(`\nhttps://app.example.test/invitations/${token}\n`);
  } finally {
    await on.close();
  }
});

test('names of strangers are plain text, never links', async () => {
  const evil = '<img src=x onerror=alert(1)> & "evil.example" https://evil.example/a';
  const made = await newOrganization(app, { inviter: `${evil} 1`, organization: `${evil} 2` });
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
  // Only the link of the service works.
  const own = /href="([^"]+)"/g;
  expect([...html.matchAll(own)].map(([, link]) => new URL(link ?? '').origin)).toEqual([
    'http://localhost:4000',
  ]);
});

test('beyond the mail limit the answer is the same, no mail is sent, and the earlier link stays valid', async () => {
  const on = await startApp({ SECURITY_RATE_LIMIT_MAIL_MAX: '2' });
  try {
    const made = await newOrganization(on, { inviter: 'Olga', organization: 'Acme' });
    const caller = { token: made.person.token };
    const email = address();
    // Refused calls send no mail, so they do not count.
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

describe.each(storyTransports(import.meta))('over %s', (via) => {
  test('the token is in the mail, and in no answer, log, event, audit entry or table', async () => {
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
    for (const item of [old, token]) {
      await call('invitation', { token: item });
      await call('acceptInvitation', { token: item });
      await call('acceptInvitation', { token: item }, person.token);
    }
    expect((await call('invitation', { token })).data).toMatchObject({ status: 'accepted' });
    await call('revokeInvitation', { scope, id }, owner.token);

    const written = [...answers, ...app.logs, ...(await everything())].join('\n');
    for (const token of tokens) {
      expect(written).not.toContain(token);
      expect([...answers, ...app.logs].join('\n')).not.toContain(hashOneTimeToken(token));
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
  const texts = [];
  for (const { name } of tables) {
    const rows = await rowsOf<{ text: string }>(
      pool,
      sql`select t::text as text from ${sql.identifier(name)} t`,
    );
    texts.push(...rows.map(({ text }) => text));
  }
  return texts;
}
