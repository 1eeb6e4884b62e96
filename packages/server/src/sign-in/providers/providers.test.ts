import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { generateKeyPair, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique } from '../../../test/support/app/client.ts';
import {
  clientSecret,
  startOpenidProvider,
  type OpenidDouble,
} from '../../../test/support/sign-in/openid-provider.ts';
import {
  appInProject,
  projectViewer,
  redirectParameters,
  signInBrowser,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { fillMethods } from '../../../test/support/sign-in/sign-in-methods.ts';
import { visitor, type Visitor } from '../../../test/support/app/visitor.ts';
import { createKek, SealError } from '../../crypto/keys/kek.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { signInFlows } from '../../schema/sign-in/sign-in-flow.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { users } from '../../schema/people/user.ts';

/** Sign-in through OpenID Connect providers, to this service and to apps: whom it admits, which misuse it refuses. */

const frontend = 'https://app.example.test';
const REFRESH = 'doorward_refresh';

let app: TestApp;
/** Vouches for addresses that it calls verified. */
let acme: OpenidDouble;
/** Names addresses for which it does not vouch, and has no sign-up. */
let other: OpenidDouble;
/** Offers both, and lets people sign up. */
let shop: AppInProject;

beforeAll(async () => {
  [acme, other] = await Promise.all([startOpenidProvider(), startOpenidProvider('other', 'Other & Co')]);
  app = await startApp({
    IDENTITY_PROVIDERS: JSON.stringify([
      acme.entry,
      { ...other.entry, trustEmail: 'never', allowSignUp: false },
    ]),
    FEDERATION_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    SECURITY_ADDITIONAL_ORIGINS: frontend,
    AUTH_REGISTRATION_MODE: 'immediate',
  });
  shop = await appInProject(app, {
    enabledProviders: [],
    identityProviders: ['acme', 'other'],
    allowSignUp: true,
    signUpRoleId: projectViewer,
  });
});
afterAll(async () => {
  await app.close();
  await Promise.all([acme.close(), other.close()]);
});
beforeEach(() => {
  for (const provider of [acme, other]) {
    provider.faults.clear();
    provider.person = provider.newPerson();
    provider.userInfo = {};
    provider.idToken = undefined;
    provider.signingKey = undefined;
  }
});

const pool = () => app.database.pool;
const usersAt = (address: unknown) =>
  pool()
    .select()
    .from(users)
    .where(eq(users.email, String(address)));
/** Oldest first. */
const methodsOf = (userId: string) =>
  pool()
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, userId))
    .orderBy(authenticationMethods.createdAt);

/** Signs in at the provider. Returns the URL of the callback. */
async function visit(browser: Visitor, provider: OpenidDouble, start: string): Promise<string> {
  const begun = await browser.get(start);
  expect(begun.statusCode, begun.body).toBe(302);
  return provider.visit(String(begun.headers.location));
}
const startOf = (key: string, query: Record<string, string> = {}) =>
  `/api/auth/providers/${key}?${new URLSearchParams(query).toString()}`;
/** Signs in to the service. Returns the URL of the last redirect. */
async function signIn(browser: Visitor, provider = acme, query: Record<string, string> = {}): Promise<URL> {
  const answer = await browser.get(
    await visit(browser, provider, startOf(String(provider.entry['key']), query)),
  );
  expect(answer.statusCode, answer.body).toBe(303);
  return new URL(String(answer.headers.location));
}
const errorOf = (url: URL) => url.searchParams.get('error');

/** Signs in to the app. Returns the response of the callback. */
async function toApp(browser: SignInBrowser, provider = acme) {
  const begun = await browser.authorize({ provider: String(provider.entry['key']) });
  return browser.get(await visit(browser, provider, String(begun.headers.location)));
}

describe('the list of providers', () => {
  test.each(['rest', 'graphql'] as const)('names them, over %s', async (transport) => {
    expect((await app.call('signInProviders', {}, { via: transport })).data).toEqual({
      items: [
        { key: 'acme', name: 'Acme ID', logoUrl: null },
        { key: 'other', name: 'Other & Co', logoUrl: null },
      ],
    });
  });

  test('an unknown one is not found, at the start and at the callback', async () => {
    for (const path of ['unknown', 'unknown/callback?state=x']) {
      const answer = await visitor(app.server).get(`/api/auth/providers/${path}`);
      expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([
        404,
        'PROVIDER_NOT_CONFIGURED',
      ]);
    }
  });
});

describe('a sign-in to this service', () => {
  test('creates the user, and finds them again by issuer and subject alone', async () => {
    const { person } = acme;
    const browser = visitor(app.server);
    const end = await signIn(browser, acme, { redirect: `${frontend}/in` });
    expect(end.href).toBe(`${frontend}/in`);
    expect(browser.cookies.has(REFRESH)).toBe(true);
    const [user] = await usersAt(person?.['email']);
    expect(user).toMatchObject({ name: person?.['name'], emailVerified: true });
    expect(await methodsOf(user?.id ?? '')).toMatchObject([
      {
        provider: 'oidc',
        providerKey: 'acme',
        providerId: `${acme.issuer} ${person?.sub}`,
        isPrimary: true,
      },
    ]);
    // The same account with another address is the same user; no user gets the new address.
    acme.person = { ...(person as JWTPayload & { sub: string }), email: `moved-${unique()}@example.test` };
    await signIn(visitor(app.server));
    expect(await usersAt(acme.person['email'])).toEqual([]);
  });

  test('the client authenticates as the provider offers, and sends no secret elsewhere', async () => {
    await signIn(visitor(app.server));
    const sent = acme.requests.filter(({ what }) => what === 'POST /token').at(-1);
    expect(sent?.authorization).toMatch(/^Basic /);
    expect(sent?.body).not.toContain(encodeURIComponent(clientSecret));
    expect(acme.requests.filter(({ what }) => what === 'GET /.well-known/openid-configuration')).toHaveLength(
      1,
    );
  });

  test('links the user who owns the verified address, and no other', async () => {
    const owner = await app.person();
    acme.person = acme.newPerson({ email: owner.email });
    await signIn(visitor(app.server));
    expect((await methodsOf(owner.userId)).map(({ provider }) => provider)).toEqual(['email', 'oidc']);
  });

  test.each([
    ['says nothing of it', { email_verified: undefined }],
    ['says that it is not', { email_verified: false }],
    ['says that it is not, as a text', { email_verified: 'false' }],
    ['says something else', { email_verified: 1 }],
    ['says nothing of the address', { email: undefined }],
  ])('takes no address as verified when the provider %s', async (_, claims) => {
    const owner = await app.person();
    acme.person = acme.newPerson({ email: owner.email, ...claims });
    expect(errorOf(await signIn(visitor(app.server)))).toBe('emailNotVerified');
    expect(await methodsOf(owner.userId)).toHaveLength(1);
  });

  test('takes the text "true" as Amazon Cognito sends it', async () => {
    const owner = await app.person();
    acme.person = acme.newPerson({ email: owner.email, email_verified: 'true' });
    expect(errorOf(await signIn(visitor(app.server)))).toBeNull();
    expect(await methodsOf(owner.userId)).toHaveLength(2);
  });

  test('reads the user info for what the id_token lacks, of the same subject only', async () => {
    const email = `info-${unique()}@example.test`;
    acme.person = { sub: `lean-${unique()}` };
    acme.userInfo = { email, email_verified: true, name: 'Lean' };
    await signIn(visitor(app.server));
    expect(await usersAt(email)).toMatchObject([{ name: 'Lean' }]);
    acme.person = { sub: `lean-${unique()}` };
    acme.userInfo = { ...acme.userInfo, sub: 'somebody else', email: `info-${unique()}@example.test` };
    expect(errorOf(await signIn(visitor(app.server)))).toBe('providerUnavailable');
    expect(await usersAt(acme.userInfo['email'])).toEqual([]);
  });

  test('takes "verified" only from where the address is', async () => {
    const owner = await app.person();
    acme.person = acme.newPerson({ email: owner.email, email_verified: undefined });
    acme.userInfo = { email: acme.newPerson()['email'], email_verified: true };
    expect(errorOf(await signIn(visitor(app.server)))).toBe('emailNotVerified');
    acme.userInfo = { email: owner.email, email_verified: true };
    expect(errorOf(await signIn(visitor(app.server)))).toBeNull();
    expect(await methodsOf(owner.userId)).toHaveLength(2);
  });

  test('a provider without sign-up lets in only users whom it knows', async () => {
    const end = await signIn(visitor(app.server), other);
    expect(errorOf(end)).toBe('emailNotVerified');
  });

  test('two providers with the same subject are two accounts', async () => {
    const sub = `shared-${unique()}`;
    acme.person = acme.newPerson({ sub });
    await signIn(visitor(app.server));
    other.person = other.newPerson({ sub });
    const end = await signIn(visitor(app.server), other);
    expect(errorOf(end)).toBe('emailNotVerified');
  });

  test('is connected to a signed-in user after a page that names provider and account', async () => {
    const person = await app.person();
    const browser = visitor(app.server);
    browser.cookies.set(REFRESH, person.refreshToken);
    const end = await signIn(browser, acme, { action: 'connect', redirect: `${frontend}/me` });
    expect(end.pathname).toBe('/hosted/connect-provider');
    const page = await browser.get(end.href);
    expect(page.body).toContain('Acme ID');
    expect(page.body).toContain(String(acme.person?.['email']));
    const formToken = /name="formToken" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    await browser.post('/api/auth/providers/connect', { decision: 'approve', formToken });
    const methods = await app.call('myAuthenticationMethods', { limit: 10 }, { token: person.token });
    expect(methods.data).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({
          provider: 'oidc',
          providerKey: 'acme',
          providerId: `${acme.issuer} ${acme.person?.sub}`,
        }),
      ]) as unknown[],
    });
  });
});

describe('an answer of a provider that is not to be believed', () => {
  const forged: [string, (claims: JWTPayload) => JWTPayload | null][] = [
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://issuer.example' })],
    ['for another client', (claims) => ({ ...claims, aud: 'another client' })],
    [
      'for several clients, authorized for another',
      (claims) => ({ ...claims, aud: [String(claims.aud), 'b'], azp: 'b' }),
    ],
    ['that has ended', (claims) => ({ ...claims, iat: 1_600_000_000, exp: 1_600_000_300 })],
    ['that is an hour old', (claims) => ({ ...claims, iat: Number(claims.iat) - 3600 })],
    ['of another flow', (claims) => ({ ...claims, nonce: 'x'.repeat(43) })],
    ['without a nonce', ({ nonce: _, ...claims }) => claims],
    ['without a subject', ({ sub: _, ...claims }) => claims],
    ['that is missing', () => null],
  ];
  test.each(forged)('an id_token %s', async (_, change) => {
    acme.idToken = change;
    const browser = visitor(app.server);
    expect(errorOf(await signIn(browser))).toBe('providerUnavailable');
    expect(browser.cookies.has(REFRESH)).toBe(false);
    expect(await usersAt(acme.person?.['email'])).toEqual([]);
  });

  test('an id_token that somebody else signed', async () => {
    acme.signingKey = (await generateKeyPair('ES256')).privateKey;
    expect(errorOf(await signIn(visitor(app.server)))).toBe('providerUnavailable');
  });

  test.each([
    ['/token', { status: 500 }],
    ['/token', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
    [
      '/token',
      { status: 200, headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(300_000)}"` },
    ],
    ['/token', { status: 200, body: '<html>' }],
  ])('a fault at %s: %j', async (path, fault) => {
    acme.faults.set(path, fault);
    expect(errorOf(await signIn(visitor(app.server)))).toBe('providerUnavailable');
    expect(app.logs.join('')).not.toContain(clientSecret);
  });

  test('an answer of another provider, at its own callback or at that of the flow', async () => {
    const browser = visitor(app.server);
    const back = await visit(browser, acme, startOf('acme'));
    const moved = back.replace('/providers/acme/', '/providers/other/');
    const answer = await browser.get(moved);
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([400, 'INVALID_TOKEN']);
    const foreign = new URL(await visit(browser, acme, startOf('acme')));
    foreign.searchParams.set('iss', other.issuer);
    expect(errorOf(new URL(String((await browser.get(foreign.href)).headers.location)))).toBe(
      'providerUnavailable',
    );
    const unnamed = new URL(await visit(browser, acme, startOf('acme')));
    unnamed.searchParams.delete('iss');
    expect(errorOf(new URL(String((await browser.get(unnamed.href)).headers.location)))).toBe(
      'providerUnavailable',
    );
  });

  test('an answer in another browser, or for a second time', async () => {
    const browser = visitor(app.server);
    const back = await visit(browser, acme, startOf('acme'));
    const victim = visitor(app.server);
    expect((await victim.get(back)).statusCode).toBe(400);
    expect((await browser.get(back)).statusCode).toBe(303);
    app.clock.advance(31_000);
    expect((await browser.get(back)).statusCode).toBe(400);
  });
});

describe('a provider that cannot be used', () => {
  let broken: TestApp;
  let down: OpenidDouble;
  beforeAll(async () => {
    down = await startOpenidProvider('down', 'Down');
    broken = await startApp({
      IDENTITY_PROVIDERS: JSON.stringify([down.entry]),
      FEDERATION_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    });
  });
  afterAll(async () => {
    await broken.close();
    await down.close();
  });
  const begin = async () => {
    const answer = await visitor(broken.server).get(startOf('down'));
    return errorOf(new URL(String(answer.headers.location)));
  };

  test('says so where the person came from, and works once it is back', async () => {
    down.faults.set('/.well-known/openid-configuration', { status: 503 });
    expect(await begin()).toBe('providerUnavailable');
    down.faults.clear();
    // The next sign-in fails without a request to the provider.
    const asked = down.requests.length;
    expect(await begin()).toBe('providerUnavailable');
    expect(down.requests).toHaveLength(asked);
    broken.clock.advance(10_001);
    down.metadata = { issuer: `${down.issuer}/` };
    expect(await begin()).toBe('providerUnavailable');
    down.metadata = {};
    broken.clock.advance(10_001);
    expect(await begin()).toBeNull();
  });

  test('goes on with the metadata that it has when they cannot be read again', async () => {
    broken.clock.advance(3_600_001);
    down.faults.set('/.well-known/openid-configuration', { status: 503 });
    expect(await begin()).toBeNull();
    expect(await begin()).toBeNull();
  });

  test('is not reached where only public addresses are allowed', async () => {
    const guarded = await startApp({ IDENTITY_PROVIDERS: JSON.stringify([down.entry]) });
    const before = down.requests.length;
    const answer = await visitor(guarded.server).get(startOf('down'));
    expect(errorOf(new URL(String(answer.headers.location)))).toBe('providerUnavailable');
    expect(down.requests).toHaveLength(before);
    await guarded.close();
  });
});

describe('a sign-in to an app', () => {
  test('offers its providers, and only those', async () => {
    const browser = signInBrowser(app, shop);
    await browser.authorize();
    const { body } = await browser.page();
    expect(body).toMatch(/href="\/api\/auth\/project\/providers\/acme\?flow=[\w-]{8}"/);
    expect(body).toContain('Other &amp; Co');
    expect(body).not.toMatch(/type="email"|github/i);
    const plain = await appInProject(app, { enabledProviders: ['email'] });
    const elsewhere = signInBrowser(app, plain);
    await elsewhere.authorize();
    expect((await elsewhere.page()).body).not.toContain('Acme ID');
    const refused = await elsewhere.get('/api/auth/project/providers/acme');
    expect(refused.statusCode).toBe(404);
  });

  test('creates the user at the consent, with the name of the provider', async () => {
    const browser = signInBrowser(app, shop);
    await toApp(browser);
    expect(await usersAt(acme.person?.['email'])).toEqual([]);
    const end = await browser.answer('approve');
    expect(redirectParameters(end)['code']).toBeDefined();
    expect(await usersAt(acme.person?.['email'])).toMatchObject([{ name: acme.person?.['name'] }]);
  });

  test('an address for which the provider does not vouch is proved by a mail first, then the account is known', async () => {
    const owner = await app.person();
    other.person = other.newPerson({ email: owner.email });
    const browser = signInBrowser(app, shop);
    await toApp(browser, other);
    const { body } = await browser.page();
    expect(body).toContain(owner.email);
    expect(body).toContain('<bdi>Other &amp; Co</bdi> does not confirm');
    expect(body).not.toContain('action="/api/auth/project/email/request"');
    expect(await methodsOf(owner.userId)).toHaveLength(1);
    const code = await app.mailedCode(owner.email);
    const mail = app.mails.findLast(({ to }) => to === owner.email);
    expect(mail?.text).toContain('an account at Other & Co');
    await browser.post('/api/auth/flow/email/code', { code });
    expect(redirectParameters(await browser.answer('approve'))['code']).toBeDefined();
    expect((await methodsOf(owner.userId)).map(({ provider }) => provider)).toEqual(['email', 'oidc']);
    const again = signInBrowser(app, shop);
    const answer = await toApp(again, other);
    expect(redirectParameters(answer)['code'] ?? answer.headers.location).not.toContain('/sign-in');
  });

  test.each([
    ['acme', () => acme],
    ['other', () => other],
  ])(
    'a user with five methods is told so at the way back from %s, and can sign in another way or cancel',
    async (_, of) => {
      const owner = await app.person();
      await fillMethods(app, owner.userId, 5);
      const provider = of();
      provider.person = provider.newPerson({ email: owner.email });
      const mailing = await appInProject(app, {
        ...{ enabledProviders: ['email'], identityProviders: ['acme', 'other'] },
        ...{ allowSignUp: true, signUpRoleId: projectViewer },
      });
      const browser = signInBrowser(app, mailing);
      let back = await toApp(browser, provider);
      if (provider === other)
        back = await browser.post('/api/auth/flow/email/code', { code: await app.mailedCode(owner.email) });
      expect(back.headers.location).toMatch(/\/project\/sign-in$/);
      const { body } = await browser.page();
      expect(body).toContain('maximum number of sign-in methods');
      expect(body).toContain(
        provider === acme ? '<bdi>Acme ID</bdi> can’t be added' : '<bdi>Other &amp; Co</bdi> can’t',
      );
      expect(await methodsOf(owner.userId)).toHaveLength(5);
      const cancelled = await browser.answer('deny');
      expect(redirectParameters(cancelled)).toMatchObject({
        error: 'access_denied',
        state: expect.any(String) as string,
      });
      const again = signInBrowser(app, mailing);
      acme.person = acme.newPerson({ email: owner.email });
      await toApp(again, acme);
      expect(redirectParameters(await again.finish(owner.email))['code']).toBeDefined();
    },
  );

  test('a user who gets their fifth method before they consent is refused, and the app is told', async () => {
    const owner = await app.person();
    acme.person = acme.newPerson({ email: owner.email });
    const browser = signInBrowser(app, shop);
    await toApp(browser);
    await fillMethods(app, owner.userId, 5);
    expect(redirectParameters(await browser.answer('approve'))).toMatchObject({ error: 'access_denied' });
  });

  test('whoever cannot read the mail does not get the user of the address', async () => {
    const owner = await app.person();
    other.person = other.newPerson({ email: owner.email });
    const browser = signInBrowser(app, shop);
    await toApp(browser, other);
    const code = await app.mailedCode(owner.email);
    const wrong = code === '000000' ? '000001' : '000000';
    await browser.post('/api/auth/flow/email/code', { code: wrong });
    expect((await browser.answer('approve')).statusCode).toBe(400);
    expect(await methodsOf(owner.userId)).toHaveLength(1);
  });

  test('a provider without sign-up admits no new user', async () => {
    const browser = signInBrowser(app, shop);
    await toApp(browser, other);
    const address = String(other.person?.['email']);
    await browser.post('/api/auth/flow/email/code', { code: await app.mailedCode(address) });
    expect(await usersAt(address)).toEqual([]);
    expect((await browser.page()).body).not.toContain('consent_token');
  });

  test('the person who cancels may choose another way', async () => {
    acme.person = null;
    const browser = signInBrowser(app, shop);
    await toApp(browser);
    expect((await browser.page()).body).toContain('You cancelled the sign-in at <bdi>Acme ID</bdi>');
  });

  test('the answer of one provider does not finish a sign-in that went to the other', async () => {
    const browser = signInBrowser(app, shop);
    await browser.authorize();
    const back = await visit(browser, acme, '/api/auth/project/providers/acme');
    const next = await visit(browser, other, '/api/auth/project/providers/other');
    expect((await browser.get(back)).statusCode).toBe(400);
    const moved = new URL(next.replace('/providers/other/', '/providers/acme/'));
    await browser.get(moved.href);
    expect((await browser.page()).body).toContain('could not reach <bdi>Acme ID</bdi>');
  });

  test('each way to a provider has secrets of its own, and ends the code that was mailed before', async () => {
    const plain = await appInProject(app, {
      enabledProviders: ['email'],
      identityProviders: ['acme', 'other'],
    });
    const browser = signInBrowser(app, plain);
    await browser.authorize();
    const token = await browser.mail(plain.owner.email);
    const secretsOf = async (key: string) => {
      const answer = await browser.get(`/api/auth/project/providers/${key}`);
      const { searchParams } = new URL(String(answer.headers.location));
      return ['state', 'nonce', 'code_challenge'].map((name) => searchParams.get(name));
    };
    const secrets = [
      ...(await secretsOf('acme')),
      ...(await secretsOf('other')),
      ...(await secretsOf('acme')),
    ];
    expect(new Set(secrets).size).toBe(9);
    expect((await browser.open(token)).statusCode).toBe(400);
    const code = await app.mailedCode(plain.owner.email);
    const refused = await browser.post('/api/auth/flow/email/code', { code });
    expect(String(refused.headers.location)).not.toContain('/consent');
    expect((await browser.answer('approve')).statusCode).toBe(400);
  });

  test('a flow that the version before would misread does not open there', async () => {
    const kek = createKek({ current: Buffer.alloc(32, 7), old: [] });
    const browser = signInBrowser(app, shop);
    const openThere = async () => {
      const isOwn = eq(signInFlows.browserHash, hashOneTimeToken(browser.cookies.get('doorward_flow') ?? ''));
      const [row] = await pool().select().from(signInFlows).where(isOwn);
      return kek.open(row?.sealed ?? '', `sign_in_flows:project:${row?.hash}`);
    };
    await browser.authorize();
    expect((await openThere()).toString()).toContain(browser.request['redirect_uri']);
    await browser.get('/api/auth/project/providers/acme');
    await expect(openThere()).rejects.toBeInstanceOf(SealError);
  });

  test(
    'a link belongs to its own mail, whatever else the browser does at the same time',
    { tags: 'race' },
    async () => {
      const plain = await appInProject(app, { enabledProviders: ['email'], identityProviders: ['acme'] });
      const victim = plain.owner;
      const attacker = await app.person();
      for (let round = 0; round < 10; round += 1) {
        const browser = signInBrowser(app, plain);
        await browser.authorize();
        const request = (email: string) => browser.post('/api/auth/project/email/request', { email });
        const leave = () => browser.get('/api/auth/project/providers/acme');
        await request(victim.email);
        await Promise.all([leave(), request(attacker.email), leave(), leave()]);
        // If the request came too late, no mail was sent.
        const token = await app.mailedToken(attacker.email).catch(() => 'none');
        const answer = await browser.open(token);
        expect(String(answer.headers.location)).not.toContain('/consent');
      }
    },
  );

  test('a sign-in counts for another app of the project only if it offers the same provider', async () => {
    const same = shop.owner;
    const create = (identityProviders: string[]) =>
      app.must(
        'createProjectApp',
        {
          scope: shop.scope,
          name: `Second ${randomUUID()}`,
          redirectUris: [shop.redirectUri],
          enabledProviders: [],
          identityProviders,
        },
        { token: same.token },
      ) as unknown as Promise<{ clientId: string }>;
    const [trusting, other2] = [await create(['acme']), await create(['other'])];
    const browser = signInBrowser(app, shop);
    await toApp(browser);
    await browser.answer('approve');
    const next = async ({ clientId }: { clientId: string }) => {
      const answer = await signInBrowser(
        app,
        { clientId, redirectUri: shop.redirectUri },
        browser,
      ).authorize();
      return String(answer.headers.location);
    };
    expect(await next(trusting)).toContain('/consent');
    expect(await next(other2)).toContain('/sign-in');
  });
});

describe('the providers of an app', () => {
  test.each(['rest', 'graphql'] as const)(
    'must exist, and one way must be left, over %s',
    async (transport) => {
      const { owner, scope, redirectUri } = shop;
      const how = { token: owner.token, via: transport };
      const name = `Ways ${randomUUID()}`;
      const input = { scope, name, redirectUris: [redirectUri] };
      const refused = await app.call(
        'createProjectApp',
        { ...input, identityProviders: ['gogle', 'github'] },
        how,
      );
      expect([refused.code, refused.details]).toEqual([
        'VALIDATION_ERROR',
        ['gogle', 'github'].map(
          (_, index) =>
            expect.objectContaining({ path: `identityProviders.${index}`, code: 'not_allowed' }) as unknown,
        ),
      ]);
      const none = await app.call('createProjectApp', { ...input, enabledProviders: [] }, how);
      expect([none.code, none.details]).toEqual([
        'VALIDATION_ERROR',
        [expect.objectContaining({ path: 'enabledProviders', code: 'required' })],
      ]);
      const made = await app.must(
        'createProjectApp',
        { ...input, enabledProviders: [], identityProviders: ['acme'] },
        how,
      );
      const id = String(made['id']);
      expect((await app.call('updateProjectApp', { scope, id, identityProviders: [] }, how)).code).toBe(
        'VALIDATION_ERROR',
      );
      const kept = await app.must(
        'updateProjectApp',
        { scope, id, identityProviders: ['acme', 'other'] },
        how,
      );
      expect(kept['identityProviders']).toEqual(['acme', 'other']);
    },
  );

  test('one that the operator removed does not bar other changes', async () => {
    const { owner, scope, redirectUri } = shop;
    const how = { token: owner.token };
    const input = { scope, name: `Old ${randomUUID()}`, redirectUris: [redirectUri] };
    const made = await app.must('createProjectApp', input, how);
    const { projectApps } = await import('../../schema/apps/project-app.ts');
    const isApp = and(eq(projectApps.id, String(made['id'])));
    await pool()
      .update(projectApps)
      .set({ identityProviders: ['gone'] })
      .where(isApp);
    const change = { scope, id: String(made['id']), identityProviders: ['gone', 'acme'] };
    expect((await app.must('updateProjectApp', change, how))['identityProviders']).toEqual(['gone', 'acme']);
  });
});
