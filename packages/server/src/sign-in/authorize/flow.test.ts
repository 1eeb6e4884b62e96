import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique } from '../../../test/support/app/client.ts';
import {
  appInProject,
  projectViewer,
  roleWith,
  signInBrowser,
  redirectParameters,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { cookieNames, withoutFlow, visitor } from '../../../test/support/app/visitor.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';

/** From the mailed link to the code: which browser and token are accepted, how often, and what is stored. */

const MINUTE = 60_000;
let app: TestApp;
let boards: AppInProject;
let role: string;

beforeAll(async () => {
  app = await startApp();
  const owner = await app.person();
  boards = await appInProject(app, { scopes: ['board:read', 'board:edit'] }, owner);
  role = await roleWith(app, boards, ['read']);
  await change({ allowSignUp: true, signUpRoleId: role });
});
afterAll(() => app.close());

const change = (fields: object, to = boards) =>
  app.raw('updateProjectApp', { scope: to.scope, id: to.id, ...fields }, { token: to.owner.token });
const browserOf = (to = boards): SignInBrowser => signInBrowser(app, to);
const newAddress = () => `visitor-${unique()}@example.test`;
const codeOf = (answer: Parameters<typeof redirectParameters>[0]) => redirectParameters(answer)['code'] ?? '';
const rowOf = async (code: string) => {
  const isIt = eq(projectCodes.hash, hashOneTimeToken(code));
  return (await app.database.pool.select().from(projectCodes).where(isIt))[0];
};

/** Everything in the database that a sign-in could change, except the flow itself. */
async function state(): Promise<unknown> {
  const [counts] = await rowsOf<Record<string, number>>(
    app.database.pool,
    sql`select (select count(*)::int from users) as users, (select count(*)::int from accounts) as accounts,
      (select count(*)::int from authentication_methods) as methods, (select count(*)::int from sessions) as sessions,
      (select count(*)::int from project_users) as participants, (select count(*)::int from project_codes) as codes,
      (select count(*)::int from events) as events, (select count(*)::int from audit_log) as audited`,
  );
  return counts;
}

describe('by mail', () => {
  test('the Basic credentials of a proxy are ignored', async () => {
    const [browser, address] = [browserOf(), newAddress()];
    await browser.authorize();
    const authorization = `Basic ${Buffer.from('staging:door & ward').toString('base64')}`;
    const path = '/api/auth/project/email/request';
    const form_token = await browser.formToken();
    const requested = await browser.post(path, { email: address, form_token }, { authorization });
    expect(requested.statusCode).toBe(303);
    expect((await browser.page()).body).toContain(address);
  });

  test('a new user signs up: created, verified and joined on consent, and not before', async () => {
    const [browser, address] = [browserOf(), newAddress()];
    const before = await state();
    await browser.toConsent(address);
    expect(await state()).toEqual(before);
    const answer = await browser.answer('approve');
    expect(answer.statusCode).toBe(303);
    expect(String(answer.headers.location)).toMatch(/^https:\/\/boards\.example\/callback\?code=/);
    const reported = redirectParameters(answer);
    expect(reported).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/) as string,
      state: browser.request['state'],
      iss: boards.issuer,
    });
    expect(cookieNames(browser)).toEqual(['doorward_sso']);
    const row = await rowOf(codeOf(answer));
    expect(row).toMatchObject({
      appId: boards.id,
      redirectUri: boards.redirectUri,
      challenge: browser.request['code_challenge'],
      scopes: ['board:read', 'board:edit'],
      acr: 'aal1',
      amr: ['mail'],
      sessionId: null,
    });
    const left = (row?.expiresAt.getTime() ?? 0) - app.clock.now().getTime();
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
    const [userId, scope] = [row?.userId ?? '', boards.scope];
    const user = await app.must('user', { scope, id: userId }, { token: boards.owner.token });
    expect(user).toMatchObject({ name: address.split('@')[0], email: address, emailVerified: true });
    const [, projectId = ''] = scope.id.split(':');
    const inProject = (
      await app.database.pool
        .select()
        .from(events)
        .where(eq(events.tenantId, projectId))
        .orderBy(events.sequence)
    )
      .filter(({ body }) => JSON.stringify(body).includes(userId))
      .map(({ body, type }) => [type, (body as { actor: { userId: string } }).actor.userId]);
    expect(inProject).toEqual([
      ['user.created', userId],
      ['project.user_added', userId],
    ]);
    const entries = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.tenantId, projectId))
      .orderBy(auditLog.sequence);
    const entry = entries.filter(({ operation }) => operation === 'approveProjectConsent').at(-1);
    expect(entry).toMatchObject({
      actor: { type: 'user', userId },
      target: { type: 'ProjectApp', id: boards.id },
      metadata: { scopes: ['board:read', 'board:edit'], consent: 'given' },
    });
    const stored = JSON.stringify(await app.database.pool.select().from(auditLog)) + app.logs.join('');
    for (const secret of [reported['code'], browser.request['state'], address])
      expect(stored).not.toContain(secret);
  });

  test('a returning user is recognized every time', async () => {
    const address = newAddress();
    const come = async () => {
      const browser = browserOf();
      await browser.toConsent(address);
      return rowOf(codeOf(await browser.answer('approve')));
    };
    const [first, second] = [await come(), await come()];
    expect(second?.userId).toBe(first?.userId);
    expect(second?.hash).not.toBe(first?.hash);
  });

  test('cancelling leaves nothing behind, at any step', async () => {
    const before = await state();
    const atSignIn = browserOf();
    await atSignIn.authorize();
    const atConsent = browserOf();
    await atConsent.toConsent(newAddress());
    for (const browser of [atSignIn, atConsent]) {
      const answer = await browser.answer('deny');
      expect(answer.statusCode).toBe(303);
      expect(redirectParameters(answer)).toEqual({
        error: 'access_denied',
        state: browser.request['state'],
        iss: boards.issuer,
      });
      expect(cookieNames(browser)).toEqual([]);
      expect((await browser.page()).statusCode).toBe(400);
    }
    expect(await state()).toEqual(before);
  });

  test('the same steps accept JSON', async () => {
    const browser = browserOf();
    await browser.authorize();
    const cookie = `doorward_flow=${browser.cookies.get('doorward_flow')}`;
    const address = newAddress();
    const headers = { cookie, origin: 'http://localhost:4000' };
    const requested = await app.raw('requestProjectEmail', { email: address.toUpperCase() }, { headers });
    expect([requested.status, requested.data]).toEqual([202, { accepted: true }]);
    const invalid = await app.raw('requestProjectEmail', { email: 'nobody' }, { headers });
    expect([invalid.status, invalid.details[0]?.path]).toEqual([400, 'email']);
    await app.raw('requestProjectEmail', { email: address }, { headers });
    const opened = await app.raw(
      'consumeProjectEmail',
      { token: await app.mailedToken(address) },
      { headers },
    );
    expect([opened.status, withoutFlow(String(opened.headers.location))]).toEqual([
      303,
      'http://localhost:4000/api/auth/project/consent',
    ]);
    const consent_token = await browser.formToken();
    const info = { name: 'Acme Boards', scopes: [{ scope: 'board:read' }] };
    const here = await app.raw('projectConsentInfo', { consent_token }, { headers });
    const user = { displayName: address.split('@')[0], email: address, pictureUrl: null };
    expect(here.data).toMatchObject({ ...info, user });
    const elsewhere = await app.raw('projectConsentInfo', { consent_token });
    expect(elsewhere.data).toMatchObject({ ...info, user: null });
    const answer = await app.raw('approveProjectConsent', { consent_token }, { headers });
    const { redirectUrl } = answer.data as { redirectUrl: string };
    expect(redirectUrl).toMatch(/^https:\/\/boards\.example\/callback\?code=[\w-]{43}&state=/);
    expect((await app.raw('projectConsentInfo', { consent_token }, { headers })).code).toBe('INVALID_TOKEN');
  });

  test('the page shows that an address is malformed', async () => {
    const browser = browserOf();
    await browser.authorize();
    const before = app.mails.length;
    const requested = await browser.post('/api/auth/project/email/request', { email: 'no address' });
    expect([requested.statusCode, requested.headers.location]).toEqual([303, '/api/auth/project/sign-in']);
    expect((await browser.page()).body).toContain('aria-invalid="true"');
    await app.app.flushMails();
    expect(app.mails.length).toBe(before);
  });

  test('the mail shows the name of the app, without its markup or links', async () => {
    const named = await appInProject(app, {
      name: '<img src=x onerror=alert(1)>"\'& visit evil.example',
      allowSignUp: true,
      signUpRoleId: projectViewer,
    });
    const browser = browserOf(named);
    await browser.authorize();
    const address = newAddress();
    await browser.mail(address);
    const mail = app.mails.findLast(({ to }) => to === address);
    expect(mail?.html).toContain(
      '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp; visit evil.\u200Bexample',
    );
    expect(mail?.html).not.toContain('<img');
    expect(mail?.text).not.toContain('evil.example');
    expect(mail?.subject).not.toMatch(/[\r\n]/);
    const pages = [(await browser.page()).body];
    await browser.open(await app.mailedToken(address));
    pages.push((await browser.page()).body);
    for (const page of pages) {
      expect(page).toContain('&lt;img src=x');
      expect(page).not.toContain('<img src=x');
    }
  });

  test.each([
    ['de', 'Anmelden bei Acme Boards'],
    ['es', 'Iniciar sesión en Acme Boards'],
    ['fr', 'Se connecter à Acme Boards'],
    ['en', 'Sign in to Acme Boards'],
  ])('in the language %s', async (language, subject) => {
    const [browser, email] = [browserOf(), newAddress()];
    await browser.authorize();
    await browser.post('/api/auth/project/email/request', { email }, { 'accept-language': language });
    await app.app.flushMails();
    expect(app.mails.findLast(({ to }) => to === email)?.subject).toBe(subject);
  });
});

describe('a link', () => {
  test('works only in the browser that requested it; elsewhere it stays valid', async () => {
    const [mine, other, none] = [browserOf(), browserOf(), visitor(app.server)];
    await mine.authorize();
    await other.authorize();
    const token = await mine.mail(newAddress());
    const before = await state();
    for (const stranger of [other, none]) {
      const page = await stranger.get(`/api/auth/project/email?token=${token}`, { accept: 'text/html' });
      expect(page.body).not.toContain('email/consume');
      const opened = await stranger.post('/api/auth/project/email/consume', { token });
      expect([opened.statusCode, opened.json<{ code: string }>().code]).toEqual([400, 'INVALID_TOKEN']);
      expect(opened.headers.location).toBeUndefined();
    }
    expect(await state()).toEqual(before);
    const page = await mine.get(`/api/auth/project/email?token=${token}`, { accept: 'text/html' });
    expect(page.body).toContain('email/consume');
    expect((await mine.open(token)).headers.location).toContain('/consent');
  });

  test('works once, also when opened twice concurrently', { tags: 'race' }, async () => {
    const browser = browserOf();
    await browser.authorize();
    const token = await browser.mail(newAddress());
    const opened = await Promise.all([1, 2, 3].map(() => browser.open(token)));
    expect(opened.map(({ statusCode }) => statusCode)).toEqual([303, 303, 303]);
    expect(new Set(opened.map(({ headers }) => headers.location)).size).toBe(1);
    app.clock.advance(31_000);
    expect((await browser.open(token)).statusCode).toBe(400);
  });

  test('is replaced by a newer one, which signs in the address that it was sent to', async () => {
    const [browser, first, second] = [browserOf(), newAddress(), newAddress()];
    await browser.authorize();
    const older = await browser.mail(first);
    const newer = await browser.mail(second);
    expect((await browser.open(older)).statusCode).toBe(400);
    await browser.open(newer);
    const page = await browser.page();
    expect(page.body).toContain(second);
    expect(page.body).not.toContain(first);
    // The page shows the owner of the app, whatever name the app has.
    expect(page.body).toContain('<bdi>Boards</bdi>. It uses Doorward to sign you in.');
  });

  test('is mailed without messages or links from the name of an app', async () => {
    const links = 'http://2130706433/ a@evil b。evil c．evil d｡evil';
    const named = await appInProject(app, {
      name: `${links} ${'!'.repeat(200)}`,
      allowSignUp: true,
      signUpRoleId: projectViewer,
    });
    const browser = browserOf(named);
    await browser.authorize();
    const address = newAddress();
    await browser.mail(address);
    const mail = app.mails.findLast(({ to }) => to === address);
    for (const part of [mail?.subject, mail?.text]) {
      expect(part).not.toMatch(/2130706433\/\/|http:\/\/2|a@evil|[。．｡]evil/);
      expect(part).toContain('http:\u200B//2130706433/ a@\u200Bevil');
    }
    expect([...(mail?.subject ?? '').replaceAll('\u200B', '')].length).toBe('Sign in to '.length + 60);
  });

  test('ends with a request for another address, also if that got no mail', async () => {
    const tight = await startApp({ SECURITY_RATE_LIMIT_MAIL_MAX: '2' });
    try {
      const to = await appInProject(tight, { allowSignUp: true, signUpRoleId: projectViewer });
      const victim = newAddress();
      const spent = signInBrowser(tight, to);
      await spent.authorize();
      for (let i = 0; i < 2; i += 1) await spent.mail(victim);
      const browser = signInBrowser(tight, to);
      await browser.authorize();
      const address = newAddress();
      const own = await browser.mail(address);
      const before = tight.mails.length;
      const requested = await browser.post('/api/auth/project/email/request', { email: victim });
      expect(requested.statusCode).toBe(303);
      await tight.app.flushMails();
      expect(tight.mails.length).toBe(before);
      // The answer is the same as for a mail that was sent.
      const page = await browser.page();
      expect(page.body).toContain(victim);
      expect(page.body).not.toContain(address);
      // Otherwise the link would tell whether a mail was sent.
      expect((await browser.open(own)).statusCode).toBe(400);
    } finally {
      await tight.close();
    }
  });

  test('is not extended by requests for mails that were not sent', async () => {
    const tight = await startApp({ SECURITY_RATE_LIMIT_MAIL_MAX: '1' });
    try {
      const to = await appInProject(tight, { allowSignUp: true, signUpRoleId: projectViewer });
      const browser = signInBrowser(tight, to);
      const email = newAddress();
      await browser.authorize();
      const token = await browser.mail(email);
      tight.clock.advance(9 * MINUTE);
      const again = await browser.post('/api/auth/project/email/request', { email });
      expect(again.statusCode).toBe(303);
      tight.clock.advance(2 * MINUTE);
      expect((await browser.page()).statusCode).toBe(200);
      expect((await browser.get(`/api/auth/project/email?token=${token}`)).body).not.toContain(token);
      expect((await browser.open(token)).statusCode).toBe(400);
    } finally {
      await tight.close();
    }
  });

  test('expires ten minutes after the mail, together with the flow cookie', async () => {
    const browser = browserOf();
    await browser.authorize();
    app.clock.advance(9 * MINUTE);
    const token = await browser.mail(newAddress());
    app.clock.advance(9 * MINUTE);
    expect((await browser.get(`/api/auth/project/email?token=${token}`)).statusCode).toBe(200);
    app.clock.advance(MINUTE);
    expect((await browser.open(token)).statusCode).toBe(400);
    expect((await browser.page()).statusCode).toBe(400);
  });
});

describe('without what a step needs', () => {
  /** A browser at the consent page, and every request that it could post. */
  async function waiting() {
    const browser = browserOf();
    await browser.authorize();
    const mailed = await browser.mail(newAddress());
    const form_token = await browser.formToken();
    return { browser, mailed, form_token };
  }
  const posts = ({ mailed, form_token }: { mailed: string; form_token: string }) =>
    [
      ['email/request', { email: 'a@example.test', form_token }],
      ['email/consume', { token: mailed }],
      ['second-factor', { form_token, code: '123456' }],
      ['consent/approve', { consent_token: form_token }],
      ['consent/deny', { consent_token: form_token }],
    ] as const;

  test('every step is refused without the cookie, or with that of another flow', async () => {
    const waits = await waiting();
    const other = browserOf();
    await other.authorize();
    for (const stranger of [visitor(app.server), other]) {
      for (const [path, form] of posts(waits)) {
        const answer = await stranger.post(`/api/auth/project/${path}`, form);
        expect([answer.statusCode, answer.headers.location], path).toEqual([400, undefined]);
      }
    }
    for (const path of ['github', 'sign-in', 'second-factor', 'consent']) {
      const answer = await visitor(app.server).get(`/api/auth/project/${path}`);
      expect([answer.statusCode, answer.headers.location], path).toEqual([400, undefined]);
    }
    expect((await waits.browser.open(waits.mailed)).statusCode).toBe(303);
  });

  test('pages of other origins cannot use the cookie', async () => {
    const waits = await waiting();
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost:4000.evil.example' },
      { origin: 'https://boards.example', 'sec-fetch-site': 'cross-site' },
    ]) {
      for (const [path, form] of posts(waits)) {
        const answer = await waits.browser.post(`/api/auth/project/${path}`, form, headers);
        expect([answer.statusCode, answer.json<{ code: string }>().code], path).toEqual([
          403,
          'ORIGIN_NOT_ALLOWED',
        ]);
      }
    }
    expect((await waits.browser.open(waits.mailed)).statusCode).toBe(303);
  });

  test('a form token of another page, or of an earlier step, is refused', async () => {
    const waits = await waiting();
    const { browser, form_token } = waits;
    const wrong = await browser.post('/api/auth/project/email/request', {
      email: 'a@example.test',
      form_token: 'x',
    });
    expect(wrong.statusCode).toBe(400);
    await browser.open(waits.mailed);
    for (const decision of ['approve', 'deny']) {
      const early = await browser.post(`/api/auth/project/consent/${decision}`, {
        consent_token: form_token,
      });
      expect(early.statusCode, decision).toBe(400);
    }
    expect((await browser.answer('approve')).statusCode).toBe(303);
  });

  test('consent is refused before the identity is proved', async () => {
    const browser = browserOf();
    await browser.authorize();
    const answer = await browser.answer('approve');
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
    expect((await browser.get('/api/auth/project/consent')).headers.location).toBe(
      '/api/auth/project/sign-in',
    );
  });

  test('a flow expires after ten minutes', async () => {
    const browser = browserOf();
    await browser.toConsent(newAddress());
    const consent_token = await browser.formToken();
    app.clock.advance(10 * MINUTE);
    for (const decision of ['approve', 'deny']) {
      const answer = await browser.post(`/api/auth/project/consent/${decision}`, { consent_token });
      expect([answer.statusCode, answer.headers.location], decision).toEqual([400, undefined]);
    }
  });

  test('a second tab starts a flow of its own, and the first one goes on', async () => {
    const browser = browserOf();
    await browser.authorize();
    const first = await browser.formToken();
    await browser.authorize({ state: 'the second' });
    const late = await browser.post('/api/auth/project/consent/deny', { consent_token: first });
    expect(redirectParameters(late)).toMatchObject({ state: browser.request['state'] });
    expect(redirectParameters(await browser.answer('deny'))).toMatchObject({ state: 'the second' });
  });
});

describe('the answer', () => {
  test('issues one code under concurrent requests', { tags: 'race' }, async () => {
    const browser = browserOf();
    await browser.toConsent(newAddress());
    const consent_token = await browser.formToken();
    const cookie = `doorward_flow=${browser.cookies.get('doorward_flow')}`;
    const count = async () => (await app.database.pool.select().from(projectCodes)).length;
    const before = await count();
    const headers = { cookie, origin: 'http://localhost:4000' };
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => app.raw('approveProjectConsent', { consent_token }, { headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(await count()).toBe(before + 1);
    app.clock.advance(31_000);
    const again = await app.raw('approveProjectConsent', { consent_token }, { headers });
    expect(again.code).toBe('INVALID_TOKEN');
  });

  test('of two browsers of one new user creates one user', { tags: 'race' }, async () => {
    const [address, first, second] = [newAddress(), browserOf(), browserOf()];
    await first.toConsent(address);
    await second.toConsent(address);
    const tokens = [await first.formToken(), await second.formToken()];
    const answers = await Promise.all(
      [first, second].map((browser, at) =>
        browser.post('/api/auth/project/consent/approve', { consent_token: tokens[at] ?? '' }),
      ),
    );
    const users = await Promise.all(answers.map(async (answer) => (await rowOf(codeOf(answer)))?.userId));
    expect(users[0]).toBeDefined();
    expect(users[1]).toBe(users[0]);
  });

  test(
    'is refused after the app was deleted or has removed its address',
    { tags: 'independent' },
    async () => {
      const moved = await appInProject(app, { allowSignUp: true, signUpRoleId: projectViewer });
      const gone = await appInProject(app, { allowSignUp: true, signUpRoleId: projectViewer });
      const browsers = [browserOf(moved), browserOf(gone)];
      for (const browser of browsers) await browser.toConsent(newAddress());
      const tokens = await Promise.all(browsers.map((browser) => browser.formToken()));
      await change({ redirectUris: ['https://boards.example/new'] }, moved);
      await app.must('deleteProjectApp', { scope: gone.scope, id: gone.id }, { token: gone.owner.token });
      for (const [at, browser] of browsers.entries()) {
        for (const decision of ['approve', 'deny']) {
          const consent_token = tokens[at] ?? '';
          const answer = await browser.post(`/api/auth/project/consent/${decision}`, { consent_token });
          expect([answer.statusCode, answer.headers.location], decision).toEqual([400, undefined]);
        }
        expect((await browser.page()).statusCode).toBe(400);
      }
    },
  );
});

describe('the granted scope', () => {
  const shownTo = async (browser: SignInBrowser, which: 'scopes' | 'laterScopes' = 'scopes') => {
    const { data } = await app.call('projectConsentInfo', { consent_token: await browser.formToken() });
    return data[which]?.map(({ scope }) => scope) ?? null;
  };
  const given = async (browser: SignInBrowser) =>
    (await rowOf(codeOf(await browser.answer('approve'))))?.scopes;

  test('is allowed to the app and requested by it; what the user does not hold yet is shown apart', async () => {
    for (const [scope, now, later] of [
      [undefined, ['board:read'], ['board:edit']],
      ['board:read', ['board:read'], []],
      ['board:edit', [], ['board:edit']],
    ] as const) {
      const browser = browserOf();
      await browser.toConsent(newAddress(), { scope });
      expect(await shownTo(browser), scope).toEqual(now);
      expect(await shownTo(browser, 'laterScopes'), scope).toEqual(later);
      const page = (await browser.page()).body;
      expect(page.includes('have these permissions yet'), scope).toBe(later.length > 0);
      expect(await given(browser), scope).toEqual([...now, ...later]);
    }
    const manager = await appInProject(app, { scopes: ['Role:Query', 'board:read'] });
    const managing = browserOf(manager);
    await managing.toConsent(manager.owner.email);
    expect(await shownTo(managing)).toEqual(['Role:Query']);
    expect(await given(managing)).toEqual(['Role:Query', 'board:read']);
  });

  test('is null for an unrestricted app, and empty for an app without scopes', async () => {
    for (const scopes of [null, []]) {
      const to = await appInProject(app, { scopes });
      const browser = browserOf(to);
      await browser.toConsent(to.owner.email);
      expect(await shownTo(browser)).toEqual(scopes);
      expect(await given(browser)).toEqual(scopes);
    }
  });

  test('is never more than was shown, and less if the app has less meanwhile', async () => {
    const to = await appInProject(app, { scopes: ['Role:Query', 'Tag:Query'] });
    const narrowed = browserOf(to);
    await narrowed.toConsent(to.owner.email);
    expect(await shownTo(narrowed)).toEqual(['Role:Query', 'Tag:Query']);
    await change({ scopes: ['Role:Query', 'Group:Query'] }, to);
    expect(await given(narrowed)).toEqual(['Role:Query']);
    const widened = browserOf(to);
    await widened.toConsent(to.owner.email);
    await change({ scopes: null }, to);
    expect(await given(widened)).toEqual(['Role:Query', 'Group:Query']);
    const restricted = browserOf(to);
    await restricted.toConsent(to.owner.email);
    await change({ scopes: ['Role:Query'] }, to);
    const answer = await restricted.answer('approve');
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
  });

  test('of an unrestricted app excludes the management plane, whatever scopes it gets later', async () => {
    const to = await appInProject(app, { scopes: null });
    const browser = browserOf(to);
    await browser.toConsent(to.owner.email);
    const { accessToken: token } = await app.must('projectToken', {
      grant_type: 'authorization_code',
      code: codeOf(await browser.answer('approve')),
      redirect_uri: to.redirectUri,
      client_id: to.clientId,
      code_verifier: browser.verifier,
    });
    const tries = async () => (await app.call('roles', { scope: to.scope }, { token })).reason;
    const before = await tries();
    await change({ scopes: ['Role:Query'] }, to);
    expect([before, await tries()]).toEqual(['NO_PERMISSION', 'SCOPE_NOT_CONSENTED']);
  });
});
