/**
 * Each page of a project sign-in in each of its states: in both colour schemes, in four languages, on a phone and with the
 * keyboard. project-sign-in.test.ts goes from page to page.
 */
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import {
  flowCookie,
  initialState,
  startSignInPages,
  type SignInPages,
} from '../support/sign-in/sign-in-pages.ts';
import { violations } from './accessibility.ts';
import { colorSchemesOf, lookName, looksOf } from './looks.ts';
import { photograph, sharedBrowser, watched, type Watched } from './watched.ts';
import type { LinkState, PageState } from '../../src/sign-in/page-state/page-state.ts';

let pages: SignInPages;
let origin: string;
let app: TestApp;
let appOrigin: string;
let browser: Browser;
beforeAll(async () => {
  pages = await startSignInPages();
  await pages.server.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${(pages.server.server.address() as AddressInfo).port}`;
  app = await startApp();
  appOrigin = await app.server.listen({ host: '127.0.0.1', port: 0 });
  browser = await sharedBrowser();
});
afterAll(async () => {
  await pages?.close();
  await app?.close();
});

const branded = { ...initialState.app, primaryColor: '#0a7d55', homepageUrl: 'https://boards.example/' };
const user = { displayName: 'Ada Lovelace', email: 'ada@example.test', pictureUrl: null };
const scopes = [
  {
    scope: 'boards:read',
    name: 'Read boards',
    description: 'See every board, its cards and who works on them.',
  },
  { scope: 'boards:write', name: 'Change boards', description: null },
  { scope: 'card:read', name: 'card:read', description: 'See single cards.' },
];

interface State {
  /** Below `/api/auth/project/`, or from the root. */
  readonly path: string;
  readonly state?: Partial<PageState>;
  readonly link?: LinkState;
  /** Opens the collapsed part of the page. */
  readonly unfold?: true;
}
const signIn = (more: Partial<PageState> = {}): State => ({
  path: 'sign-in',
  state: { app: branded, ...more },
});
const address = 'ada@example.test';
const allWays = { providers: ['email', 'password', 'github'] } as const;
const withPasskey = { providers: ['email', 'password', 'passkey', 'github'] } as const;
const first = (change: Partial<PageState['signIn']>) => ({ ...initialState.signIn, ...change });
const company = { id: 'c', name: 'Gesellschaft für angewandte Freundlichkeit', enforced: false };
const atCompany = (change: Partial<PageState['signIn']> = {}, more: Partial<PageState> = {}): State =>
  signIn({
    ...withPasskey,
    provider: company.name,
    signIn: first({ form: 'signIn', address, connection: company, hasConnections: true, ...change }),
    ...more,
  });
const enforced = { ...company, enforced: true };
const maker = { project: 'Boards', organization: 'Acme & Daughters' };
const factor = (more: Partial<PageState> = {}): State => ({
  path: 'second-factor',
  state: { app: branded, step: 'secondFactor', ...more },
});
const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const newApp = {
  secret,
  otpauthUrl: `otpauth://totp/Doorward:ada%40example.com?secret=${secret}&issuer=Doorward`,
};
const recoveryCodes = Array.from({ length: 10 }, (_, index) => `abcde${index}fghj`);
const enrolment = (shown: PageState['enrolment'], more: Partial<PageState> = {}): State => ({
  path: 'enrolment',
  state: { app: branded, step: 'enrolment', enrolment: shown, ...more },
});
const consent = (more: Partial<PageState> = {}): State => ({
  path: 'consent',
  state: { app: branded, step: 'consent', user, maker, scopes, ...more },
});

const device = {
  userCode: 'BCDF-GHJK',
  address: '2001:db8:1234:5678:9abc:def0:1234:5678',
  isOwnNetwork: true,
  userAgent: 'Acme Television/7.1 (Linux; armv8)',
  beganAt: '2026-11-25T09:30:00.000Z',
};

const states: Readonly<Record<string, State>> = {
  'sign-in': signIn(),
  'sign-in-intro': signIn({
    app: {
      ...branded,
      logoPath: '/api/pictures/acme.gif',
      intro: { en: 'Good to see you.\nWe never ask for your code by phone.', de: 'Schön, dass Sie da sind.' },
    },
  }),
  'sign-in-unbranded': signIn({ app: initialState.app, providers: ['email'] }),
  'sign-in-providers': signIn({
    ...allWays,
    identityProviders: [
      { key: 'github', name: 'GitHub', logoUrl: null },
      { key: 'acme', name: 'Gesellschaft für angewandte Freundlichkeit', logoUrl: null },
    ],
  }),
  'sign-in-github': signIn({ app: { ...branded, primaryColor: '#ffd400' }, providers: ['github'] }),
  'sign-in-password': signIn({ ...allWays, signIn: first({ allowsSignUp: true }) }),
  methods: signIn({ ...allWays, signIn: first({ form: 'signIn', address }) }),
  'methods-wrong': signIn({
    ...allWays,
    notice: 'wrongPassword',
    signIn: first({ form: 'signIn', address }),
  }),
  company: atCompany(),
  'company-enforced': { ...atCompany({ connection: enforced }), unfold: true },
  'company-required': atCompany({ connection: enforced }, { notice: 'connectionRequired' }),
  'company-failed': atCompany({}, { notice: 'providerFailed' }),
  'company-address': atCompany({}, { notice: 'emailNotVerified' }),
  'company-connects': atCompany({ mailedTo: address, connects: true }),
  'company-asks-first': signIn({ providers: ['email'], signIn: first({ hasConnections: true }) }),
  passkey: signIn({ ...withPasskey, signIn: first({ allowsSignUp: true }) }),
  'passkey-methods': signIn({ ...withPasskey, signIn: first({ form: 'signIn', address }) }),
  'passkey-alone': signIn({ providers: ['passkey'] }),
  'passkey-refused': signIn({ ...withPasskey, notice: 'passkeyRefused' }),
  'sign-up': signIn({ ...allWays, signIn: first({ form: 'signUp', allowsSignUp: true }) }),
  'sign-up-refused': signIn({
    ...allWays,
    signIn: first({
      form: 'signUp',
      allowsSignUp: true,
      entered: { name: 'Ada', email: address },
      problems: [{ path: 'password', code: 'too_short' }],
    }),
  }),
  reset: signIn({ ...allWays, signIn: first({ form: 'reset' }) }),
  'reset-mailed': signIn({ ...allWays, signIn: first({ form: 'reset', mailedTo: address }) }),
  'password-changed': signIn({
    ...allWays,
    notice: 'passwordChanged',
    signIn: first({ form: 'signIn', address }),
  }),
  mailed: signIn({ signIn: first({ form: 'signIn', mailedTo: address }) }),
  'mailed-wrong': signIn({ notice: 'wrongMailedCode', signIn: first({ form: 'signIn', mailedTo: address }) }),
  'address-invalid': signIn({ notice: 'addressInvalid' }),
  'provider-failed': signIn({ notice: 'providerFailed' }),
  'provider-refused': signIn({ notice: 'providerRefused' }),
  'email-not-verified': signIn({ notice: 'emailNotVerified' }),
  organization: {
    path: 'organization',
    state: {
      app: branded,
      step: 'organization',
      choices: {
        organizations: [
          { id: '1', name: 'Acme & Daughters', logoPath: '/api/pictures/acme.gif' },
          { id: '2', name: 'Gesellschaft für angewandte Freundlichkeit', logoPath: null },
        ],
        withoutOrganization: true,
      },
    },
  },
  enrolment: enrolment(newApp),
  'enrolment-wrong': { ...enrolment(newApp, { notice: 'wrongCode' }), unfold: true },
  'enrolment-codes': enrolment({ recoveryCodes }),
  'enrolment-codes-not-kept': enrolment({ recoveryCodes }, { notice: 'codesNotKept' }),
  'second-factor': factor(),
  'second-factor-wrong': { ...factor({ notice: 'wrongCode' }), unfold: true },
  'second-factor-passkey': factor({ hasPasskey: true }),
  'second-factor-passkey-refused': factor({ hasPasskey: true, notice: 'passkeyRefused' }),
  consent: consent(),
  'consent-to-all': consent({ scopes: null }),
  'consent-to-nothing': consent({ scopes: [], app: { ...branded, primaryColor: '#101010' } }),
  email: {
    path: 'email',
    link: {
      state: 'ready',
      app: branded,
      redirectUri: initialState.redirectUri,
      token: 'x',
      language: null,
      reset: null,
    },
  },
  'email-reset': {
    path: 'email',
    link: {
      state: 'ready',
      app: branded,
      redirectUri: initialState.redirectUri,
      token: 'x',
      language: null,
      reset: { code: '123456', formToken: 'x', minLength: 12 },
    },
  },
  'email-other-browser': { path: 'email', link: { state: 'otherBrowser', code: '012345' } },
  'email-invalid': { path: 'email', link: { state: 'invalid' } },
  'no-flow': { path: 'consent' },
  'sign-out': { path: '/hosted/sign-out', state: { app: branded } },
  'signed-out': { path: '/hosted/signed-out' },
  'signed-out-of-app': { path: '/hosted/signed-out', state: { app: branded } },
  'consent-of-device': consent({ device }),
  'consent-of-device-elsewhere': consent({ device: { ...device, isOwnNetwork: false, userAgent: null } }),
  device: { path: '/device' },
  'device-code': { path: '/device?user_code=BCDF-GHJK' },
  'device-wrong': { path: '/device?result=wrong' },
  'device-closed': { path: '/device?result=closed' },
  'device-approved': { path: '/device?result=approved' },
  'device-denied': { path: '/device?result=denied' },
};

// These pages have no service that answers with a challenge.
const opening = (mayFail: (url: string) => boolean, options: Parameters<typeof watched>[3]) =>
  watched(browser, origin, (url) => mayFail(url) || url.endsWith('/passkey/options'), {
    viewport: desk,
    ...options,
  });

async function show({ context, page }: Watched, state: State): Promise<void> {
  pages.state = state.state ? { ...initialState, ...state.state } : null;
  pages.link = state.link ?? { state: 'invalid' };
  await context.addCookies([{ ...flowCookie, url: origin }]);
  await page.goto(new URL(state.path, `${origin}/api/auth/project/`).href);
  if (state.unfold) await page.locator('summary').click();
}

async function opened(state: State, options: Parameters<typeof watched>[3] = {}): Promise<Watched> {
  const view = await opening(() => false, options);
  await show(view, state);
  return view;
}

const desk = { width: 480, height: 800 };
const phone = { width: 320, height: 640 };
const isWide = 'document.documentElement.scrollWidth > innerWidth';

describe('every state is accessible', () => {
  // Each language reuses a single page for all states, because opening pages takes most of the time.
  const views = new Map<string, Watched>();
  let shown: State;
  async function viewIn(locale: string): Promise<Watched> {
    const view = views.get(locale) ?? (await opening(() => shown === states['no-flow'], { locale }));
    views.set(locale, view);
    return view;
  }
  const turns = Object.entries(states).flatMap(([name, state], index) =>
    looksOf(index).map((look) => [`${name}: ${lookName(look)}`, name, state, look] as const),
  );

  test.each(turns)('%s', async (_title, name, state, { locale, colorScheme, isPhone }) => {
    const view = await viewIn(locale);
    const { page, offences } = view;
    shown = state;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(isPhone ? phone : desk);
    await show(view, state);
    expect(await page.evaluate('document.documentElement.lang')).toBe(locale);
    expect(await violations(page)).toEqual([]);
    if (locale === 'en' && !isPhone) await photograph(page, `${name}-${colorScheme}`);
    await page.setViewportSize(phone);
    expect(await page.evaluate(isWide)).toBe(false);
    if (locale === 'de') await photograph(page, `${name}-phone`);
    expect(offences.splice(0)).toEqual([]);
  });
});

test('an inaccessible page is detected', async () => {
  const { context, page } = await opened(signIn());
  await page.evaluate(`document.querySelector('label').remove();
    document.querySelector('h1').style.color = 'var(--line)';
    document.documentElement.removeAttribute('lang');`);
  const rules = (await violations(page)).map((violation) => violation.split(':')[0]);
  expect(rules).toEqual(expect.arrayContaining(['label', 'color-contrast', 'html-has-lang']));
  await context.close();
});

test('long names wrap inside the page', async () => {
  const name = 'W'.repeat(255);
  const long = { ...consent().state, app: { ...branded, name }, user: { ...user, displayName: name } };
  const wide = { ...long, scopes: [{ scope: 'x:y', name, description: name }] };
  const { context, page } = await opened({ path: 'consent', state: wide }, { viewport: phone });
  expect(await page.evaluate(isWide)).toBe(false);
  expect(await violations(page)).toEqual([]);
  await context.close();
});

test('every control is at least 24 pixels high', async () => {
  for (const state of [signIn(), { ...factor(), unfold: true as const }, consent(), { path: '/device' }]) {
    const { context, page } = await opened(state, { viewport: phone });
    for (const target of await page.locator('button, .button, input:not([type=hidden]), summary').all()) {
      const box = await target.boundingBox();
      expect(box?.height, await target.innerText()).toBeGreaterThanOrEqual(24);
    }
    await context.close();
  }
});

describe('with the keyboard', () => {
  /** The names of the elements that Tab focuses, in order; each must show its focus. */
  async function walk({ page }: Watched, steps: number): Promise<string[]> {
    const seen: string[] = [];
    for (let step = 0; step < steps; step++) {
      await page.keyboard.press('Tab');
      const [name, outline] = await page.evaluate<[string, string]>(`(() => {
        const { id, textContent } = document.activeElement;
        return [id || textContent.trim(), getComputedStyle(document.activeElement).outlineStyle];
      })()`);
      expect(outline, name).toBe('solid');
      seen.push(name);
    }
    return seen;
  }
  const focused = ({ page }: Watched) => page.evaluate('document.activeElement.id');

  test('the field has the focus first, then its button, then the other providers', async () => {
    const view = await opened(signIn(), { locale: 'en' });
    await expect.poll(() => focused(view)).toBe('email');
    expect(await walk(view, 3)).toEqual(['Send code', 'Continue with GitHub', 'Cancel']);
    await view.context.close();
  });

  test('after a wrong code the field has the focus and says what is wrong', async () => {
    const view = await opened(factor({ notice: 'wrongCode' }), { locale: 'en' });
    await expect.poll(() => focused(view)).toBe('code');
    const reported = await view.page.evaluate(
      `document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent`,
    );
    expect(reported).toContain('code is wrong');
    expect(await walk(view, 3)).toEqual(['Confirm', 'Use a recovery code instead', 'Cancel']);
    await view.context.close();
  });

  test('an authenticator app is added, and the recovery codes are confirmed', async () => {
    const view = await opened(enrolment(newApp), { locale: 'en' });
    await expect.poll(() => focused(view)).toBe('code');
    expect(await walk(view, 2)).toEqual(['Add the app', 'Cancel']);
    await view.context.close();
    const codes = await opened(enrolment({ recoveryCodes }), { locale: 'en' });
    expect(await walk(codes, 3)).toEqual(['', 'Continue', 'Cancel']);
    await codes.context.close();
  });

  test('a code of a device is entered, and none is sent without a key', async () => {
    const view = await opened({ path: '/device?user_code=BCDF-GHJK' }, { locale: 'en' });
    await expect.poll(() => focused(view)).toBe('user_code');
    expect(view.requests.filter((url) => url.includes('enter'))).toEqual([]);
    expect(await walk(view, 1)).toEqual(['Continue']);
    await view.context.close();
  });

  test('a key pressed for the previous page does not allow a device', async () => {
    const view = await opened(consent({ device }), { locale: 'en' });
    expect(await focused(view)).toBe('');
    expect(await walk(view, 2)).toEqual(['Allow', 'Do not allow']);
    await view.context.close();
  });

  test('a key pressed for the previous page does not consent', async () => {
    const view = await opened(consent(), { locale: 'en' });
    expect(await focused(view)).toBe('');
    await view.page.keyboard.press('Enter');
    expect(view.requests.filter((url) => url.includes('approve'))).toEqual([]);
    expect(await walk(view, 3)).toEqual(['Allow', 'Do not allow', 'boards.example']);
    const [approve, deny] = await Promise.all(
      ['Allow', 'Do not allow'].map((name) =>
        view.page.getByRole('button', { name, exact: true }).boundingBox(),
      ),
    );
    expect([deny?.width, deny?.height]).toEqual([approve?.width, approve?.height]);
    await view.context.close();
  });
});

test('who signed out has a way on, by keyboard', async () => {
  for (const [state, name, address] of [
    ['signed-out', 'Sign in again', '/account'],
    ['signed-out-of-app', 'Back to Acme Boards', 'https://boards.example/'],
  ] as const) {
    const view = await opened(states[state] ?? signIn(), { locale: 'en' });
    await view.page.keyboard.press('Tab');
    const focused = view.page.locator(':focus');
    expect([await focused.innerText(), await focused.getAttribute('href')]).toEqual([name, address]);
    await view.context.close();
  }
});

test('the pages below /hosted are accessible', async () => {
  const paths = [
    'verify-email?token=x',
    'verify-email?token=y#account=ada%40example.com',
    'verify-email',
    'invitation?token=x',
    'reset-password?token=x',
    'reset-password',
    'signed-in',
    'signed-in?error=alreadyLinked',
    'cli-sign-in',
    'sign-out',
  ];
  // No invitation has this token, and the page says so.
  const isExpected = (url: string) => url.includes('/api/organization-invitations/');
  const { context, page, offences } = await watched(browser, appOrigin, isExpected);
  for (const [index, path] of paths.entries()) {
    await page.goto(`${appOrigin}/hosted/${path}`, { waitUntil: 'networkidle' });
    for (const colorScheme of colorSchemesOf(index)) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), `${path}, ${colorScheme}`).toEqual([]);
    }
    expect(offences.splice(0), path).toEqual([]);
  }
  await context.close();
});
