import { startApp, type TestApp } from './app.ts';
import { unique } from './client.ts';
import { connected, type Connected } from './connections.ts';
import { grantTo, vendorOf, type Vendor } from './grants.ts';
import { operatorEnvironment } from './operators.ts';
import { startOpenidProvider, type OpenidDouble } from './openid-provider.ts';
import { visitor } from './visitor.ts';
import type { SignInBrowser } from './project-app.ts';

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
  close(): Promise<void>;
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
  return {
    app,
    provider,
    vendor,
    shop: await make('Shop'),
    desk: await make('Desk'),
    frontend,
    throughProvider,
    async company(settings) {
      const customer = await connected(app, provider, settings);
      await grantTo(app, vendor, customer, { defaultRoleId: vendor.reader });
      return customer;
    },
    enforce({ scope, connectionId, token }, enforced = true) {
      return app.must('updateOrganizationConnection', { scope, id: connectionId, enforced }, { token });
    },
    async boundSession(at, address, browser = visitor(app.server)) {
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
    },
    async close() {
      await app.close();
      await provider.close();
    },
  };
}
