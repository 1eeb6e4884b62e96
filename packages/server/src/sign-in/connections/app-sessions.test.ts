import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressAt, startCompanies, type Companies } from '../../../test/support/tenants/companies.ts';
import type { Connected } from '../../../test/support/databases/connections.ts';
import {
  redirectParameters,
  signInBrowser,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { rowsOf } from '../../db/statements/rows.ts';

/** How long sessions of apps last for which the provider of an organization vouched (sign-in-methods §14). */
let companies: Companies;
beforeAll(async () => {
  companies = await startCompanies();
});
afterAll(() => companies?.close());

const HOUR_MS = 3_600_000;
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Hours from the sign-in to the end, of the newest session of an app that this address has. */
async function hoursOf(address: string): Promise<number | undefined> {
  const [row] = await rowsOf<{ hours: number }>(
    companies.app.database.pool,
    sql`select extract(epoch from s.expires_at - s.authenticated_at)::float8 / 3600 as hours from sessions s
      join users u on u.id = s.user_id where u.email = ${address} and s.kind = 'projectApp' order by s.created_at desc, s.id desc limit 1`,
  );
  return row?.hours;
}

/** From the first page through the provider to the answer for the app; consents if asked. */
async function throughCompany(browser: SignInBrowser, acme: Connected, address: string) {
  await browser.post('/api/auth/flow/identifier', { email: address });
  const back = await companies.throughProvider(browser, acme, address);
  return String(back.headers.location).endsWith('/consent') ? browser.answer('approve') : back;
}

async function newCode(browser: SignInBrowser, acme: Connected, address: string): Promise<string> {
  await browser.authorize();
  return redirectParameters(await throughCompany(browser, acme, address)).code ?? '';
}

const exchange = async (browser: SignInBrowser, code: string, to = companies.shop) =>
  (await companies.exchange({ code, verifier: browser.verifier, to })).data as { refreshToken: string };

const renewal = (refresh_token: string) =>
  companies.app.raw('projectToken', {
    grant_type: 'refresh_token',
    refresh_token,
    client_id: companies.shop.clientId,
  });

async function device(sent: Record<string, string>, path: 'device' | 'token') {
  const answer = await companies.app.server.inject({
    method: 'POST',
    url: `/api/auth/project/${path}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_id: companies.shop.clientId, ...sent }).toString(),
  });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<Record<string, string>>();
}

describe('the session of an app', () => {
  it('through a connection ends twelve hours after the sign-in, however often it is renewed', async () => {
    const acme = await companies.company();
    const address = addressAt(acme);
    const browser = signInBrowser(companies.app, companies.shop);
    const first = await exchange(browser, await newCode(browser, acme, address));
    expect(await hoursOf(address)).toBe(12);
    const { clock } = companies.app;
    clock.advance(11 * HOUR_MS);
    try {
      const later = await renewal(first.refreshToken);
      expect(later.status).toBe(200);
      clock.advance(1 * HOUR_MS + 1000);
      const { refreshToken } = later.data as { refreshToken: string };
      expect((await renewal(refreshToken)).status).toBe(400);
      clock.advance(-1 * HOUR_MS - 1000);
    } finally {
      clock.advance(-11 * HOUR_MS);
    }
  });

  it('that joins the sign-in of the browser ends with the twelve hours of that sign-in', async () => {
    const acme = await companies.company();
    const address = addressAt(acme);
    const browser = signInBrowser(companies.app, companies.shop);
    await newCode(browser, acme, address);
    const { clock } = companies.app;
    clock.advance(5 * HOUR_MS);
    try {
      const next = signInBrowser(companies.app, companies.shop, browser);
      const { code = '' } = redirectParameters(await next.authorize({ prompt: 'none' }));
      await exchange(next, code);
      expect(await hoursOf(address)).toBe(12);
    } finally {
      clock.advance(-5 * HOUR_MS);
    }
  });

  it('of a device ends as early', async () => {
    const acme = await companies.company();
    const address = addressAt(acme);
    const { user_code = '', device_code = '' } = await device({ organization: acme.id }, 'device');
    const browser = signInBrowser(companies.app, companies.shop);
    await browser.post('/api/auth/project/device/enter', { user_code });
    expect((await throughCompany(browser, acme, address)).headers.location).toContain('result=approved');
    expect(await device({ grant_type: DEVICE, device_code }, 'token')).toHaveProperty('refresh_token');
    expect(await hoursOf(address)).toBe(12);
  });

  it('by a way of the person themselves lasts as everywhere, also for the organization', async () => {
    const acme = await companies.company();
    const { email } = await companies.memberAt(acme, 'Organization Viewer');
    await companies.sessionByMail(email);
    expect(await hoursOf(email)).toBe(30 * 24);
  });
});
