import type { LightMyRequestResponse } from 'fastify';
import type { TestApp } from '../app/app.ts';
import { visitor, type Visitor } from '../app/visitor.ts';

/** A browser without script on the account pages. */
interface AccountBrowser extends Omit<Visitor, 'signIn' | 'connect' | 'toGithub'> {
  /** Signs in with a mailed link, from the first address to the page at its end. */
  signIn(address: string, page?: string): Promise<LightMyRequestResponse>;
  /** The page, as text. */
  page(path: string): Promise<LightMyRequestResponse>;
  /** Sends a form of the page, with its token. */
  send(
    path: string,
    fields: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
}

export const accountCookie = 'doorward_account';
const html = { accept: 'text/html' };

export function accountBrowser(app: TestApp): AccountBrowser {
  const browser = visitor(app.server);
  const page = (path: string) => browser.get(path, html);
  return {
    ...browser,
    page,
    async signIn(address, path = '/account') {
      const begun = await browser.get(path, html);
      await browser.get(String(begun.headers.location), html);
      await browser.post('/api/auth/project/email/request', { email: address });
      const token = await app.mailedToken(address);
      return browser.post('/api/auth/project/email/consume', { token });
    },
    async send(path, fields, headers = {}) {
      const { body } = await page(path);
      const token = /name="form_token" value="([\w-]+)"/.exec(body)?.[1] ?? '';
      return browser.post(path, { form_token: token, ...fields }, { ...html, ...headers });
    },
  };
}
