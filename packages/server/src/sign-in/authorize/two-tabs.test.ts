import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import {
  appInProject,
  authorizePath,
  projectViewer,
  redirectParameters,
  signInBrowser,
  type AppInProject,
} from '../../../test/support/sign-in/project-app.ts';
import { visitor, type Visitor } from '../../../test/support/app/visitor.ts';

/** Several sign-ins in one browser: each start has a flow of its own, and none ends another (identity §12). */
let app: TestApp;
let boards: AppInProject;
let charts: AppInProject;
let user: Person;
let browser: Visitor;

const BASE = 'http://localhost:4000';
const html = { accept: 'text/html' };

beforeAll(async () => {
  app = await startApp({ GITHUB_CLIENT_ID: 'id', GITHUB_CLIENT_SECRET: 'secret' });
  user = await app.person();
  const fields = {
    firstParty: true,
    allowSignUp: true,
    signUpRoleId: projectViewer,
    enabledProviders: ['password', 'email', 'github'] as const,
  };
  boards = await appInProject(app, { ...fields, enabledProviders: [...fields.enabledProviders] });
  charts = await appInProject(app, {
    ...fields,
    enabledProviders: [...fields.enabledProviders],
    name: 'Charts',
    redirectUris: ['https://charts.example/callback'],
  });
});
afterAll(() => app.close());
beforeEach(() => {
  browser = visitor(app.server, BASE, { showsFlow: true });
});

/** A tab of the browser: its address and the form token of its page. */
async function tab(start: string) {
  const begun = await browser.get(start, html);
  const address = String(begun.headers.location);
  const page = await browser.get(address, html);
  return { address, page, token: tokenIn(page) };
}

const tokenIn = ({ body }: LightMyRequestResponse): string =>
  /name="(?:form_token|consent_token|formToken)" value="([\w-]{43})"/.exec(body)?.[1] ?? '';

const startOf = (to: AppInProject, prompt = 'login'): string =>
  `${authorizePath}?${new URLSearchParams({ ...signInBrowser(app, to, browser).request, prompt }).toString()}`;

const sendPassword = (form_token: string) =>
  browser.post('/api/auth/flow/password', { form_token, email: user.email, password: user.password }, html);

describe('A later start leaves an earlier sign-in alone', () => {
  const laterStarts: [string, () => string][] = [
    ['of the same app', () => startOf(boards)],
    ['of another app', () => startOf(charts)],
    ['of this service', () => '/api/auth/sign-in'],
    ['through a provider', () => '/api/auth/github'],
    ['of a logout', () => '/api/auth/project/end-session'],
  ];
  it.each(laterStarts)('%s', async (_, later) => {
    const first = await tab(startOf(boards));
    await browser.get(later(), html);
    expect((await browser.get(first.address, html)).body).toContain('Acme Boards');
    const done = await sendPassword(first.token);
    expect(redirectParameters(done)).toHaveProperty('code');
    expect(String(done.headers.location)).toMatch(/^https:\/\/boards\.example/);
  });
});

it('finishes two sign-ins in any order, each for its own app', async () => {
  const first = await tab(startOf(boards));
  const second = await tab(startOf(charts));
  for (const [{ token }, host] of [
    [second, 'charts.example'],
    [first, 'boards.example'],
  ] as const) {
    expect(new URL(String((await sendPassword(token)).headers.location)).host).toBe(host);
  }
});

it('survives starts at the same time, as when a browser restores its tabs', { tags: 'race' }, async () => {
  const starts = await Promise.all(
    [boards, charts, boards, charts].map((to) => browser.get(startOf(to), html)),
  );
  for (const { headers } of starts) {
    const page = await browser.get(String(headers.location), html);
    expect(redirectParameters(await sendPassword(tokenIn(page)))).toHaveProperty('code');
  }
});

it('shows a tab the page of its own sign-in, and leads its links there', async () => {
  const first = await tab(startOf(boards));
  const second = await tab(startOf(charts));
  const reload = await browser.get(first.address, html);
  expect(reload.body).toContain('Acme Boards');
  const links = [...reload.body.matchAll(/href="(\/api\/auth\/project\/[^"]+)"/g)].map(([, href]) =>
    String(href).replaceAll('&amp;', '&'),
  );
  expect(links).not.toHaveLength(0);
  const flow = new URL(first.address).searchParams.get('flow');
  for (const link of links) expect(new URL(link, BASE).searchParams.get('flow'), link).toBe(flow);
  expect(new URL(second.address).searchParams.get('flow')).not.toBe(flow);
});

it('finishes a round trip to a provider while another tab signs in', async () => {
  const first = await tab(startOf(boards));
  const flow = new URL(first.address).searchParams.get('flow') ?? '';
  const away = await browser.get(`/api/auth/project/github?flow=${flow}`, html);
  const state = new URL(String(away.headers.location)).searchParams.get('state') ?? '';
  const second = await tab(startOf(charts));
  const back = await browser.get(
    `/api/auth/github/callback/project?${new URLSearchParams({ state, error: 'access_denied' }).toString()}`,
    html,
  );
  expect((await browser.get(String(back.headers.location), html)).body).toContain('Acme Boards');
  expect(redirectParameters(await sendPassword(second.token))).toHaveProperty('code');
});

it('opens a mailed link of an earlier sign-in', async () => {
  const first = await tab(startOf(boards));
  await browser.post('/api/auth/project/email/request', { email: user.email, form_token: first.token });
  const token = await app.mailedToken(user.email);
  await tab(startOf(charts));
  const link = await browser.get(`/api/auth/project/email?token=${token}`, html);
  expect(link.body).toContain(token);
  const done = await browser.post('/api/auth/project/email/consume', { token }, html);
  expect(new URL(String(done.headers.location)).host).toBe('boards.example');
});

it('refuses the form of another browser, also with a sign-in of its own', async () => {
  const victim = visitor(app.server);
  const attacker = await tab(startOf(boards));
  await victim.get(startOf(charts), html);
  const forged = { form_token: attacker.token, email: user.email, password: user.password };
  expect((await victim.post('/api/auth/flow/password', forged, html)).statusCode).toBe(400);
  const flow = new URL(attacker.address).searchParams.get('flow') ?? '';
  const page = await victim.get(`/api/auth/project/sign-in?flow=${flow}`, html);
  expect(page.statusCode).toBe(400);
});

describe('A form of a sign-in that has gone on', () => {
  const over = async (form_token: string) => {
    const page = await browser.post('/api/auth/project/consent/deny', { consent_token: form_token }, html);
    expect(page.statusCode).toBe(400);
    return page.body;
  };

  it('leads to the page of its present step', async () => {
    const first = await tab(startOf(boards, 'login consent'));
    const next = await sendPassword(first.token);
    const again = await browser.post(
      '/api/auth/flow/identifier',
      { form_token: first.token, email: user.email },
      html,
    );
    expect(again.statusCode).toBe(303);
    expect(new URL(String(again.headers.location), BASE).href).toBe(next.headers.location);
  });

  it('leads back to the app after the end', async () => {
    const first = await tab(startOf(boards));
    await sendPassword(first.token);
    const body = await over(first.token);
    expect(body).toContain('This sign-in has ended');
    expect(body).toContain('href="https://boards.example"');
    expect(body).not.toMatch(/expired/);
  });

  it('leads back to the app after its time, also when the page is loaded again', async () => {
    const first = await tab(startOf(boards));
    app.clock.advance(11 * 60_000);
    expect(await over(first.token)).toContain('href="https://boards.example"');
    const page = await browser.get(first.address, html);
    expect([page.statusCode, page.body.includes('href="https://boards.example"')]).toEqual([400, true]);
  });

  it.each([
    ['of this service', '/api/auth/sign-in', '/account'],
    ['through a provider', '/api/auth/github', null],
  ])('%s leads there', async (_, start, home) => {
    const begun = await browser.get(start, html);
    app.clock.advance(11 * 60_000);
    const address = new URL(String(begun.headers.location));
    const state = address.searchParams.get('state');
    const page =
      state === null
        ? await browser.get(address.pathname + address.search, html)
        : await browser.get(
            `/api/auth/github/callback?${new URLSearchParams({ state, code: 'x' }).toString()}`,
            html,
          );
    expect(page.body).toContain(`href="${home ?? '/account'}"`);
  });

  it('leads nowhere in another browser, whatever its cookie says', async () => {
    const first = await tab(startOf(boards));
    const flow = new URL(first.address).searchParams.get('flow') ?? '';
    const other = visitor(app.server);
    const none = await other.post('/api/auth/project/consent/deny', { consent_token: first.token }, html);
    expect(none.body).not.toContain('boards.example');
    other.cookies.set(`doorward_flow_${flow}`, `${flow}x.https://evil.example`);
    const forged = await other.post('/api/auth/project/consent/deny', { consent_token: first.token }, html);
    expect([forged.statusCode, forged.body.includes('evil.example')]).toEqual([400, false]);
  });
});

it('remembers ten sign-ins, and forgets the oldest', async () => {
  const first = await tab(startOf(boards));
  const second = await tab(startOf(boards));
  for (let count = 3; count <= 11; count += 1) await browser.get(startOf(charts), html);
  expect([...browser.cookies.keys()].filter((name) => name.startsWith('doorward_flow_'))).toHaveLength(10);
  expect((await sendPassword(first.token)).statusCode).toBe(400);
  expect(redirectParameters(await sendPassword(second.token))).toHaveProperty('code');
  const header = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  expect(header.length).toBeLessThan(1200);
});
