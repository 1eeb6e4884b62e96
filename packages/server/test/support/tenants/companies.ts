import { sql } from 'drizzle-orm';
import { roleIdOf } from '../../../src/schema/rights/built-in-ids.ts';
import { startApp, type TestApp } from '../app/app.ts';
import { unique, type Person } from '../app/client.ts';
import { connected, type Connected } from '../databases/connections.ts';
import { grantTo, vendorOf, type Vendor } from './grants.ts';
import { operatorEnvironment } from './operators.ts';
import { startOpenidProvider, type OpenidDouble } from '../sign-in/openid-provider.ts';
import { visitor } from '../app/visitor.ts';
import { redirectParameters, signInBrowser, type SignInBrowser } from '../sign-in/project-app.ts';

/** A project with two apps, granted to companies whose people come through a provider of their own. */
export interface Companies {
  readonly app: TestApp;
  readonly provider: OpenidDouble;
  readonly vendor: Vendor;
  readonly shop: AppOfVendor;
  readonly desk: AppOfVendor;
  readonly frontend: string;
  company(settings?: Record<string, unknown>): Promise<Connected>;
  enforce(at: Connected, enforced?: boolean): Promise<unknown>;
  /** To the provider as this person, and back to the page at the end. */
  throughProvider(
    browser: Pick<SignInBrowser, 'get' | 'post'>,
    at: Connected,
    address: string,
  ): ReturnType<SignInBrowser['get']>;
  /** A session of this service through the connection; returns its token. */
  boundSession(at: Connected, address: string, browser?: Visitor): Promise<string>;
  /** A company whose connection a person has used, so that it can be enforced. */
  proved(): Promise<Connected>;
  /** A person with this address and a role there, as if they had been invited. */
  memberAt(
    at: Connected,
    role: 'Organization Viewer' | 'Organization Owner',
    email?: string,
  ): Promise<Person>;
  /** The code that an app gets for a sign-in by mail; absent `to`: the shop. */
  codeByMail(address: string, to?: AppOfVendor, browser?: SignInBrowser): Promise<AppCode>;
  exchange(code: AppCode): ReturnType<TestApp['raw']>;
  /** A session of an app; returns how to renew it, which is possible as long as it lives. */
  sessionByMail(address: string, to?: AppOfVendor, browser?: SignInBrowser): Promise<() => Promise<number>>;
  close(): Promise<void>;
}

interface AppCode {
  readonly code: string;
  readonly verifier: string;
  readonly to: AppOfVendor;
}

interface AppOfVendor {
  readonly clientId: string;
  readonly redirectUri: string;
}
type Visitor = ReturnType<typeof visitor>;

export const addressAt = ({ domain }: Connected) => `${unique()}@${domain}`;

export async function startCompanies(): Promise<Companies> {
  const frontend = 'https://console.example.test';
  const provider = await startOpenidProvider();
  const app = await startApp({
    ...operatorEnvironment,
    IDENTITY_PROVIDERS: JSON.stringify([provider.entry]),
    FEDERATION_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    CONNECTIONS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    SECURITY_ADDITIONAL_ORIGINS: frontend,
  });
  const vendor = await vendorOf(app);
  const make = async (name: string): Promise<AppOfVendor> => {
    const redirectUri = `https://${name.toLowerCase()}.example/callback`;
    const fields = { name, redirectUris: [redirectUri], enabledProviders: ['email' as const] };
    const as = { token: vendor.token };
    const { clientId } = await app.must('createProjectApp', { scope: vendor.scope, ...fields }, as);
    return { clientId, redirectUri };
  };
  const throughProvider: Companies['throughProvider'] = async (browser, { connectionId }, address) => {
    provider.person = provider.newPerson({ email: address, sub: `sub of ${address}` });
    const begun = await browser.get(`/api/auth/project/connections/${connectionId}`);
    if (begun.statusCode !== 302) throw new Error(`no way to the provider: ${begun.body}`);
    return browser.get(await provider.visit(String(begun.headers.location)));
  };
  const shop = await make('Shop');
  const codeByMail: Companies['codeByMail'] = async (
    address,
    to = shop,
    browser = signInBrowser(app, to),
  ) => {
    await browser.authorize();
    const next = await browser.open(await browser.mail(address));
    const end = String(next.headers.location).endsWith('/consent') ? await browser.answer('approve') : next;
    return { code: redirectParameters(end).code ?? '', verifier: browser.verifier, to };
  };
  const exchange: Companies['exchange'] = ({ code, verifier, to }) =>
    app.raw('projectToken', {
      grant_type: 'authorization_code',
      code,
      client_id: to.clientId,
      redirect_uri: to.redirectUri,
      code_verifier: verifier,
    });
  const company: Companies['company'] = async (settings) => {
    const customer = await connected(app, provider, settings);
    await grantTo(app, vendor, customer, { defaultRoleId: vendor.reader });
    return customer;
  };
  const boundSession: Companies['boundSession'] = async (at, address, browser = visitor(app.server)) => {
    await browser.get(`/api/auth/sign-in?redirect=${encodeURIComponent(frontend)}`);
    await browser.post('/api/auth/flow/identifier', { email: address });
    const back = await throughProvider(browser, at, address);
    if (back.headers.location !== frontend)
      throw new Error(`ended at ${back.headers.location}: ${back.body}`);
    const renewed = await app.server.inject({
      method: 'POST',
      url: '/api/auth/refresh',
      headers: { cookie: `doorward_refresh=${browser.cookies.get('doorward_refresh')}`, origin: frontend },
      payload: {},
    });
    return renewed.json<{ data: { accessToken: string } }>().data.accessToken;
  };
  return {
    app,
    provider,
    vendor,
    shop,
    desk: await make('Desk'),
    frontend,
    throughProvider,
    company,
    boundSession,
    codeByMail,
    exchange,
    enforce({ scope, connectionId, token }, enforced = true) {
      return app.must('updateOrganizationConnection', { scope, id: connectionId, enforced }, { token });
    },
    async proved() {
      const acme = await company();
      await boundSession(acme, addressAt(acme));
      return acme;
    },
    async memberAt(at, role, email = addressAt(at)) {
      const person = await app.person({ email, type: 'organization' });
      const roleId = roleIdOf(role);
      await app.database.pool.execute(
        sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
            select ${at.id}::uuid, ${person.userId}::uuid, id, tenant_id from roles where id = ${roleId}::uuid`,
      );
      return person;
    },
    async sessionByMail(...by) {
      const made = await codeByMail(...by);
      let { refreshToken } = (await exchange(made)).data as { readonly refreshToken: string };
      const renew = async () => {
        const answer = await app.raw('projectToken', {
          grant_type: 'refresh_token',
          refresh_token: refreshToken,
          client_id: made.to.clientId,
        });
        ({ refreshToken } = (answer.data ?? {}) as { readonly refreshToken: string });
        return answer.status;
      };
      if ((await renew()) !== 200) throw new Error('the session is dead from its beginning');
      return renew;
    },
    async close() {
      await app.close();
      await provider.close();
    },
  };
}
