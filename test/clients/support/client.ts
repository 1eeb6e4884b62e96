import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import type { TestApp } from '../../../packages/server/test/support/app/app.ts';
import type { Person } from '../../../packages/server/test/support/app/client.ts';
import { startAtOwnAddress } from '../../../packages/server/test/support/app/own-address.ts';
import {
  appInProject,
  signInBrowser,
  type AppInProject,
} from '../../../packages/server/test/support/sign-in/project-app.ts';

const folder = join(import.meta.dirname, '..');

/** A module of a client, as it is published. The test says what it uses of it. */
export const clientModule = async <T>(path: string): Promise<T> =>
  (await import(pathToFileURL(join(folder, 'node_modules', path)).href)) as T;

/** A service that a client reaches over HTTP, and a user. */
interface Provider {
  readonly app: TestApp;
  readonly base: string;
  readonly user: Person;
  readonly makeApp: (fields: Parameters<typeof appInProject>[1]) => Promise<AppInProject>;
  readonly issuerOf: (client: AppInProject) => string;
  /** Where the user arrives who follows the client to the service, opens the mail and consents. */
  readonly signIn: (client: AppInProject, address: string) => Promise<URL>;
}

/** Starts the service for the tests of a file. */
export function useProvider(): Provider {
  let provider: Pick<Provider, 'app' | 'base' | 'user'> | undefined;
  const here = (): Pick<Provider, 'app' | 'base' | 'user'> => {
    if (!provider) throw new Error('the service has not started');
    return provider;
  };
  beforeAll(async () => {
    const { app, base } = await startAtOwnAddress();
    provider = { app, base, user: await app.person({ name: 'Ada Lovelace' }) };
  });
  afterAll(() => provider?.app.close());
  return {
    get app() {
      return here().app;
    },
    get base() {
      return here().base;
    },
    get user() {
      return here().user;
    },
    makeApp: (fields) => appInProject(here().app, fields, here().user),
    issuerOf: ({ issuer }) => issuer.replace('http://localhost:4000', here().base),
    async signIn(client, address) {
      const browser = signInBrowser(here().app, client);
      const begun = await browser.get(address);
      if (!String(begun.headers.location).endsWith('/sign-in')) throw new Error(begun.body);
      return new URL(String((await browser.finish(here().user.email)).headers.location));
    },
  };
}

/** A browser as far as a client on a server needs it: it keeps cookies. */
export function cookieJar(send: (request: Request) => Promise<Response>) {
  const jar = new Map<string, string>();
  return async (address: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await send(new Request(address, { ...init, headers }));
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return response;
  };
}
