import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountBrowser } from '../../../test/support/sign-in/account-browser.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Invitations of people who have no password, or do not use it. */

let app: TestApp;
let owner: Person;
let scope: ScopeRef;
beforeAll(async () => {
  app = await startApp();
  owner = await app.person({ type: 'organization', name: 'Olga' });
  const input = { scope: owner.account, name: 'Acme <b>', slug: `acme-${unique()}` };
  const { id } = await app.must('createOrganization', input, { token: owner.token });
  scope = { tenant: 'organization', id };
});
afterAll(() => app.close());

async function invited(email: string): Promise<{ id: string; token: string }> {
  const input = { scope, email, roleId: roleIdOf('Organization Viewer') };
  const { id } = await app.must('inviteMember', input, { token: owner.token });
  return { id, token: await app.mailedToken(email) };
}
const statusOf = async (id: string) =>
  (await app.must('organizationInvitations', { scope, ids: [id] }, { token: owner.token })).items[0]?.status;
const pageOf = (token: string) => `/account/invitation?token=${token}`;

test('a mailed code is enough: the sign-in leads back to the invitation, and one button accepts it', async () => {
  const person = await app.person();
  const { id, token } = await invited(person.email);
  const browser = accountBrowser(app);
  const end = await browser.signIn(person.email, pageOf(token));
  expect(end.headers.location).toBe(`http://localhost:4000${pageOf(token)}`);
  const page = await browser.page(pageOf(token));
  expect(page.body).toContain('organization “<bdi>Acme &lt;b&gt;</bdi>”');
  expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' });
  // Opening the page changes nothing.
  expect(await statusOf(id)).toBe('pending');
  const accepted = await browser.send(pageOf(token), { token });
  expect([accepted.statusCode, accepted.body]).toEqual([200, expect.stringContaining('Welcome!')]);
  expect(accepted.body).toContain('href="/account">Continue</a>');
  expect(await statusOf(id)).toBe('accepted');
  expect((await browser.page(pageOf(token))).body).toContain('already been accepted');
});

test('the address of the invitation is in the form of the sign-in, and the token in no other address', async () => {
  const browser = accountBrowser(app);
  const { headers } = await browser.page(`${pageOf('abc')}&login_hint=ada%40example.test`);
  const begun = new URL(String(headers.location));
  expect(Object.fromEntries(begun.searchParams)).toEqual({
    redirect: `http://localhost:4000${pageOf('abc')}`,
    login_hint: 'ada@example.test',
  });
});

test('another user learns that it is not for them, and accepts nothing', async () => {
  const email = `${unique()}@example.test`;
  const { id, token } = await invited(email);
  const other = await app.person();
  const browser = accountBrowser(app);
  await browser.signIn(other.email);
  const refused = await browser.send(pageOf(token), { token });
  expect([refused.statusCode, refused.body]).toEqual([
    403,
    expect.stringContaining(`for <bdi>${email}</bdi>`),
  ]);
  expect(await statusOf(id)).toBe('pending');
});

test('a form of another page accepts nothing', async () => {
  const person = await app.person();
  const { id, token } = await invited(person.email);
  const browser = accountBrowser(app);
  await browser.signIn(person.email);
  const forms = [
    { fields: { form_token: 'x'.repeat(43), token }, headers: {}, code: 'INVALID_TOKEN' },
    { fields: { token }, headers: { origin: 'https://evil.example' }, code: 'ORIGIN_NOT_ALLOWED' },
  ];
  for (const { fields, headers, code } of forms) {
    const refused = await browser.post('/account/invitation', fields, { accept: 'text/html', ...headers });
    expect(refused.statusCode, code).toBeGreaterThanOrEqual(400);
    expect(refused.body).toContain(code);
  }
  expect(await statusOf(id)).toBe('pending');
});

test.each(['', 'x', 'y'.repeat(43), 'z'.repeat(2000)])(
  'a token that is none is reported (%#)',
  async (token) => {
    const person = await app.person();
    const browser = accountBrowser(app);
    await browser.signIn(person.email);
    expect((await browser.page(pageOf(token))).body).toContain('This link is not valid.');
  },
);
