import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique } from '../../../test/support/app/client.ts';
import { connected, type Connected } from '../../../test/support/databases/connections.ts';
import { grantTo, vendorOf, type Vendor } from '../../../test/support/tenants/grants.ts';
import {
  clientSecret as providerSecret,
  startOpenidProvider,
  type OpenidDouble,
} from '../../../test/support/sign-in/openid-provider.ts';
import {
  redirectParameters,
  signInBrowser,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { fillMethods } from '../../../test/support/sign-in/sign-in-methods.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { users } from '../../schema/people/user.ts';

/** Sign-in through the identity provider of an organization, to an app that a vendor granted to it. */
let app: TestApp;
let provider: OpenidDouble;
let other: OpenidDouble;
let vendor: Vendor;
let shop: { readonly clientId: string; readonly redirectUri: string };

beforeAll(async () => {
  [provider, other] = await Promise.all([startOpenidProvider(), startOpenidProvider('other', 'Other & Co')]);
  app = await startApp({ CONNECTIONS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8' });
  vendor = await vendorOf(app);
  const redirectUri = 'https://billing.example/callback';
  const made = await app.must(
    'createProjectApp',
    {
      scope: vendor.scope,
      name: 'Billing',
      redirectUris: [redirectUri],
      enabledProviders: ['email', 'password'],
    },
    { token: vendor.token },
  );
  shop = { clientId: made.clientId, redirectUri };
});
afterAll(async () => {
  await app.close();
  await Promise.all([provider.close(), other.close()]);
});
beforeEach(() => {
  for (const double of [provider, other]) {
    double.faults.clear();
    double.idToken = undefined;
    double.signingKey = undefined;
    double.person = null;
  }
});

/** A customer with a connection, to whom the project is granted. */
async function company(settings: Record<string, unknown> = {}, via = provider): Promise<Connected> {
  const customer = await connected(app, via, settings);
  await grantTo(app, vendor, customer, { defaultRoleId: vendor.reader });
  return customer;
}
const addressAt = ({ domain }: Connected) => `${unique()}@${domain}`;

/** A browser at the page of ways for this address. */
async function identified(address: string, changes: Record<string, string> = {}): Promise<SignInBrowser> {
  const browser = signInBrowser(app, shop);
  await browser.authorize(changes);
  await browser.post('/api/auth/flow/identifier', { email: address });
  return browser;
}
/** To the provider, as this person, and back. */
async function toProvider(browser: SignInBrowser, { connectionId }: Connected, double = provider) {
  const begun = await browser.get(`/api/auth/project/connections/${connectionId}`);
  expect(begun.statusCode, begun.body).toBe(302);
  return browser.get(await double.visit(String(begun.headers.location)));
}
async function signIn(browser: SignInBrowser, at: Connected, double = provider) {
  const back = await toProvider(browser, at, double);
  return String(back.headers.location).endsWith('/consent') ? browser.answer('approve') : back;
}
const personAt = (email: string, more: Record<string, unknown> = {}) =>
  provider.newPerson({ email, ...more });
const membersOf = async ({ scope, token }: Connected) =>
  (await app.must('organizationMembers', { scope, limit: 100 }, { token })).items;
const userAt = async (address: string) =>
  (await app.database.pool.select().from(users).where(eq(users.email, address)))[0];
const noticeOf = async (browser: SignInBrowser) => (await browser.page()).body;

describe('a person of the organization', () => {
  it('is led to its provider by their domain, becomes a member, and uses the app for the organization', async () => {
    const acme = await company();
    const address = addressAt(acme);
    provider.person = personAt(address);
    const browser = await identified(address);
    const page = await browser.page();
    expect(page.body).toContain(`/api/auth/project/connections/${acme.connectionId}`);
    expect(page.body).toContain('Continue with <bdi>Acme ID</bdi>');
    const { code } = redirectParameters(await signIn(browser, acme));
    const [row] = await app.database.pool
      .select()
      .from(projectCodes)
      .where(eq(projectCodes.hash, hashOneTimeToken(String(code))));
    expect(row).toMatchObject({ organizationId: acme.id, amr: ['fed'], acr: 'aal1' });
    const member = (await membersOf(acme)).find(({ id }) => id === row?.userId);
    expect(member).toMatchObject({ roleId: roleIdOf('Organization Viewer') });
    const shown = await app.must(
      'organizationConnection',
      { scope: acme.scope, id: acme.connectionId },
      { token: acme.token },
    );
    expect(shown.provedAt).toBe(shown.lastUsedAt);
    expect(shown.provedAt).not.toBeNull();
    // Again: no other user, no other membership.
    expect(redirectParameters(await signIn(await identified(address), acme))).toHaveProperty('code');
    expect(await membersOf(acme)).toHaveLength(2);
  });

  it('signs in with the secret that the connection has now', async () => {
    const acme = await company();
    const address = addressAt(acme);
    provider.person = personAt(address);
    const as = { token: acme.token };
    const setSecret = (clientSecret: string) =>
      app.must(
        'updateOrganizationConnection',
        { scope: acme.scope, id: acme.connectionId, clientSecret },
        as,
      );
    await setSecret('a secret that the provider does not know');
    const refused = await identified(address);
    await signIn(refused, acme);
    expect((await noticeOf(refused)).includes('role="alert"')).toBe(true);
    await setSecret(providerSecret);
    expect(redirectParameters(await signIn(await identified(address), acme))).toHaveProperty('code');
  });

  it('is shown no connection for another domain, nor for one below it', async () => {
    const acme = await company();
    for (const address of [`${unique()}@sub.${acme.domain}`, `${unique()}@example.test`]) {
      expect((await (await identified(address)).page()).body).not.toContain('/connections/');
    }
  });

  it('joins only where the organization wants that', async () => {
    const acme = await company({ justInTime: false });
    const address = addressAt(acme);
    provider.person = personAt(address);
    expect(redirectParameters(await signIn(await identified(address), acme))).toMatchObject({
      error: 'access_denied',
    });
    expect(await userAt(address)).toBeUndefined();
  });

  it('who had the address before proves it once by mail, and is then linked', async () => {
    const acme = await company();
    const address = addressAt(acme);
    await app.person({ email: address });
    const former = (await userAt(address))?.id;
    provider.person = personAt(address);
    const browser = await identified(address);
    expect((await toProvider(browser, acme)).headers.location).toMatch(/\/sign-in$/);
    expect(await noticeOf(browser)).toContain('There is already an account with the address');
    expect(await membersOf(acme)).toHaveLength(1);
    const next = await browser.open(await app.mailedToken(address));
    expect(next.statusCode).toBe(303);
    const end = String(next.headers.location).endsWith('/consent') ? await browser.answer('approve') : next;
    expect(redirectParameters(end)).toHaveProperty('code');
    expect((await membersOf(acme)).map(({ id }) => id)).toContain(former);
    expect(redirectParameters(await signIn(await identified(address), acme))).toHaveProperty('code');
  });

  it('with the maximum number of sign-in methods sees why this one is not added', async () => {
    const acme = await company();
    const address = addressAt(acme);
    const { userId } = await app.person({ email: address });
    await fillMethods(app, userId, 5);
    provider.person = personAt(address);
    const browser = await identified(address);
    await toProvider(browser, acme);
    const next = await browser.open(await app.mailedToken(address));
    expect(next.headers.location).toMatch(/\/sign-in$/);
    const { body } = await browser.page();
    expect(body).toContain('so <bdi>Acme ID</bdi> can’t be added');
    expect(body).toContain('action="/api/auth/flow/identifier"');
    expect(await membersOf(acme)).toHaveLength(1);
    expect(redirectParameters(await browser.answer('deny'))).toMatchObject({ error: 'access_denied' });
  });

  it('with a second factor gives it, unless the organization trusts that of its provider', async () => {
    const [strict, trusting] = [await company(), await company({ trustMfa: true })];
    for (const [acme, methods, amr] of [
      [strict, ['pwd', 'mfa'], ['fed']],
      [trusting, ['pwd', 'mfa'], ['fed', 'mfa']],
      [trusting, ['pwd'], ['fed']],
    ] as const) {
      const address = addressAt(acme);
      provider.person = personAt(address, { amr: methods });
      const { code } = redirectParameters(await signIn(await identified(address), acme));
      const [row] = await app.database.pool
        .select()
        .from(projectCodes)
        .where(eq(projectCodes.hash, hashOneTimeToken(String(code))));
      expect(row?.amr).toEqual(amr);
    }
  });

  it('comes for their own organization only, whatever the app asks for', async () => {
    const [acme, globex] = [await company(), await company()];
    const address = addressAt(acme);
    provider.person = personAt(address);
    const elsewhere = await identified(address, { organization: globex.id });
    expect(redirectParameters(await signIn(elsewhere, acme))).toMatchObject({ error: 'access_denied' });
    expect(
      redirectParameters(await signIn(await identified(address, { organization: acme.id }), acme)),
    ).toHaveProperty('code');
  });
});

it.each([true, 'true', undefined])(
  'an address counts whose provider says email_verified %j',
  async (email_verified) => {
    const acme = await company();
    const address = addressAt(acme);
    provider.person = personAt(address, { email_verified });
    expect(redirectParameters(await signIn(await identified(address), acme))).toHaveProperty('code');
  },
);

describe('the provider of an organization cannot', () => {
  const refused = async (
    acme: Connected,
    claims: Record<string, unknown>,
    meanwhile = () => Promise.resolve<unknown>(undefined),
  ) => {
    const before = await membersOf(acme);
    const address = addressAt(acme);
    provider.person = provider.newPerson(claims);
    const browser = await identified(address);
    const begun = await browser.get(`/api/auth/project/connections/${acme.connectionId}`);
    const callback = await provider.visit(String(begun.headers.location));
    await meanwhile();
    const back = await browser.get(callback);
    expect(back.headers.location).toMatch(/\/sign-in$/);
    expect(await noticeOf(browser)).toContain('did not name an address that belongs to your organization');
    expect(await membersOf(acme)).toEqual(before);
  };

  it('vouch for an address of another domain, of one below its own, or of none', async () => {
    const acme = await company();
    const stranger = await app.person();
    for (const email of [stranger.email, `x@sub.${acme.domain}`, `x@evil${acme.domain}`, undefined]) {
      await refused(acme, { email });
    }
  });

  it.each([false, 'false', 'no', 'TRUE', '', 0, 1, null, [], {}])(
    'vouch for an address that it calls unverified, or not clearly verified: %j',
    async (email_verified) => {
      const acme = await company();
      await refused(acme, { email: addressAt(acme), email_verified });
    },
  );

  it('vouch for an address whose user info denies what the id_token leaves out', async () => {
    const acme = await company();
    provider.userInfo = { email_verified: 'false' };
    await refused(acme, { email: addressAt(acme), email_verified: undefined, name: undefined });
    provider.userInfo = {};
  });

  it('sign a person in once its domain has lapsed', async () => {
    const acme = await company();
    const address = addressAt(acme);
    provider.person = personAt(address);
    await signIn(await identified(address), acme);
    const lapse = () =>
      app.database.pool.execute(
        sql`update organization_domains set status = 'lapsed' where id = ${acme.domainId}::uuid`,
      );
    await refused(acme, { ...provider.person }, lapse);
    expect((await (await identified(address)).page()).body).not.toContain('/connections/');
  });

  it('take over a member by another subject with the same address', async () => {
    const acme = await company();
    const address = addressAt(acme);
    provider.person = personAt(address);
    await signIn(await identified(address), acme);
    provider.person = personAt(address);
    const browser = await identified(address);
    await toProvider(browser, acme);
    expect(await noticeOf(browser)).toContain('There is already an account with the address');
  });

  it('take over an account by the subject that another connection with the same issuer gave it', async () => {
    const [acme, globex] = [await company(), await company()];
    const address = addressAt(acme);
    provider.person = personAt(address);
    await signIn(await identified(address), acme);
    const subject = provider.person.sub;
    // The owner of Globex makes the provider name the same subject with an address of their own.
    const own = addressAt(globex);
    provider.person = { ...personAt(own), sub: subject };
    expect(redirectParameters(await signIn(await identified(own), globex))).toHaveProperty('code');
    const [member] = (await membersOf(globex)).filter(({ role }) => role.name !== 'Organization Owner');
    expect(member?.id).toBe((await userAt(own))?.id);
    expect(member?.id).not.toBe((await userAt(address))?.id);
  });

  it('finish a sign-in that went to another one, nor sign with a foreign key', async () => {
    const [acme, globex] = [await company(), await company({}, other)];
    const address = addressAt(acme);
    provider.person = personAt(address);
    const browser = await identified(address);
    const begun = await browser.get(`/api/auth/project/connections/${acme.connectionId}`);
    const back = new URL(await provider.visit(String(begun.headers.location)));
    back.pathname = `/api/auth/connections/${globex.connectionId}/callback`;
    const mixedUp = await browser.get(back.href);
    expect(mixedUp.headers.location).toMatch(/\/sign-in$/);
    expect(await noticeOf(browser)).toContain('did not confirm who you are');
    expect(await membersOf(globex)).toHaveLength(1);
  });

  it('be used by an app of a project that is not granted to the organization', async () => {
    const acme = await connected(app, provider);
    const address = addressAt(acme);
    const browser = await identified(address);
    expect((await browser.page()).body).not.toContain('/connections/');
    const begun = await browser.get(`/api/auth/project/connections/${acme.connectionId}`);
    expect([begun.statusCode, begun.json<{ code: string }>().code]).toEqual([404, 'PROVIDER_NOT_CONFIGURED']);
  });

  it('be used while it is a draft or disabled, or after its deletion', async () => {
    const acme = await company();
    const as = { token: acme.token };
    const target = { scope: acme.scope, id: acme.connectionId };
    const start = async () => {
      const browser = await identified(addressAt(acme));
      return (await browser.get(`/api/auth/project/connections/${acme.connectionId}`)).statusCode;
    };
    expect(await start()).toBe(302);
    await app.must('updateOrganizationConnection', { ...target, status: 'disabled' }, as);
    expect(await start()).toBe(404);
    await app.must('updateOrganizationConnection', { ...target, status: 'active' }, as);
    await app.must('deleteOrganizationConnection', target, as);
    expect(await start()).toBe(404);
  });
});

it('a provider that does not answer sends the person back, with a way to try again', async () => {
  const acme = await company({}, other);
  other.faults.set('/.well-known/openid-configuration', { status: 503 });
  const browser = await identified(addressAt(acme));
  const begun = await browser.get(`/api/auth/project/connections/${acme.connectionId}`);
  expect(begun.headers.location).toMatch(/\/sign-in$/);
  const { body } = await browser.page();
  expect(body).toContain('We could not reach <bdi>Other &amp; Co</bdi>');
  expect(body).toContain(`/api/auth/project/connections/${acme.connectionId}`);
});

it('membership through a connection is recorded with the person who joined', async () => {
  const acme = await company();
  const address = addressAt(acme);
  provider.person = personAt(address);
  await signIn(await identified(address), acme);
  const id = (await userAt(address))?.id ?? '';
  const entries = await rowsOf<{ type: string; body: { actor: { id: string } } }>(
    app.database.pool,
    sql`select type, body from events where tenant_id = ${acme.id}::uuid and type = 'organization.member_added'
        and body->'data'->>'userId' = ${id}`,
  );
  expect(entries).toMatchObject([{ body: { actor: { id } } }]);
});
