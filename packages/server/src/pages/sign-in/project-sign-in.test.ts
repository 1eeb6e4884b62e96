import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  flowCookie,
  initialState,
  startSignInPages,
  type SignInPages,
} from '../../../test/support/sign-in/sign-in-pages.ts';
import type { PageState } from '../../sign-in/page-state/page-state.ts';

/** The content and headers of the pages in every state; test/browser goes from page to page. */
let pages: SignInPages;
beforeAll(async () => {
  pages = await startSignInPages();
});
afterAll(() => pages.close());
beforeEach(() => {
  pages.state = initialState;
  pages.link = { state: 'invalid' };
});

const at = (path: string, headers: Record<string, string> = {}) =>
  pages.server.inject({
    url: `/api/auth/project/${path}`,
    headers: { accept: 'text/html', ...headers },
    cookies: { [flowCookie.name]: flowCookie.value },
  });
const show = (change: Partial<PageState>, path = 'sign-in', headers = {}) => {
  pages.state = { ...initialState, ...change };
  return at(path, headers);
};
/** The first page, after a form was sent. */
const signIn = (change: Partial<PageState['signIn']>) => ({ signIn: { ...initialState.signIn, ...change } });
const withPassword = { providers: ['email', 'password', 'github'] } as const;
const mailed = (change: Partial<PageState['signIn']> = {}) =>
  signIn({ form: 'signIn', mailedTo: 'ada@example.test', ...change });
const user = { displayName: 'Ada Lovelace', email: 'ada@example.test', pictureUrl: null };
const consent = { step: 'consent', user } as const;
const directive = (answer: Awaited<ReturnType<typeof at>>, name: string) =>
  String(answer.headers['content-security-policy'])
    .split('; ')
    .find((item) => item.startsWith(`${name} `));

describe('a page', () => {
  test('has no script and nothing inline, and is not cached, framed or opened by others', async () => {
    const answer = await show({});
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'content-language': 'en',
      vary: 'Accept-Language',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self' https:; frame-ancestors 'none'",
    });
    expect(answer.body).not.toMatch(/<script|\son\w+=|style="/);
  });

  test('is that of the step that the flow has reached', async () => {
    const steps = { signIn: 'sign-in', secondFactor: 'second-factor', consent: 'consent' } as const;
    for (const [step, path] of Object.entries(steps)) {
      for (const requested of Object.values(steps)) {
        const answer = await show({ step: step as keyof typeof steps }, requested);
        expect([step, requested, answer.statusCode, answer.headers.location]).toEqual(
          requested === path
            ? [step, requested, 200, undefined]
            : [step, requested, 303, `/api/auth/project/${path}?flow=the-form`],
        );
      }
    }
  });

  test('is an error for a browser without a flow', async () => {
    pages.state = null;
    const answers = [
      await at('sign-in'),
      await at('consent'),
      await pages.server.inject('/api/auth/project/consent'),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 400, 400]);
    expect(answers[0]?.body).toContain('sign in again');
    expect(answers[0]?.headers['content-security-policy']).toContain("form-action 'none'");
    expect(answers[2]?.json()).toMatchObject({ code: 'INVALID_TOKEN' });
  });

  test.each([
    ['de-CH', 'Bei Acme Boards anmelden', 'Code senden'],
    ['es', 'Iniciar sesión en Acme Boards', 'Enviar código'],
    ['fr', 'Se connecter à Acme Boards', 'Envoyer le code'],
    ['ja', 'Sign in to Acme Boards', 'Send code'],
  ])('speaks %s', async (language, title, button) => {
    const { body } = await show({}, 'sign-in', { 'accept-language': language });
    expect(body).toContain(`<title>${title}</title>`);
    expect(body).toContain(`<button>${button}</button>`);
  });

  test('speaks the language that the app asked for, before that of the browser', async () => {
    const answer = await show({ language: 'fr' }, 'sign-in', { 'accept-language': 'de' });
    expect(answer.body).toContain('<html lang="fr">');
    expect(answer.headers['content-language']).toBe('fr');
  });

  test('posts its form token, and can be cancelled', async () => {
    for (const [step, path] of [
      ['signIn', 'sign-in'],
      ['secondFactor', 'second-factor'],
    ] as const) {
      const { body } = await show({ step }, path);
      expect(body).toContain('<input type="hidden" name="form_token" value="the-form-token" />');
      expect(body).toContain('action="/api/auth/project/consent/deny"');
      expect(body).toContain('<input type="hidden" name="consent_token" value="the-form-token" />');
    }
  });
});

describe('a passkey', () => {
  test('has a form that only its script shows', async () => {
    const offered = await show({ providers: ['email', 'passkey'] });
    expect(offered.body).toContain('<div id="passkey" hidden>');
    expect(offered.body).toContain('action="/api/auth/flow/passkey"');
    expect(offered.body).not.toContain('id="no-passkey"');
    expect(directive(offered, 'script-src')).toBe("script-src 'self'");
    expect((await show({ providers: ['email'] })).body).not.toMatch(/passkey|<script/);
    expect((await show({ providers: ['passkey'] })).body).toContain('id="no-passkey"');
  });

  test('is asked for as second factor only of who has one', async () => {
    const step = 'secondFactor';
    const alone = await show({ step, hasPasskey: true, hasAuthenticator: false }, 'second-factor');
    expect(alone.body).toContain('Confirm with your passkey');
    expect(alone.body).not.toMatch(/name="code"|authenticator app/);
    const asked = await show({ step, hasPasskey: true }, 'second-factor');
    expect(asked.body).toContain('<script src="/api/auth/project/second-factor.js"></script>');
    expect(asked.body).toContain('<input type="hidden" name="passkey" value="" />');
    expect((await show({ step }, 'second-factor')).body).not.toMatch(/passkey|<script/);
    expect((await at('second-factor.js')).body).not.toMatch(/innerHTML|eval/);
  });
});

describe('what an app shows of itself', () => {
  const ownScript = '<script src="/api/auth/project/sign-in.js"></script>';
  const evil = `"><script>alert(1)</script>{place}<b onx='$&`;

  test('is escaped everywhere', async () => {
    const app = { ...initialState.app, name: evil };
    const scopes = [{ scope: 'x:y', name: evil, description: evil }];
    pages.link = {
      state: 'ready',
      app,
      redirectUri: initialState.redirectUri,
      token: evil,
      language: null,
      reset: null,
    };
    const bodies = [
      (await show({ app, ...mailed({ mailedTo: evil }), formToken: evil })).body,
      (await show({ app, ...withPassword, ...signIn({ form: 'signIn', address: evil }) })).body.replaceAll(
        ownScript,
        '',
      ),
      (
        await show({
          app,
          ...signIn({ form: 'signUp', allowsSignUp: true, entered: { name: evil, email: evil } }),
        })
      ).body,
      (await show({ app, step: 'secondFactor' }, 'second-factor')).body,
      (await show({ ...consent, app, scopes, user: { ...user, displayName: evil, email: evil } }, 'consent'))
        .body,
      (await show({ ...consent, app, scopes: [] }, 'consent')).body,
      (await at('email?token=x')).body,
    ];
    for (const body of bodies) {
      expect(body).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;{place}&lt;b onx=&#39;$&amp;');
      expect(body).not.toMatch(/<script|<b onx/);
    }
  });

  test('does not change the direction of the sentence around it', async () => {
    const { body } = await show({ app: { ...initialState.app, name: '\u202eemcA' } });
    expect(body).toContain('<h1>Sign in to <bdi>\u202eemcA</bdi></h1>');
  });

  test('may load its logo from one origin, and its colour from a file of this service', async () => {
    const app = {
      ...initialState.app,
      logoUrl: 'https://cdn.example:8443/a/b.svg?x="',
      primaryColor: '#0a7d55',
    };
    const answer = await show({ app });
    expect(directive(answer, 'img-src')).toBe('img-src data: https://cdn.example:8443');
    expect(answer.body).toContain('src="https://cdn.example:8443/a/b.svg?x=&quot;"');
    expect(answer.body).toContain('referrerpolicy="no-referrer"');
    expect(answer.body).toContain('<link rel="stylesheet" href="/hosted/colour/0a7d55.css" />');
  });

  test('no address adds more to the policy than a host', async () => {
    for (const host of ['x;sandbox', 'a,b.example', "x'self'", '[::1]']) {
      const app = { ...initialState.app, logoUrl: `https://${host}/logo.png` };
      const answer = await show({ app, redirectUri: `https://${host}/callback` });
      expect(directive(answer, 'img-src'), host).toBe('img-src data:');
      expect(directive(answer, 'form-action'), host).toBe("form-action 'self' https:");
      expect(String(answer.headers['content-security-policy']).split('; '), host).toHaveLength(6);
      expect(answer.body, host).toContain('<span class="mark" aria-hidden="true">A</span>');
    }
  });

  test.each([
    ['http://127.0.0.1:49152/callback', 'http:', '127.0.0.1:49152'],
    ['http://[::1]:49152/callback', 'http:', '[::1]:49152'],
    ['com.example.boards:/callback', 'com.example.boards:', 'com.example.boards'],
    ['https://bücher.example/callback', 'https:', 'xn--bcher-kva.example'],
  ])('its form may redirect to %s', async (redirectUri, target, place) => {
    const answer = await show({ redirectUri });
    expect(directive(answer, 'form-action')).toBe(`form-action 'self' ${target}`);
    expect(answer.body).toContain(`<bdi>${place}</bdi>`);
  });
});

describe('the sign-in', () => {
  test('offers the providers of the app', async () => {
    const both = (await show({})).body;
    expect(both).toContain('autocomplete="email"');
    expect(both).toContain('href="/api/auth/project/github?flow=the-form"');
    expect((await show({ providers: ['email'], identityProviders: [] })).body).not.toMatch(
      /github|class="or"/i,
    );
    expect((await show({ providers: ['github'] })).body).not.toMatch(/type="email"|class="or"/);
  });

  test('asks for the code of the mail, and says to which address it went', async () => {
    const { body } = await show(mailed());
    expect(body).toMatch(/role="status"[^>]*>We sent an e-mail to <bdi>ada@example.test<\/bdi>/);
    expect(body).toMatch(/action="\/api\/auth\/flow\/email\/code"[\s\S]*autocomplete="one-time-code"/);
    expect(body).toMatch(
      /name="email" value="ada@example.test" \/>\s*<button class="plain">Send another code/,
    );
    expect(body).toContain('href="/api/auth/project/sign-in?form=address&amp;flow=the-form"');
  });

  test.each(['wrongMailedCode', 'mailedCodeEnded'] as const)('reports %s at the code', async (notice) => {
    const { body } = await show({ ...mailed(), notice });
    expect(body).toMatch(/id="code"[^>]*aria-describedby="code-problem code-hint"\s+aria-invalid="true"/);
    expect(body).toMatch(/<p role="alert" id="code-problem" class="bad hint">This code/);
  });

  test('reports a wrong address beside its field', async () => {
    const { body } = await show({ notice: 'addressInvalid' });
    expect(body).toContain('id="email-problem" class="bad hint">This is not a valid e-mail address.');
    expect(body).toMatch(/aria-describedby="email-problem email-hint"\s+aria-invalid="true"/);
  });

  test.each(['providerFailed', 'providerRefused', 'emailNotVerified'] as const)(
    'reports %s above the providers',
    async (notice) => {
      const { body } = await show({ notice, provider: 'Acme ID' });
      expect(body).toMatch(/role="alert" id="notice" class="bad">[^<]*<bdi>Acme ID</);
      expect(body).not.toContain('aria-invalid');
    },
  );
});

describe('an app that takes passwords', () => {
  const chosen = signIn({ form: 'signIn', address: 'ada@example.test' });

  test('asks for the address first, and then shows every way to sign in with it', async () => {
    const first = await show(withPassword);
    expect(first.body).toContain('action="/api/auth/flow/identifier"');
    expect(first.body).not.toMatch(/type="password"|<script/);
    const { body } = await show({ ...withPassword, ...chosen });
    expect(body).toMatch(/action="\/api\/auth\/flow\/password"[\s\S]*autocomplete="current-password"/);
    expect(body).toContain('value="ada@example.test" autocomplete="username"');
    expect(body).toContain('E-mail me a code instead');
    expect(body).toContain('href="/api/auth/project/sign-in?form=reset&amp;flow=the-form"');
    const only = await show({ providers: ['password'], identityProviders: [], ...chosen });
    expect(only.body).not.toMatch(/code instead|github/i);
  });

  test('has a script of its own, on pages with a password alone', async () => {
    const answer = await show({ ...withPassword, ...chosen });
    expect(directive(answer, 'script-src')).toBe("script-src 'self'");
    expect(directive(await show(withPassword), 'script-src')).toBeUndefined();
    expect((await at('sign-in.js')).headers['content-type']).toContain('text/javascript');
  });

  test('reports a wrong password at its field', async () => {
    const { body } = await show({ ...withPassword, ...chosen, notice: 'wrongPassword' });
    expect(body).toMatch(/id="password-problem" class="bad hint">Address or password is wrong/);
    expect(body.match(/role="alert"/g)).toHaveLength(1);
  });

  test('has a form to sign up if people may, which says what a password needs', async () => {
    const may = signIn({ allowsSignUp: true });
    expect((await show({ ...withPassword, ...may })).body).toContain('?form=sign-up');
    expect((await show(withPassword)).body).not.toContain('?form=sign-up');
    const form = await show({ ...withPassword, ...may }, 'sign-in?form=sign-up');
    expect(form.body).toMatch(/action="\/api\/auth\/flow\/sign-up"[\s\S]*minlength="12"/);
    expect(form.body).toContain('At least 12 characters');
    const refused = await show({
      ...withPassword,
      ...signIn({
        allowsSignUp: true,
        form: 'signUp',
        entered: { name: 'Ada', email: 'ada@example.test' },
        problems: [{ path: 'password', code: 'password_too_common' }],
      }),
    });
    expect(refused.body).toMatch(/id="password-problem"[^>]*>This password is too common/);
    expect(refused.body).toMatch(/value="Ada"[\s\S]*value="ada@example.test"/);
    // No one may sign up here: the address of the form leads to the first page.
    expect((await show(withPassword, 'sign-in?form=sign-up')).body).toContain('flow/identifier');
  });

  test('asks for a new password with the code of the mail, or by its link', async () => {
    const request = await show({ ...withPassword, ...chosen }, 'sign-in?form=reset');
    expect(request.body).toMatch(/action="\/api\/auth\/flow\/reset\/request"[\s\S]*value="ada@example.test"/);
    const entered = await show({ ...withPassword, ...mailed({ form: 'reset' }) });
    expect(entered.body).toMatch(
      /action="\/api\/auth\/flow\/reset"[\s\S]*name="code"[\s\S]*name="newPassword"/,
    );
    const { app, redirectUri } = initialState;
    const reset = { code: '123456', formToken: 'f', minLength: 12 };
    pages.link = { state: 'ready', app, redirectUri, token: 't', language: null, reset };
    const opened = await at('email?token=t');
    expect(opened.body).toMatch(/name="code" value="123456"[\s\S]*name="newPassword"/);
  });

  test('does not report the problem of one form in another', async () => {
    const state = { ...withPassword, notice: 'addressInvalid', ...signIn({ form: 'reset' }) } as const;
    expect((await show(state)).body).toContain('role="alert"');
    expect((await show(state, 'sign-in?form=address')).body).not.toContain('role="alert"');
  });
});

test('a provider has its logo, from this service alone', async () => {
  const logoUrl = 'https://id.example/hosted/logos/acme-0123456789abcdef.png';
  const identityProviders = [
    { key: 'github', name: 'GitHub', logoUrl: null },
    { key: 'acme', name: 'Acme ID', logoUrl },
    { key: 'plain', name: 'Plain', logoUrl: null },
  ];
  const page = await show({ identityProviders });
  expect(page.body.match(/<svg viewBox="0 0 24 24"/g)).toHaveLength(1);
  expect(page.body).toContain('<img src="/hosted/logos/acme-0123456789abcdef.png" alt=""');
  expect(page.headers['content-security-policy']).toContain("img-src data: 'self';");
});

describe('the second factor', () => {
  test('has a field for the code and one for a recovery code', async () => {
    const { body } = await show({ step: 'secondFactor' }, 'second-factor');
    expect(body).toMatch(/name="code"\s+inputmode="numeric"\s+autocomplete="one-time-code"/);
    expect(body).toMatch(/<details>[\s\S]*name="recovery_code"[\s\S]*<\/details>/);
    expect(body).not.toContain('role="alert"');
    const wrong = await show({ step: 'secondFactor', notice: 'wrongCode' }, 'second-factor');
    expect(wrong.body).toMatch(/<p role="alert" id="notice"/);
    expect(wrong.body).toMatch(/id="code"[^>]*aria-describedby="notice"\s+aria-invalid="true"/);
  });
});

describe('the consent', () => {
  test('lists the requested permissions and names the user', async () => {
    const scopes = [
      { scope: 'boards:read', name: 'Read boards', description: 'See boards and their cards.' },
      { scope: 'boards:write', name: 'Write boards', description: null },
    ];
    const { body } = await show({ ...consent, scopes }, 'consent');
    expect(body).toMatch(/<bdi>Ada Lovelace<\/bdi><\/strong\s*><bdi>ada@example.test<\/bdi>/);
    expect(body.match(/<li>/g)).toHaveLength(2);
    expect(body).toContain('<small>See boards and their cards.</small>');
    expect(body).toContain('action="/api/auth/project/consent/approve"');
    expect(body).toContain('formaction="/api/auth/project/consent/deny">Do not allow</button>');
  });

  test('shows the description of a permission without a name of its own, and its scope below', async () => {
    const scopes = [
      { scope: 'order:read', name: 'order:read', description: 'See your orders.' },
      { scope: 'order:create', name: 'order:create', description: null },
    ];
    const { body } = await show({ ...consent, scopes }, 'consent');
    expect(body).toContain('<li><bdi>See your orders.</bdi><small>order:read</small></li>');
    expect(body).toContain('<li><bdi>order:create</bdi></li>');
  });

  test('distinguishes all permissions from none', async () => {
    const everything = await show({ ...consent, scopes: null }, 'consent');
    expect(everything.body).toContain('everything that you can do in this project');
    const nothing = await show({ ...consent, scopes: [] }, 'consent');
    expect(nothing.body).toContain('not be able to do anything on your behalf');
    for (const { body } of [everything, nothing]) expect(body).not.toContain('<li>');
  });

  test('shows a picture of this service, and loads none of another site', async () => {
    const shown = async (pictureUrl: string) =>
      (await show({ ...consent, user: { ...user, pictureUrl } }, 'consent', { host: 'id.example' })).body;
    expect(await shown('https://id.example/api/pictures/abc.png')).toContain('src="/api/pictures/abc.png"');
    expect(await shown('https://tracker.example/api/pictures/abc.png')).not.toContain('abc.png');
  });

  test('links to the site of the app without a referrer', async () => {
    const app = { ...initialState.app, homepageUrl: 'https://boards.example/about?"' };
    const { body } = await show({ ...consent, app }, 'consent');
    expect(body).toContain(
      '<a href="https://boards.example/about?&quot;" target="_blank" rel="noopener noreferrer">boards.example</a>',
    );
  });
});

describe('the page of the mailed link', () => {
  test('has one button in the browser of the sign-in', async () => {
    pages.link = {
      state: 'ready',
      app: initialState.app,
      redirectUri: initialState.redirectUri,
      token: 'the-token',
      language: null,
      reset: null,
    };
    const { body } = await at('email?token=the-token');
    expect(body).toContain('<input type="hidden" name="token" value="the-token" />');
    expect(body).toContain('action="/api/auth/project/email/consume"');
  });

  test('shows the code in another browser, and explains an invalid link, without a button', async () => {
    pages.link = { state: 'otherBrowser', code: '012345' };
    const other = await at('email?token=x');
    expect(other.body).toContain('<p class="code">012 345</p>');
    pages.link = { state: 'invalid' };
    for (const query of ['', '?token=x', '?token=x&token=y']) {
      const invalid = await at(`email${query}`);
      expect([query, invalid.statusCode]).toEqual([query, 200]);
      expect(invalid.body).toContain('This link is no longer valid');
      expect(invalid.body).not.toMatch(/<form|<button/);
    }
    expect(other.body).not.toMatch(/<form|<button/);
  });
});
