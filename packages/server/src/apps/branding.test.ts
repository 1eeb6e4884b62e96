import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import { storyTransports } from '../../test/support/cases/breadth.ts';
import { unique } from '../../test/support/app/client.ts';
import { appInProject, signInBrowser, type AppInProject } from '../../test/support/sign-in/project-app.ts';
import { isOwnPicture } from './branding/logo.ts';
import { logos } from '../schema/tenants/logo.ts';
import type { Mail } from '../kernel/ports.ts';
import { projectApps } from '../schema/apps/project-app.ts';

/** An app's texts, sender name and logo on pages and in mails, and the misuse that the service refuses. */

const gif = 'R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=';
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');

let app: TestApp;
let shop: AppInProject;
beforeAll(async () => {
  app = await startApp();
  shop = await appInProject(app, { name: 'Boards.example', primaryColor: '#ffd400' });
});
afterAll(() => app.close());

const as = () => ({ token: shop.owner.token });
const change = (fields: object, via?: 'rest' | 'graphql') =>
  app.raw(
    'updateProjectApp',
    { scope: shop.scope, id: shop.id, ...fields },
    { ...as(), ...(via && { via }) },
  );

/** Requests a sign-in mail of the app. Returns the mail, and the sign-in page. */
async function mailed(to: AppInProject = shop, on: TestApp = app): Promise<Mail & { page: string }> {
  const address = `${unique()}@example.test`;
  const browser = signInBrowser(on, to);
  await browser.authorize();
  const { body: page } = await browser.page();
  await browser.mail(address);
  const mail = on.mails.findLast(({ to: recipient }) => recipient === address);
  if (!mail) throw new Error('no mail');
  return { ...mail, page };
}
const codeIn = ({ text }: Mail) => /^\d{3} \d{3}$/m.test(text);

describe('a text of an app', () => {
  it.each(storyTransports(import.meta))(
    'stands before those of the service, which stay, over %s',
    async (via) => {
      const texts = [
        {
          purpose: 'signInMail',
          language: 'en',
          subject: 'Welcome to {app}',
          text: 'Hello <b>!\nFrom {app}.',
        },
        { purpose: 'signInMail', language: 'de', subject: null, text: 'Hallo!' },
        { purpose: 'signInPage', language: 'en', text: 'Good to see you <i>again</i>.' },
      ];
      const changed = await change({ texts, senderName: 'Böards' }, via);
      expect(changed.ok, changed.body).toBe(true);
      expect(changed.data).toMatchObject({ senderName: 'Böards' });
      const mail = await mailed();
      expect(mail).toMatchObject({ senderName: 'Böards', subject: 'Welcome to Boards.\u200Bexample' });
      expect(mail.text).toMatch(/^Hello <b>!\n\nFrom Boards\.\u200Bexample\.\n\nWe received a request/);
      expect(codeIn(mail)).toBe(true);
      expect(mail.text).toContain('http://localhost:4000/api/auth/project/email?token=');
      expect(mail.text).toContain('do not share the code with anyone');
      expect(mail.text).toMatch(/-- \nBoards\.\u200Bexample\n$/);
      expect(mail.html).toContain('Hello &lt;b&gt;!');
      // Black text on yellow, with a visible border.
      expect(mail.html).toContain(
        'border:1px solid #1c2733;border-radius:6px;background:#ffd400;color:#000000',
      );
      expect(mail.page).toContain('<p class="intro">Good to see you &lt;i&gt;again&lt;/i&gt;.</p>');
      expect(mail.page).not.toContain('· Doorward</title>');
      await change({ texts: [], senderName: null }, via);
      const plain = await mailed();
      expect(plain.senderName).toBeUndefined();
      expect(plain.subject).toBe('Sign in to Boards.\u200Bexample');
      expect(plain.page).not.toContain('class="intro"');
    },
  );

  const mail = { purpose: 'signInMail', language: 'en' };
  it.each([
    ['a link', { ...mail, text: 'Go to https://evil.example now' }, 'texts.0.text', 'not_allowed'],
    ['a name of a site', { ...mail, text: 'Go to evil.example now' }, 'texts.0.text', 'not_allowed'],
    ['a full-width name', { ...mail, text: 'Go to evil\uFF0Eexample' }, 'texts.0.text', 'not_allowed'],
    ['a name in another script', { ...mail, text: 'пример\u3002рф' }, 'texts.0.text', 'not_allowed'],
    ['a scheme without a dot', { ...mail, text: 'http://2130706433' }, 'texts.0.text', 'not_allowed'],
    ['a mail address', { ...mail, text: 'Write to me@evil' }, 'texts.0.text', 'not_allowed'],
    ['a phone number', { ...mail, text: 'Call +1 (800) 555-01 99' }, 'texts.0.text', 'not_allowed'],
    ['a number with commas', { ...mail, text: 'Call 0800,123,456' }, 'texts.0.text', 'not_allowed'],
    ['a number with stars', { ...mail, text: 'Call 0800 * 1234' }, 'texts.0.text', 'not_allowed'],
    ['a number around the name', { ...mail, text: '0800 1 {app} 2' }, 'texts.0.text', 'not_allowed'],
    ['another code', { ...mail, text: 'Your code: 123 456' }, 'texts.0.text', 'not_allowed'],
    [
      'a code in other digits',
      { ...mail, text: '\uFF11\uFF12\uFF13\uFF14\uFF15\uFF16' },
      'texts.0.text',
      'not_allowed',
    ],
    ['a name split by what is not seen', { ...mail, text: 'evil.\u200Bexample' }, 'texts.0.text', 'format'],
    ['a turn of the direction', { ...mail, text: '\u202Eelpmaxe' }, 'texts.0.text', 'format'],
    ['an unknown placeholder', { ...mail, text: 'Hello {code}' }, 'texts.0.text', 'format'],
    ['too many lines', { ...mail, text: 'a\n'.repeat(6) + 'b' }, 'texts.0.text', 'too_long'],
    ['too long a text', { ...mail, text: 'a'.repeat(501) }, 'texts.0.text', 'too_long'],
    ['a second header', { ...mail, subject: '{app}\r\nBcc: all' }, 'texts.0.subject', 'format'],
    ['a subject of two lines', { ...mail, subject: '{app}\nBcc: all' }, 'texts.0.subject', 'format'],
    ['a subject that hides the app', { ...mail, subject: 'You won' }, 'texts.0.subject', 'required'],
    [
      'a subject of a page',
      { purpose: 'signInPage', language: 'en', subject: '{app}' },
      'texts.0.subject',
      'excluded',
    ],
    ['an unknown purpose', { ...mail, purpose: 'connectionMail', text: 'a' }, 'texts.0.purpose', 'enum'],
  ])('is refused with %s', async (_, text, path, code) => {
    const refused = await change({ texts: [text] });
    expect(refused).toMatchObject({ ok: false, status: 400, details: [{ path, code }] });
  });

  it('is refused twice for a purpose and language', async () => {
    const text = { ...mail, text: 'a' };
    const refused = await change({ texts: [text, text] });
    expect(refused).toMatchObject({ status: 400, details: [{ path: 'texts.1', code: 'duplicate' }] });
  });

  it.each([
    'We are open 24/7.',
    'See e.g. the list; z. B. this: 3.5 %.',
    '¡Hola, {app}! Año 2026.',
    'Bonjour 👋',
  ])('may say: %s', async (text) => {
    const kept = await change({ texts: [{ ...mail, text }] });
    expect(kept.ok, kept.body).toBe(true);
    expect((await change({ texts: [] })).ok).toBe(true);
  });
});

describe('a sender name', () => {
  it.each([
    ['an address', 'Bank <security@bank.example>'],
    ['a site', 'bank.example'],
    ['a second header', 'Bank\r\nBcc: all@example.test'],
    ['a second mailbox', 'Bank, Other'],
    ['quotes', '"Bank"'],
    ['a group', 'Bank: me;'],
    ['what is not seen', 'Ba\u200Bnk'],
  ])('has no %s', async (_, senderName) => {
    const refused = await change({ senderName });
    expect(refused).toMatchObject({ status: 400, details: [{ path: 'senderName' }] });
  });
});

it('an operator turns texts and sender names off: none is taken, and stored ones are not sent', async () => {
  const strict = await startApp({ MAIL_APP_TEXTS: 'false' });
  try {
    const made = await appInProject(strict);
    const token = { token: made.owner.token };
    for (const fields of [
      { senderName: 'Bank' },
      { texts: [{ purpose: 'signInMail', language: 'en', text: 'a' }] },
    ]) {
      const input = { scope: made.scope, id: made.id, ...fields };
      const refused = await strict.raw('updateProjectApp', input, token);
      expect(refused).toMatchObject({ status: 400, details: [{ code: 'not_allowed' }] });
    }
    const stored = {
      senderName: 'Bank',
      texts: [{ purpose: 'signInMail', language: 'en', subject: '{app}?', text: 'b' }],
    };
    await strict.database.pool
      .update(projectApps)
      .set(stored as never)
      .where(eq(projectApps.id, made.id));
    const mail = await mailed(made, strict);
    expect(mail.senderName).toBeUndefined();
    expect([mail.subject, codeIn(mail)]).toEqual(['Sign in to Acme Boards', true]);
  } finally {
    await strict.close();
  }
});

describe('a logo', () => {
  const upload = (file: string | null, via?: 'rest' | 'graphql', to = shop) =>
    app.raw(
      'uploadProjectAppLogo',
      { scope: to.scope, id: to.id, file },
      { token: to.owner.token, ...(via && { via }) },
    );
  const rows = () => app.database.pool.select({ id: logos.id }).from(logos).where(eq(logos.id, shop.id));
  const status = async (address: string) => (await app.server.inject(new URL(address).pathname)).statusCode;

  it.each(storyTransports(import.meta))(
    'is uploaded, shown on pages and in mails, replaced and removed, over %s',
    async (via) => {
      const made = await upload(gif, via);
      expect(made.ok, made.body).toBe(true);
      const { logoUrl } = made.data as { logoUrl: string };
      expect(logoUrl).toMatch(/^http:\/\/localhost:4000\/api\/pictures\/[\w-]{43}\.gif$/);
      const mail = await mailed();
      expect(mail.html).toContain(`src="${logoUrl}"`);
      expect(mail.page).toContain(`src="${new URL(logoUrl).pathname}"`);
      expect(await status(logoUrl)).toBe(200);
      const { logoUrl: second } = (await upload(gif, via)).data as { logoUrl: string };
      expect([await status(logoUrl), await status(second)]).toEqual([404, 200]);
      expect((await upload(null, via)).data).toMatchObject({ logoUrl: null });
      expect([await status(second), await rows()]).toEqual([404, []]);
    },
  );

  it('of another site is in no mail, and takes the place of an uploaded one', async () => {
    await upload(gif);
    const changed = await change({ logoUrl: 'https://tracker.example/logo.png' });
    expect(changed.ok, changed.body).toBe(true);
    expect(await rows()).toEqual([]);
    expect((await mailed()).html).not.toContain('tracker.example');
    await change({ logoUrl: null });
  });

  it('is no markup, no long side and no large file', async () => {
    expect(await upload(svg)).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    const wide = Buffer.from(gif, 'base64');
    wide.writeUInt16LE(1025, 6);
    expect(await upload(wide.toString('base64'))).toMatchObject({ status: 415 });
    expect(await upload(Buffer.alloc(2 ** 18 + 1).toString('base64'))).toMatchObject({ status: 413 });
    expect(await upload('§')).toMatchObject({ status: 400, details: [{ path: 'file', code: 'format' }] });
  });

  it('is uploaded by the makers of the app alone, and goes with it', async () => {
    const other = await appInProject(app);
    const stolen = await app.raw(
      'uploadProjectAppLogo',
      { scope: other.scope, id: shop.id, file: gif },
      { token: other.owner.token },
    );
    expect(stolen).toMatchObject({ status: 404 });
    const { logoUrl } = (await upload(gif, 'rest', other)).data as { logoUrl: string };
    await app.must('deleteProjectApp', { scope: other.scope, id: other.id }, { token: other.owner.token });
    expect(await status(logoUrl)).toBe(404);
  });
});

it.each(storyTransports(import.meta))(
  'an organization has a logo and a colour in its invitations, over %s',
  async (via) => {
    const owner = await app.person({ type: 'organization' });
    const token = { token: owner.token, via };
    const { id } = await app.must('createOrganization', { scope: owner.account, name: 'Acme' }, token);
    const scope = { tenant: 'organization' as const, id };
    await app.must('updateOrganization', { scope, id, primaryColor: '#0a7d55' }, token);
    const { logoUrl } = await app.must('uploadOrganizationLogo', { scope, id, file: gif }, token);
    const email = `${unique()}@example.test`;
    const { items: roles } = await app.must('roles', { scope, search: 'Organization Viewer' }, token);
    await app.must('inviteMember', { scope, email, roleId: String(roles[0]?.id) }, token);
    await app.mailedToken(email);
    const mail = app.mails.findLast(({ to }) => to === email);
    expect(mail?.html).toContain(`src="${String(logoUrl)}"`);
    expect(mail?.html).toContain('background:#0a7d55;color:#ffffff');
    expect(mail?.text).toMatch(/-- \nDoorward\n$/);
    expect(mail?.senderName).toBeUndefined();
    const removed = await app.must('uploadOrganizationLogo', { scope, id, file: null }, token);
    expect(removed.logoUrl).toBeNull();
    expect((await app.server.inject(new URL(String(logoUrl)).pathname)).statusCode).toBe(404);
  },
);

it('an uploaded logo is known by its exact address, and not by one that leads elsewhere from there', () => {
  const folder = 'https://access.example/api/pictures/';
  const name = `${'a'.repeat(43)}.png`;
  expect(isOwnPicture('https://access.example', folder + name)).toBe(true);
  for (const other of ['../auth/project/authorize?client_id=a', `${name}?a`, `../${name}`, `${name}/..`, ''])
    expect(isOwnPicture('https://access.example', folder + other), other).toBe(false);
});
