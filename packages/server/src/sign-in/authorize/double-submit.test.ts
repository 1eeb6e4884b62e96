import type { LightMyRequestResponse } from 'fastify';
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { startGithub, type GithubDouble } from '../../../test/support/sign-in/github.ts';
import { customerOf, grantTo, memberOf, vendorOf } from '../../../test/support/tenants/grants.ts';
import { PasskeyDevice } from '../../../test/support/sign-in/passkey-device.ts';
import {
  appInProject,
  authorizePath,
  projectViewer,
  signInBrowser,
  type AppInProject,
} from '../../../test/support/sign-in/project-app.ts';
import { visitor, type Visitor } from '../../../test/support/app/visitor.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';
import { sessions } from '../../schema/sign-in/session.ts';

/** Every step of a sign-in: sent twice, sent late from the history, and with another sign-in in a second tab (identity §12). */
let app: TestApp;
let github: GithubDouble;
let boards: AppInProject;
/** Asks for consent. */
let charts: AppInProject;
/** Of a vendor with two customers, so its users choose an organization. */
let bills: Pick<AppInProject, 'clientId' | 'redirectUri'>;
let members: Person[];

const BASE = 'http://localhost:4000';
const html = { accept: 'text/html' };
const ways = ['password', 'email', 'passkey', 'github'] as const;

beforeAll(async () => {
  github = await startGithub();
  app = await startOwnApp({ ...github.env, AUTH_REGISTRATION_MODE: 'immediate' });
  const fields = { allowSignUp: true, signUpRoleId: projectViewer, enabledProviders: [...ways] };
  boards = await appInProject(app, { ...fields, firstParty: true });
  charts = await appInProject(app, { ...fields, redirectUris: ['https://charts.example/callback'] });
  const vendor = await vendorOf(app);
  const [acme, bolt] = [await customerOf(app), await customerOf(app)];
  for (const customer of [acme, bolt]) await grantTo(app, vendor, customer, { defaultRoleId: vendor.reader });
  const redirectUri = 'https://bills.example/callback';
  const input = {
    scope: vendor.scope,
    name: 'Bills',
    redirectUris: [redirectUri],
    firstParty: true,
    enabledProviders: [...ways],
  };
  const { clientId } = await app.must('createProjectApp', input, { token: vendor.token });
  bills = { clientId, redirectUri };
  const newMember = async (): Promise<Person> => {
    const person = await memberOf(app, acme, 'Organization Viewer');
    const invited = { scope: bolt.scope, email: person.email, roleId: roleIdOf('Organization Viewer') };
    await app.must('inviteMember', invited, { token: bolt.token });
    const token = await app.mailedToken(person.email);
    await app.must('acceptInvitation', { token }, { token: person.token });
    return person;
  };
  // One for each table: the tokens of the owners end while the time advances.
  members = [await newMember(), await newMember(), await newMember()];
});
afterAll(async () => {
  await app.close();
  await github.close();
});

/** A form of a page, or the return from a provider, ready to be sent. */
interface Step {
  readonly browser: Visitor;
  readonly path: string;
  /** Absent: the browser opens the path. */
  readonly fields?: Record<string, string>;
  /** The place to which the page leads after the end; absent: this service. */
  readonly home?: string;
}

const send = ({ browser, path, fields }: Step): Promise<LightMyRequestResponse> =>
  fields ? browser.post(path, fields, html) : browser.get(path, html);

const valueOf = ({ body }: LightMyRequestResponse, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1] ?? '';

/** The page to which the answer leads, or that the address names. */
async function pageAt(browser: Visitor, at: LightMyRequestResponse | string) {
  const page = await browser.get(typeof at === 'string' ? at : String(at.headers.location), html);
  const form_token = valueOf(page, 'form_token') || valueOf(page, 'consent_token');
  return { page, form_token, formToken: valueOf(page, 'formToken') };
}

const startOf = (
  { clientId, redirectUri }: Pick<AppInProject, 'clientId' | 'redirectUri'>,
  browser: Visitor,
) => {
  const { request } = signInBrowser(app, { clientId, redirectUri }, browser);
  return `${authorizePath}?${new URLSearchParams({ ...request, prompt: 'login' }).toString()}`;
};

const newBrowser = (): Visitor => visitor(app.server, BASE, { showsFlow: true });

/** At the first page of a sign-in. */
async function begun(to: Pick<AppInProject, 'clientId' | 'redirectUri'> = boards, start?: string) {
  const browser = newBrowser();
  const started = await browser.get(start ?? startOf(to, browser), html);
  return { browser, home: new URL(to.redirectUri).origin, ...(await pageAt(browser, started)) };
}

/** The step after the password. */
async function afterPassword(
  person: Person,
  to: Pick<AppInProject, 'clientId' | 'redirectUri'> = boards,
  start?: string,
) {
  const at = await begun(to, start);
  const next = await at.browser.post(
    '/api/auth/flow/password',
    { form_token: at.form_token, email: person.email, password: person.password },
    html,
  );
  return { ...at, ...(await pageAt(at.browser, next)) };
}

const verifier = randomBytes(32).toString('base64url');
const cliQuery = new URLSearchParams({
  redirect: 'http://127.0.0.1:8976/done',
  state: 'state-of-the-cli',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
});

const steps: Record<string, () => Promise<Step>> = {
  identifier: async () => {
    const at = await begun();
    const fields = { form_token: at.form_token, email: (await app.person()).email };
    return { ...at, path: '/api/auth/flow/identifier', fields };
  },
  password: async () => {
    const { email, password } = await app.person();
    const at = await begun();
    return { ...at, path: '/api/auth/flow/password', fields: { form_token: at.form_token, email, password } };
  },
  passkey: async () => {
    const { token } = await app.person();
    const device = new PasskeyDevice();
    const created = await app.must('createPasskeyOptions', {}, { token });
    const credential = device.create(created.publicKey);
    await app.must('createPasskey', { challengeId: created.challengeId, credential }, { token });
    const at = await begun();
    const cookie = [...at.browser.cookies].map((pair) => pair.join('=')).join('; ');
    const asked = await app.raw(
      'flowPasskeyOptions',
      { form_token: at.form_token },
      { headers: { cookie, origin: BASE } },
    );
    const { challengeId, publicKey } = asked.data as {
      challengeId: string;
      publicKey: { challenge: string };
    };
    const used = JSON.stringify(device.get(publicKey));
    const fields = { form_token: at.form_token, challengeId, credential: used };
    return { ...at, path: '/api/auth/flow/passkey', fields };
  },
  'mail request': async () => {
    const at = await begun();
    const fields = { form_token: at.form_token, email: (await app.person()).email };
    return { ...at, path: '/api/auth/project/email/request', fields };
  },
  'mailed code': async () => {
    const { email } = await app.person();
    const at = await begun();
    await at.browser.post('/api/auth/project/email/request', { form_token: at.form_token, email });
    const fields = { form_token: at.form_token, code: await app.mailedCode(email) };
    return { ...at, path: '/api/auth/flow/email/code', fields };
  },
  'mailed link': async () => {
    const { email } = await app.person();
    const at = await begun();
    await at.browser.post('/api/auth/project/email/request', { form_token: at.form_token, email });
    return {
      ...at,
      path: '/api/auth/project/email/consume',
      fields: { token: await app.mailedToken(email) },
    };
  },
  'sign-up': async () => {
    const at = await begun();
    const email = `new-${unique()}@example.test`;
    const fields = { form_token: at.form_token, email, name: 'Ada', password: 'four green kettles sing' };
    return { ...at, path: '/api/auth/flow/sign-up', fields };
  },
  'reset request': async () => {
    const at = await begun();
    const fields = { form_token: at.form_token, email: (await app.person()).email };
    return { ...at, path: '/api/auth/flow/reset/request', fields };
  },
  reset: async () => {
    const { email } = await app.person();
    const at = await begun();
    await at.browser.post('/api/auth/flow/reset/request', { form_token: at.form_token, email });
    const code = await app.mailedCode(email);
    const fields = { form_token: at.form_token, code, newPassword: 'four green kettles sing' };
    return { ...at, path: '/api/auth/flow/reset', fields };
  },
  'second factor': async () => {
    const person = await app.person();
    const { factor, secret } = await app.must('createMfaFactor', {}, { token: person.token });
    const code = () => codeShown(secret, app.clock.now());
    await app.must('verifyMfaFactor', { id: factor.id, code: code() }, { token: person.token });
    app.clock.advance(30_000);
    const at = await afterPassword(person);
    const fields = { form_token: at.form_token, code: code() };
    return { ...at, path: '/api/auth/project/second-factor', fields };
  },
  organization: async () => {
    const at = await afterPassword(members.pop() as Person, bills);
    const organization = valueOf(at.page, 'organization');
    return {
      ...at,
      path: '/api/auth/project/organization',
      fields: { form_token: at.form_token, organization },
    };
  },
  consent: async () => {
    const at = await afterPassword(await app.person(), charts);
    return { ...at, path: '/api/auth/project/consent/approve', fields: { consent_token: at.form_token } };
  },
  cancel: async () => {
    const at = await begun();
    return { ...at, path: '/api/auth/project/consent/deny', fields: { consent_token: at.form_token } };
  },
  'return from a provider': async () => {
    github.account = github.newAccount();
    const at = await begun();
    const flow = at.form_token.slice(0, 8);
    const away = await at.browser.get(`/api/auth/project/github?flow=${flow}`, html);
    return { ...at, path: await github.visit(String(away.headers.location)) };
  },
  'sign-in to the service through a provider': async () => {
    github.account = github.newAccount();
    const browser = newBrowser();
    return { browser, path: await browser.toGithub(github) };
  },
  'connect a provider': async () => {
    const browser = newBrowser();
    github.account = github.newAccount();
    await browser.signIn(github);
    github.account = github.newAccount();
    const back = await browser.get(await browser.toGithub(github, { action: 'connect' }), html);
    const { formToken } = await pageAt(browser, back);
    return { browser, path: '/api/auth/providers/connect', fields: { decision: 'approve', formToken } };
  },
  'command line': async () => {
    const at = await afterPassword(await app.person(), boards, `/api/auth/cli?${cliQuery.toString()}`);
    const fields = { decision: 'approve', formToken: at.formToken };
    return { browser: at.browser, path: '/api/auth/cli/confirm', fields };
  },
  'sign out': async () => {
    const browser = newBrowser();
    const asked = await browser.get('/api/auth/project/end-session', html);
    const { formToken } = await pageAt(browser, asked);
    const fields = { decision: 'approve', formToken };
    return { browser, path: '/api/auth/project/end-session/confirm', fields };
  },
  device: async () => {
    const codes = await app.server.inject({
      method: 'POST',
      url: '/api/auth/project/device',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: charts.clientId }).toString(),
    });
    const { user_code } = codes.json<{ user_code: string }>();
    const browser = newBrowser();
    const entered = await browser.post('/api/auth/project/device/enter', { user_code }, html);
    const { form_token } = await pageAt(browser, entered);
    const { email, password } = await app.person();
    const next = await browser.post('/api/auth/flow/password', { form_token, email, password }, html);
    const at = await pageAt(browser, next);
    const fields = { consent_token: at.form_token };
    return { browser, path: '/api/auth/project/consent/approve', fields, home: '/device' };
  },
};

const names = Object.keys(steps);
const stepOf = async (name: string): Promise<Step> => {
  const step = await steps[name]?.();
  if (!step) throw new Error(name);
  return step;
};

/** What a step may create. */
const state = async () => ({
  codes: (await app.database.pool.select().from(projectCodes)).length,
  sessions: (await app.database.pool.select().from(sessions)).length,
  mails: app.mails.length,
});

const nextOf = ({ statusCode, headers }: LightMyRequestResponse) => [statusCode, headers.location];

describe('A step that is sent twice gets the same outcome, and runs once', () => {
  it.each(names)('%s, at the same time and again', { tags: 'race' }, async (name) => {
    const step = await stepOf(name);
    const before = await state();
    const [first, second] = await Promise.all([send(step), send(step)]);
    await app.app.flushMails();
    const once = await state();
    expect(first.statusCode, first.body).toBe(303);
    expect(nextOf(second)).toEqual(nextOf(first));
    app.clock.advance(20_000);
    expect(nextOf(await send(step))).toEqual(nextOf(first));
    await app.app.flushMails();
    expect(await state()).toEqual(once);
    for (const kind of ['codes', 'sessions', 'mails'] as const)
      expect(once[kind] - before[kind], kind).toBeLessThanOrEqual(1);
  });
});

describe('A step that is sent later, from the history', () => {
  it.each(names)('%s', async (name) => {
    const step = await stepOf(name);
    await send(step);
    app.clock.advance(31_000);
    const late = await send(step);
    expect([303, 400]).toContain(late.statusCode);
    if (late.statusCode === 303) return;
    expect(late.body).not.toMatch(/expired/i);
    expect(late.body).toContain('This sign-in has ended');
    expect(late.body).toContain(`href="${step.home ?? '/account'}"`);
  });
});

describe('A step during a sign-in in another tab', () => {
  it.each(names)('%s', async (name) => {
    const step = await stepOf(name);
    await step.browser.get(startOf(charts, step.browser), html);
    const done = await send(step);
    expect(done.statusCode, done.body).toBe(303);
    expect(done.headers.location).not.toContain('charts.example/callback?error');
  });
});

describe('The outcome of a step', () => {
  it('is for its browser alone, with its page and the same input', async () => {
    const step = await stepOf('consent');
    const done = await send(step);
    const stranger = newBrowser();
    await stranger.get(startOf(charts, stranger), html);
    expect((await send({ ...step, browser: stranger })).statusCode).toBe(400);
    const flow = step.fields?.['consent_token']?.slice(0, 8) ?? '';
    stranger.cookies.set(`doorward_flow_${flow}`, `${flow}${'x'.repeat(24)}.${charts.id}`);
    expect((await send({ ...step, browser: stranger })).headers.location).toBeUndefined();
    const denied = await send({ ...step, path: '/api/auth/project/consent/deny' });
    expect(denied.headers.location).toBeUndefined();
    expect(nextOf(await send(step))).toEqual(nextOf(done));
  });

  it('is a page once the app has exchanged the code: a second exchange would end the session', async () => {
    const at = await begun(charts);
    const browser = signInBrowser(app, charts, at.browser);
    const started = await browser.authorize({ prompt: 'login' });
    const { form_token } = await pageAt(at.browser, started);
    const { email, password } = await app.person();
    const next = await at.browser.post('/api/auth/flow/password', { form_token, email, password }, html);
    const consent = await pageAt(at.browser, next);
    const step = {
      browser: at.browser,
      path: '/api/auth/project/consent/approve',
      fields: { consent_token: consent.form_token },
    };
    const { searchParams } = new URL(String((await send(step)).headers.location));
    await app.must('projectToken', {
      grant_type: 'authorization_code',
      code: searchParams.get('code') ?? '',
      redirect_uri: charts.redirectUri,
      client_id: charts.clientId,
      code_verifier: browser.verifier,
    });
    const again = await send(step);
    expect([again.statusCode, again.body.includes('href="https://charts.example"')]).toEqual([400, true]);
  });

  it('is stored sealed, once per flow, and purged', async () => {
    const done = await send(await stepOf('consent'));
    const code = new URL(String(done.headers.location)).searchParams.get('code') ?? 'none';
    const { rows } = (await app.database.pool.execute('select * from step_outcomes')) as { rows: unknown[] };
    expect(JSON.stringify(rows)).not.toContain(code);
    app.clock.advance(31_000);
    await app.purge();
    const left = (await app.database.pool.execute('select * from step_outcomes')) as { rows: unknown[] };
    expect(left.rows).toEqual([]);
  });

  it('of a mail request does not keep “send another code” from sending one', { tags: 'race' }, async () => {
    const step = await stepOf('mail request');
    const { page } = await pageAt(step.browser, await send(step));
    await app.app.flushMails();
    const before = app.mails.length;
    const fields = { ...step.fields, attempt: valueOf(page, 'attempt') };
    await Promise.all([send({ ...step, fields }), send({ ...step, fields })]);
    await app.app.flushMails();
    expect(app.mails.length).toBe(before + 1);
  });
});
