import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import {
  appInProject,
  authorizePath,
  signInBrowser,
  redirectParameters,
  type AppInProject,
} from '../../../test/support/sign-in/project-app.ts';
import { visitor } from '../../../test/support/app/visitor.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { signInFlows } from '../../schema/sign-in/sign-in-flow.ts';

/** The authorization endpoint: which requests start a sign-in, redirect an error to the app, or are refused on a page. */

let app: TestApp;
let boards: AppInProject;

beforeAll(async () => {
  app = await startOwnApp();
  boards = await appInProject(app, {
    redirectUris: [
      'https://boards.example/callback',
      'https://boards.example/with?query=1&code=old',
      'http://127.0.0.1/cb',
      'com.example.boards:/cb',
    ],
    scopes: ['board:read', 'board:edit'],
  });
});
afterAll(() => app.close());

const flows = () => app.database.pool.select().from(signInFlows);

describe('a good request', () => {
  test('redirects to the page, binds the browser, and stores nothing readable', async () => {
    const browser = signInBrowser(app, boards);
    const answer = await browser.authorize({ scope: 'board:read' });
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe('http://localhost:4000/api/auth/project/sign-in');
    expect(answer.body).toBe('');
    const [cookie] = answer.cookies;
    expect(cookie).toMatchObject({
      name: 'doorward_flow',
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      maxAge: 600,
    });
    const stored = JSON.stringify(await flows());
    for (const secret of [cookie?.value, browser.request['state'], browser.request['code_challenge']]) {
      expect(stored).not.toContain(secret);
    }
    const audited = (await app.database.pool.select().from(auditLog)).map(({ operation }) => operation);
    expect(audited).not.toContain('authorizeProjectSignIn');
  });

  test.each([
    ...[
      ...['nonce', 'login_hint', 'ui_locales', 'access_type', 'claims', 'dpop_jkt'],
      ...['organization', 'utm_source', 'ext', '__proto__', 'constructor', 'Client_ID', 'scope[]'],
    ].map((unknown) => [unknown, 'x'] as const),
    ['state', ''],
    ['state', undefined],
    ['response_mode', 'query'],
    ['scope', ''],
    ['provider', 'email'],
  ] as const)('may also have %s=%j', async (name, value) => {
    const answer = await signInBrowser(app, boards).authorize({ [name]: value });
    expect(answer.headers.location).toBe('http://localhost:4000/api/auth/project/sign-in');
  });

  test.each(['http://127.0.0.1/cb', 'http://127.0.0.1:49152/cb', 'com.example.boards:/cb'])(
    'may come from %s',
    async (redirect_uri) => {
      const answer = await signInBrowser(app, boards).authorize({ redirect_uri });
      expect(answer.headers.location).toBe('http://localhost:4000/api/auth/project/sign-in');
    },
  );
});

/** Addresses that differ slightly from this one. */
function nearMisses(uri: string): string[] {
  const spoiled = [...uri].flatMap((character, at) => {
    const [before, after] = [uri.slice(0, at), uri.slice(at + 1)];
    const upper = character.toUpperCase() === character ? character.toLowerCase() : character.toUpperCase();
    return [
      before + after,
      `${before}${character}${character}${after}`,
      `${before}.${after}`,
      before + upper + after,
    ];
  });
  return [
    ...spoiled,
    `${uri}/`,
    `${uri}?`,
    `${uri}?next=https://evil.example`,
    `${uri}#`,
    `${uri}#fragment`,
    `${uri}%00`,
    `${uri}%0d%0alocation:https://evil.example`,
    `${uri}/../evil`,
    `${uri}\\..\\evil`,
    `${uri} `,
    ` ${uri}`,
    `${uri}\t`,
    `${uri},https://evil.example/`,
    uri.replace('https:', 'http:'),
    uri.replace('https://', 'https:/'),
    uri.replace('https://', '//'),
    uri.replace('https://', 'https:\\\\'),
    uri.replace('boards.example', 'boards.example:443'),
    uri.replace('boards.example', 'boards.example:8443'),
    uri.replace('boards.example', 'boards.example.'),
    uri.replace('boards.example', 'boards.example.evil.example'),
    uri.replace('boards.example', 'evil.example'),
    uri.replace('boards.example', 'evil.example/boards.example'),
    uri.replace('boards.example', 'boards.example@evil.example'),
    uri.replace('boards.example', 'user@boards.example'),
    uri.replace('boards.example', 'user:password@boards.example'),
    uri.replace('boards.example', 'boards\u3002example'),
    uri.replace('boards.example', 'b%6fards.example'),
    uri.replace('/callback', '/%63allback'),
    uri.replace('/callback', '//callback'),
    uri.replace('/callback', '/./callback'),
    uri.replace('/callback', '/*'),
    'https://boards.example',
    'https://boards.example/',
    'https://boards.example/with',
    'https://boards.example/with?query=2&code=old',
    'https://boards.example/with?code=old&query=1',
    'https://localhost/callback',
    'http://localhost/cb',
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:65536/cb',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:80:80/cb',
    'http://127.0.0.1@evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.2/cb',
    'http://127.1/cb',
    'http://2130706433/cb',
    'http://[::1]/cb',
    'http://127.0.0.1/CB',
    'https://127.0.0.1/cb',
    'com.example.boards://cb',
    'com.example.boards:/cb/',
    'com.example.boards:/other',
    'COM.example.boards:/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'about:blank',
    '',
  ].filter((item) => item !== uri);
}

describe('the browser is not redirected', () => {
  test('to an address that the app has not registered', async () => {
    const browser = signInBrowser(app, boards);
    const before = (await flows()).length;
    const misses = nearMisses(boards.redirectUri);
    expect(misses.length).toBeGreaterThan(150);
    for (const redirect_uri of misses) {
      const answer = await browser.authorize({ redirect_uri });
      expect([answer.statusCode, answer.json<{ code: string }>().code], redirect_uri).toEqual([
        400,
        'INVALID_REDIRECT_URI',
      ]);
      expect(answer.headers.location, redirect_uri).toBeUndefined();
    }
    expect((await flows()).length).toBe(before);
    expect(browser.cookies.size).toBe(0);
  });

  test('for an unknown, foreign or deleted client', async () => {
    const other = await appInProject(app, { redirectUris: ['https://other.example/cb'] });
    const gone = await appInProject(app);
    await app.must('deleteProjectApp', { scope: gone.scope, id: gone.id }, { token: gone.owner.token });
    const dead = await appInProject(app);
    const [, projectId = ''] = dead.scope.id.split(':');
    await app.must(
      'deleteProject',
      { scope: dead.owner.account, id: projectId },
      { token: dead.owner.token },
    );
    const browser = signInBrowser(app, boards);
    for (const [client_id, code] of [
      ['00000000-0000-4000-8000-000000000000', 'VALIDATION_ERROR'],
      ['not a uuid', 'VALIDATION_ERROR'],
      ["' or 1=1 --", 'VALIDATION_ERROR'],
      [boards.id, 'VALIDATION_ERROR'],
      [gone.clientId, 'VALIDATION_ERROR'],
      [dead.clientId, 'VALIDATION_ERROR'],
      [other.clientId, 'INVALID_REDIRECT_URI'],
    ]) {
      const answer = await browser.authorize({ client_id });
      expect([answer.statusCode, answer.json<{ code: string }>().code], client_id).toEqual([400, code]);
      expect(answer.headers.location).toBeUndefined();
    }
  });

  test.each(['client_id', 'redirect_uri'])('without %s', async (name) => {
    const answer = await signInBrowser(app, boards).authorize({ [name]: undefined });
    expect(answer.statusCode).toBe(400);
    expect(answer.headers.location).toBeUndefined();
  });

  test('for a client or an address that is sent twice', async () => {
    const { request } = signInBrowser(app, boards);
    for (const name of ['client_id', 'redirect_uri']) {
      for (const value of [String(request[name]), 'https://evil.example/']) {
        const query = new URLSearchParams(request);
        query.append(name, value);
        const answer = await visitor(app.server).get(`${authorizePath}?${query.toString()}`);
        expect(answer.statusCode, name).toBe(400);
        expect(answer.json(), name).toMatchObject({ details: [{ path: name, code: 'duplicate' }] });
        expect(answer.headers.location, name).toBeUndefined();
      }
    }
  });

  test('and a page shows the error without any text of the request', async () => {
    const browser = signInBrowser(app, boards);
    const redirect_uri = 'https://evil.example/"><script>alert(1)</script>';
    const query = new URLSearchParams({ ...browser.request, redirect_uri }).toString();
    const answer = await browser.get(`${authorizePath}?${query}`, { accept: 'text/html' });
    expect(answer.statusCode).toBe(400);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.body).not.toContain('evil.example');
    expect(answer.body).not.toContain('<script');
    expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });
});

describe('the app receives an error', () => {
  const reported: [string, Record<string, string | undefined>, string][] = [
    ['no response_type', { response_type: undefined }, 'invalid_request'],
    ['an implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
    ['a hybrid one', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['another response_mode', { response_mode: 'fragment' }, 'invalid_request'],
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['an empty challenge', { code_challenge: '' }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'a'.repeat(42) }, 'invalid_request'],
    ['a long challenge', { code_challenge: 'a'.repeat(129) }, 'invalid_request'],
    ['a challenge of other characters', { code_challenge: `${'a'.repeat(43)}=` }, 'invalid_request'],
    ['no method, which would mean plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['the method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['the method s256', { code_challenge_method: 's256' }, 'invalid_request'],
    [
      'neither challenge nor method',
      { code_challenge: undefined, code_challenge_method: undefined },
      'invalid_request',
    ],
    ['a scope that it has not', { scope: 'board:read board:share' }, 'invalid_scope'],
    ['a scope in other letters', { scope: 'Board:Read' }, 'invalid_scope'],
    ['a pattern of scopes', { scope: 'board:*' }, 'invalid_scope'],
    ['an unknown scope beside openid', { scope: 'openid phone' }, 'invalid_scope'],
    ['a nonce that is no text', { nonce: 'a\nb' }, 'invalid_request'],
    ['a provider that it does not offer', { provider: 'github' }, 'invalid_request'],
    ['an unknown provider', { provider: 'https://evil.example' }, 'invalid_request'],
  ];
  test.each(reported)('for %s', async (_, changes, error) => {
    const browser = signInBrowser(app, boards);
    const before = (await flows()).length;
    const answer = await browser.authorize(changes);
    expect(answer.statusCode).toBe(303);
    expect(String(answer.headers.location)).toMatch(/^https:\/\/boards\.example\/callback\?/);
    expect(redirectParameters(answer)).toEqual({
      error,
      error_description: expect.stringMatching(/^[ !#-[\]-~]+$/) as string,
      state: browser.request['state'],
      iss: boards.issuer,
    });
    expect((await flows()).length).toBe(before);
    expect(browser.cookies.size).toBe(0);
  });

  test('for a parameter that is sent twice, known or not', async () => {
    const { request } = signInBrowser(app, boards);
    const twice = { response_type: 'code', scope: 'board:read', state: 's', nonce: 'n', 'ext"<>': 'x' };
    for (const [name, value] of Object.entries(twice)) {
      const query = new URLSearchParams({ ...request, [name]: value });
      query.append(name, value);
      const answer = await visitor(app.server).get(`${authorizePath}?${query.toString()}`);
      expect(answer.statusCode, name).toBe(303);
      const described = `${name.startsWith('ext') ? 'a parameter' : name} was sent more than once`;
      expect(redirectParameters(answer), name).toEqual({
        error: 'invalid_request',
        error_description: described,
        iss: boards.issuer,
        ...(name === 'state' ? {} : { state: request['state'] }),
      });
    }
  });

  test('but for several resources only if they are not of the app', async () => {
    const query = new URLSearchParams(signInBrowser(app, boards).request);
    const ask = () => visitor(app.server).get(`${authorizePath}?${query.toString()}`);
    query.append('resource', 'https://one.example');
    query.append('resource', 'https://two.example');
    expect(redirectParameters(await ask())['error']).toBe('invalid_target');
    const resources = query.getAll('resource');
    const change = { scope: boards.scope, id: boards.id };
    const as = { token: boards.owner.token };
    await app.must('updateProjectApp', { ...change, resources }, as);
    expect((await ask()).headers.location).toBe('http://localhost:4000/api/auth/project/sign-in');
    await app.must('updateProjectApp', { ...change, resources: [] }, as);
  });

  test.each(['a'.repeat(2049), 'with\nline', 'ümlaut'])(
    'for a malformed state %j, which is not repeated',
    async (state) => {
      const answer = await signInBrowser(app, boards).authorize({ state });
      expect(redirectParameters(answer)).toMatchObject({ error: 'invalid_request', iss: boards.issuer });
      expect(redirectParameters(answer)).not.toHaveProperty('state');
    },
  );

  test('with a state of 2,048 characters; such a nonce is accepted, and such a hint ignored', async () => {
    const long = 'a'.repeat(2048);
    const refused = await signInBrowser(app, boards).authorize({ state: long, response_type: 'token' });
    expect(redirectParameters(refused)['state']).toBe(long);
    for (const sent of [{ state: long }, { scope: 'openid', nonce: long }, { login_hint: long }]) {
      const begun = await signInBrowser(app, boards).authorize(sent);
      expect(begun.headers.location).toContain('/api/auth/project/sign-in');
    }
    const tooLong = await signInBrowser(app, boards).authorize({ scope: 'openid', nonce: `${long}a` });
    expect(redirectParameters(tooLong)['error']).toBe('invalid_request');
  });

  test('added to the query of its own address, each name once', async () => {
    const redirect_uri = 'https://boards.example/with?query=1&code=old';
    const answer = await signInBrowser(app, boards).authorize({ redirect_uri, response_type: 'token' });
    expect(redirectParameters(answer)).toMatchObject({
      query: '1',
      code: 'old',
      error: 'unsupported_response_type',
    });
  });

  test('for a scope of an unrestricted app', async () => {
    const open = await appInProject(app, { scopes: null });
    const refused = await signInBrowser(app, open).authorize({ scope: 'board:read' });
    expect(redirectParameters(refused)).toMatchObject({ error: 'invalid_scope' });
    const nothing = await appInProject(app, { scopes: [] });
    const none = await signInBrowser(app, nothing).authorize({ scope: 'board:read' });
    expect(redirectParameters(none)).toMatchObject({ error: 'invalid_scope' });
  });

  test('when no provider is configured', async () => {
    const onlyGithub = await appInProject(app, { enabledProviders: ['github'] });
    const answer = await signInBrowser(app, onlyGithub).authorize();
    expect(redirectParameters(answer)).toMatchObject({ error: 'temporarily_unavailable' });
  });
});

describe('before a sign-in, a browser', () => {
  const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const asks = (to: AppInProject, changes: Record<string, string>) => {
    const browser = signInBrowser(app, to);
    return browser.get(
      `${authorizePath}?${new URLSearchParams({ ...browser.request, ...changes }).toString()}`,
      html,
    );
  };

  test('gets a page that asks before a redirect to the address of a third party', async () => {
    for (const [changes, reported] of [
      [{ code_challenge: 'short' }, 'code_challenge must be'],
      [{ response_type: 'token' }, 'response_type must be'],
      [{ scope: 'board:share' }, 'invalid_scope'],
    ] as const) {
      const page = await asks(boards, changes);
      expect(page.statusCode).toBe(400);
      expect(page.headers.location).toBeUndefined();
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(page.body).toContain(reported);
      const [, href = ''] =
        /href="(https:[^"]*)"\s*>Back to <bdi>boards\.example<\/bdi>/.exec(page.body) ?? [];
      const next = new URL(href.replaceAll('&amp;', '&'));
      expect(next.searchParams.get('error')).toMatch(/^(invalid_request|invalid_scope|unsupported_\w+)$/);
      expect(next.searchParams.get('iss')).toBe(boards.issuer);
    }
  });

  test('is redirected to trusted addresses', async () => {
    const trusted = await appInProject(app, {
      redirectUris: ['http://localhost:4000/callback', 'http://127.0.0.1/cb', 'com.example.boards:/cb'],
    });
    for (const redirect_uri of [
      'http://localhost:4000/callback',
      'http://127.0.0.1:4711/cb',
      'com.example.boards:/cb',
    ]) {
      const answer = await asks(trusted, { redirect_uri, response_type: 'token' });
      expect([answer.statusCode, redirectParameters(answer)['error']], redirect_uri).toEqual([
        303,
        'unsupported_response_type',
      ]);
    }
  });

  test('gets the name of the wrong parameter when it is not redirected', async () => {
    const page = await asks(boards, { redirect_uri: 'https://evil.example/' });
    expect([page.statusCode, page.body.includes('redirect_uri: This is not allowed here.')]).toEqual([
      400,
      true,
    ]);
    expect((await asks(boards, { client_id: 'x' })).body).toContain('client_id: This is not allowed here.');
    expect(page.body).not.toContain('evil.example');
  });
});

describe('app-info', () => {
  const info = (input: { client_id: string; redirect_uri?: string; scope?: string }) =>
    app.call('projectAppInfo', input);

  test('shows the public data of the app, and names the scopes', async () => {
    const { data, ok } = await info({ client_id: boards.clientId, redirect_uri: boards.redirectUri });
    expect(ok).toBe(true);
    expect(data).toEqual({
      name: 'Acme Boards',
      logoUrl: null,
      homepageUrl: null,
      primaryColor: null,
      enabledProviders: ['email'],
      identityProviders: [],
      scopes: [
        { scope: 'board:read', name: expect.any(String) as string, description: null },
        { scope: 'board:edit', name: expect.any(String) as string, description: null },
      ],
    });
    const item = await info({ client_id: boards.clientId, scope: 'board:edit board:edit' });
    expect(item.data.scopes?.map(({ scope }) => scope)).toEqual(['board:edit']);
    const open = await appInProject(app);
    expect((await info({ client_id: open.clientId })).data.scopes).toBeNull();
    const builtIn = await appInProject(app, { scopes: ['Role:Query'] });
    expect((await info({ client_id: builtIn.clientId })).data.scopes).toEqual([
      { scope: 'Role:Query', name: 'Role:Query', description: null },
    ]);
  });

  test('is refused for another address, scope or client', async () => {
    const client_id = boards.clientId;
    const code = async (input: Parameters<typeof info>[0]) => (await info(input)).code;
    expect(await code({ client_id, redirect_uri: 'https://evil.example/' })).toBe('INVALID_REDIRECT_URI');
    expect(await code({ client_id, scope: 'board:share' })).toBe('VALIDATION_ERROR');
    expect(await code({ client_id: boards.id })).toBe('NOT_FOUND');
  });
});
