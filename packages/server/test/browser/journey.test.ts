/**
 * One user from registration to deletion, in a real browser and with the built service: mails are files, the refresh token
 * is a cookie, and the export is a download.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from '../../../../scripts/service.ts';
import { codeShown } from '../support/sign-in/authenticator.ts';
import { unique } from '../support/app/client.ts';
import { preparedDataDir } from '../support/databases/prepared-data.ts';
import { photograph, sharedBrowser, watched, type Watched } from './watched.ts';

let service: Service;
let directory: string;
let browser: Browser;
let view: Watched;

beforeAll(async () => {
  directory = await preparedDataDir();
  service = await startService({
    dataDir: directory,
    env: { MAIL_PROVIDER: 'file', MAIL_FILE_DIR: join(directory, 'mail') },
  });
  browser = await sharedBrowser();
  const refusals = (url: string) => url.startsWith(`${service.base}/api/`);
  view = await watched(browser, service.base, refusals, { locale: 'en-GB', acceptDownloads: true });
});
afterAll(async () => {
  await service?.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Data {
  readonly accessToken: string;
  readonly secret: string;
  readonly factor: { readonly id: string };
}
interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly data: Data;
}

/** Sends a request from the page, with its cookies and under its policy. */
const request = (page: Page, method: string, path: string, sent: { token?: string; body?: object } = {}) =>
  page.evaluate(
    async ({ method, path, token, body }): Promise<Answer> => {
      const response = await fetch(path, {
        method,
        headers: {
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(token ? { authorization: `Bearer ${token}` } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const { data, code } = (await response.json()) as Answer;
      return { status: response.status, code, data };
    },
    { method, path, ...sent },
  );

/** Reads the newest mail file to an address; the service sends mails after it has answered. */
async function mailTo(address: string): Promise<string> {
  let match: string | undefined;
  await expect
    .poll(async () => {
      const files = await readdir(join(directory, 'mail')).catch(() => []);
      const texts = await Promise.all(
        files
          .filter((file) => file.endsWith('.eml'))
          .sort()
          .map((file) => readFile(join(directory, 'mail', file), 'utf8')),
      );
      match = texts.findLast((text) => text.includes(address));
      return match !== undefined;
    })
    .toBe(true);
  return match as string;
}

test('from registration to the deletion of the account', async () => {
  const { page } = view;
  const address = `${unique()}@example.test`;
  const credentials = {
    provider: 'email',
    providerId: address,
    providerData: { password: `correct horse ${unique()}` },
  };

  await page.goto(`${service.base}/hosted/verify-email`);
  const registered = await request(page, 'POST', '/api/auth/register', {
    body: { ...credentials, name: 'Ada' },
  });
  expect(registered).toMatchObject({ status: 201, data: { emailVerified: false } });

  const link = /http\S+\/hosted\/verify-email\?token=[\w-]+/.exec(await mailTo(address))?.[0];
  await page.goto(link as string);
  await page.getByRole('button', { name: 'Verify e-mail address' }).click();
  await expect.poll(() => page.getByRole('status').innerText()).toMatch(/^Thank you\./);
  await photograph(page, 'journey-verified');

  const login = () => request(page, 'POST', '/api/auth/login', { body: credentials });
  const first = await login();
  expect(first.data).toMatchObject({ emailVerified: true, mfaRequired: false });
  const token = first.data.accessToken;

  const enrolled = await request(page, 'POST', '/api/me/mfa/factors', { token, body: { name: 'Phone' } });
  const { secret, factor } = enrolled.data;
  const confirmed = await request(page, 'POST', `/api/me/mfa/factors/${factor.id}/verify`, {
    token,
    body: { code: codeShown(secret, new Date()) },
  });
  expect(confirmed).toMatchObject({ status: 200, data: { factor: { isEnabled: true } } });

  const second = await login();
  expect(second.data).toMatchObject({ mfaRequired: true });
  const half = second.data.accessToken;
  expect(await request(page, 'GET', '/api/me/sessions', { token: half })).toMatchObject({
    status: 403,
    code: 'MFA_REQUIRED',
  });
  // Each time step is accepted once, so this is the code of the next one.
  const code = codeShown(secret, new Date(), 1);
  const verified = await request(page, 'POST', '/api/me/mfa/verify', { token: half, body: { code } });
  expect(verified.status).toBe(200);
  const whole = verified.data.accessToken;

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    // A string, because it runs in the page.
    page.evaluate(`(async () => {
      const response = await fetch('/api/me/export', { headers: { authorization: 'Bearer ${whole}' } });
      const anchor = document.createElement('a');
      anchor.href = URL.createObjectURL(await response.blob());
      anchor.download = /filename="([^"]+)"/.exec(response.headers.get('content-disposition'))[1];
      anchor.click();
    })()`),
  ]);
  expect(download.suggestedFilename()).toMatch(/^doorward-export-[\da-f-]{36}\.json$/);
  const exported = JSON.parse(await readFile(await download.path(), 'utf8')) as Record<string, unknown>;
  expect(exported).toMatchObject({
    user: { name: 'Ada', email: address, emailVerified: true },
    mfaFactors: [{ name: 'Phone', isEnabled: true }],
  });
  expect(JSON.stringify(exported)).not.toContain(secret);

  expect((await view.context.cookies()).map(({ name }) => name)).toContain('doorward_refresh');
  const deleted = await request(page, 'DELETE', '/api/me', { token: whole });
  expect(deleted.status).toBe(200);
  expect((await view.context.cookies()).map(({ name }) => name)).not.toContain('doorward_refresh');
  expect(await request(page, 'GET', '/api/me', { token: whole })).toMatchObject({ status: 401 });
  expect(await login()).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  expect(view.offences).toEqual([]);
});
