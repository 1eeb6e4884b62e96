import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import type { Person } from '../../test/support/app/client.ts';
import { appInProject, type AppInProject } from '../../test/support/sign-in/project-app.ts';
import { challengeOf, consented, newVerifier } from '../../test/support/sign-in/project-code.ts';

/** Which pages of other origins may read which answers (conventions §12). */

const FRONTEND = 'https://admin.example';
const EVIL = 'https://evil.example';
const SHOP = 'https://shop.example';
const BOARDS = 'http://localhost:3000';
const TOKEN = '/api/auth/project/token';
const REVOKE = '/api/auth/project/revoke';
const USER_INFO = '/api/auth/project/user-info';
const CHECK = '/api/auth/is-authorized';
const BATCH = '/api/auth/is-authorized/batch';
const MINE = '/api/me/permissions';

let app: TestApp;
let owner: Person;
let shop: AppInProject;
let boards: AppInProject;
let tokens: Record<'shop' | 'boards' | 'session' | 'key', string>;

beforeAll(async () => {
  app = await startApp({ SECURITY_FRONTEND_URL: FRONTEND });
  owner = await app.person();
  shop = await appInProject(app, { allowedOrigins: [SHOP] }, owner);
  boards = await appInProject(app, { allowedOrigins: [BOARDS], confidential: true }, owner);
  tokens = {
    shop: await tokenOf(shop),
    boards: await tokenOf(boards),
    session: owner.token,
    key: await keyToken(),
  };
});
afterAll(() => app.close());

async function codeOf({ id, clientId, clientSecret, redirectUri }: AppInProject) {
  const verifier = newVerifier();
  const challenge = challengeOf(verifier);
  const code = await consented(app, { appId: id, userId: owner.userId, redirectUri, challenge });
  const secret = clientSecret === null ? {} : { client_secret: clientSecret };
  const named = { redirect_uri: redirectUri, code_verifier: verifier, client_id: clientId, ...secret };
  return { grant_type: 'authorization_code' as const, code, ...named };
}

const tokenOf = async (of: AppInProject) => (await app.must('projectToken', await codeOf(of))).accessToken;

async function keyToken(): Promise<string> {
  const { scope } = shop;
  const key = await app.must('createApiKey', { scope, name: 'K' }, { token: owner.token });
  const { clientId, clientSecret } = key;
  const requested = { clientId, clientSecret, scope: key.scope };
  return (await app.must('exchangeApiKey', requested as never)).accessToken;
}

type Headers = Record<string, string>;
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const ask = (method: 'GET' | 'POST', url: string, headers: Headers, payload?: object | string) =>
  app.server.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });

const preflight = (url: string, origin: string, method = 'POST') =>
  app.server.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,x-trace',
    },
  });

type Answered = Awaited<ReturnType<typeof ask>>;
const corsOf = ({ headers }: Answered) => ({
  origin: headers['access-control-allow-origin'],
  credentials: headers['access-control-allow-credentials'],
});
const closed = { origin: undefined, credentials: undefined };
const open = (origin: string) => ({ origin, credentials: undefined });
const trusted = (origin: string) => ({ origin, credentials: 'true' });

const question = { permission: { resource: 'board', action: 'read' } };

describe('public documents', () => {
  const documents = (): readonly string[] => {
    const { pathname } = new URL(shop.issuer);
    return [
      '/.well-known/jwks.json',
      '/.well-known/audit-jwks.json',
      `${pathname}/.well-known/jwks.json`,
      `/.well-known/oauth-authorization-server${pathname}`,
      `${pathname}/.well-known/oauth-authorization-server`,
      '/api/event-types',
    ];
  };

  it('are for pages of any origin, and of none', async () => {
    for (const url of documents()) {
      for (const headers of [{}, { origin: EVIL }, { origin: 'null' }, { origin: SHOP }]) {
        const answer = await ask('GET', url, headers);
        expect([answer.statusCode, corsOf(answer)], url).toEqual([200, open('*')]);
      }
      const requested = await preflight(url, EVIL, 'GET');
      expect([requested.statusCode, corsOf(requested)], url).toEqual([204, open('*')]);
      expect(requested.headers['access-control-allow-headers']).toBe('authorization,content-type,x-trace');
    }
  });

  it('may be read unchanged, and where there is none', async () => {
    const first = await ask('GET', '/.well-known/jwks.json', { origin: EVIL });
    const again = { origin: EVIL, 'if-none-match': String(first.headers.etag) };
    const same = await ask('GET', '/.well-known/jwks.json', again);
    expect([same.statusCode, corsOf(same)]).toEqual([304, open('*')]);
    const unknown = shop.issuer.replace(/.{6}$/, '000000');
    const none = await ask('GET', `${new URL(unknown).pathname}/.well-known/jwks.json`, { origin: EVIL });
    expect([none.statusCode, corsOf(none)]).toEqual([404, open('*')]);
  });
});

describe('an origin of the configuration', () => {
  it.each(['/api/tags', '/api/nowhere', '/graphql', TOKEN, CHECK, '/api/event-types', '/api/auth/refresh'])(
    'calls %s with its cookie',
    async (url) => {
      for (const origin of [FRONTEND, 'http://localhost:4000']) {
        expect(corsOf(await preflight(url, origin))).toEqual(trusted(origin));
        const answer = await ask('POST', url, { origin }, {});
        expect(corsOf(answer)).toEqual(trusted(origin));
        expect(String(answer.headers['access-control-expose-headers']).split(', ')).toEqual([
          'X-Request-Id',
          'X-Doorward-Revision',
          'RateLimit',
          'RateLimit-Policy',
          'Retry-After',
          'ETag',
          'Content-Language',
          'Idempotency-Replayed',
          'WWW-Authenticate',
        ]);
      }
    },
  );

  it.each(['/health', '/api-docs.json', '/hosted/verify-email', '/graphql/assets/init.js', '/api-docs'])(
    'has no part in %s',
    async (url) => {
      expect(corsOf(await preflight(url, FRONTEND, 'GET'))).toEqual(closed);
      expect(corsOf(await ask('GET', url, { origin: FRONTEND }))).toEqual(closed);
    },
  );
});

describe('an origin of an app', () => {
  const calls = (): readonly [string, 'GET' | 'POST', Headers, object?][] => [
    [USER_INFO, 'GET', bearer(tokens.shop)],
    [CHECK, 'POST', bearer(tokens.shop), question],
    [BATCH, 'POST', bearer(tokens.shop), { items: [question] }],
    [MINE, 'GET', bearer(tokens.shop)],
  ];

  it('is let through by a preflight, to what apps ask and to nothing else', async () => {
    for (const [url, method] of [[TOKEN], [REVOKE], [USER_INFO, 'GET'], [CHECK], [BATCH], [MINE, 'GET']]) {
      for (const origin of [SHOP, BOARDS]) {
        const requested = await preflight(String(url), origin, method);
        expect([requested.statusCode, corsOf(requested)], url).toEqual([204, open(origin)]);
        expect(requested.headers).toMatchObject({
          'access-control-allow-methods': method ?? 'POST',
          'access-control-allow-headers': 'authorization,content-type,x-trace',
          vary: 'Origin',
        });
        expect(requested.headers).not.toHaveProperty('set-cookie');
      }
      for (const origin of [EVIL, 'null', 'https://SHOP.example', `${SHOP}.evil.example`, `${SHOP}/`, '*']) {
        expect(corsOf(await preflight(String(url), origin, method)), origin).toEqual(closed);
      }
    }
    for (const [url, method] of [
      ['/api/me', 'GET'],
      ['/api/tags', 'POST'],
      ['/api/auth/login', 'POST'],
      ['/api/auth/refresh', 'POST'],
      ['/api/auth/logout', 'POST'],
      ['/graphql', 'POST'],
      [CHECK, 'GET'],
      [TOKEN, 'DELETE'],
    ] as const) {
      expect(corsOf(await preflight(url, SHOP, method)), url).toEqual(closed);
      expect(corsOf(await ask('POST', url, { origin: SHOP, ...bearer(tokens.shop) }, {})).credentials).toBe(
        undefined,
      );
    }
  });

  it('reads answers to its own app, good and bad', async () => {
    for (const [url, method, headers, payload] of calls()) {
      const good = await ask(method, url, { ...headers, origin: SHOP }, payload);
      expect([good.statusCode, corsOf(good)], url).toEqual([200, open(SHOP)]);
      const unknown = await ask(method, `${url}?twice=1&twice=1`, { ...headers, origin: SHOP }, payload);
      expect([unknown.statusCode, corsOf(unknown)], url).toEqual([400, open(SHOP)]);
    }
    const broken = await ask('POST', CHECK, { ...bearer(tokens.shop), ...form, origin: SHOP }, 'a=b');
    expect([broken.statusCode, corsOf(broken)]).toEqual([415, open(SHOP)]);
  });

  it('reads no answer to the token of another app, of a session or of a key', async () => {
    for (const [url, method, , payload] of calls()) {
      for (const token of [tokens.boards, tokens.session, tokens.key]) {
        const answer = await ask(method, url, { ...bearer(token), origin: SHOP }, payload);
        expect(corsOf(answer), url).toEqual(closed);
      }
      expect(corsOf(await ask(method, url, { ...bearer(tokens.shop), origin: BOARDS }, payload))).toEqual(
        closed,
      );
      expect(corsOf(await ask(method, url, { ...bearer(tokens.shop), origin: EVIL }, payload))).toEqual(
        closed,
      );
      expect(corsOf(await ask(method, url, bearer(tokens.shop), payload))).toEqual(closed);
    }
  });

  it('gets tokens of its own app, and reads no tokens of another', async () => {
    const json = await ask('POST', TOKEN, { origin: SHOP }, await codeOf(shop));
    expect([json.statusCode, corsOf(json)]).toEqual([200, open(SHOP)]);
    const fields = new URLSearchParams(await codeOf(shop)).toString();
    const asForm = await ask('POST', TOKEN, { ...form, origin: SHOP }, fields);
    expect([asForm.statusCode, corsOf(asForm)]).toEqual([200, open(SHOP)]);
    const { client_id, client_secret, ...rest } = (await codeOf(boards)) as Record<string, string>;
    const secret = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
    const basic = { authorization: `Basic ${secret}`, ...form, origin: BOARDS };
    const byHeader = await ask('POST', TOKEN, basic, new URLSearchParams(rest).toString());
    expect([byHeader.statusCode, corsOf(byHeader)]).toEqual([200, open(BOARDS)]);

    const stolen = await ask('POST', TOKEN, { origin: BOARDS }, await codeOf(shop));
    expect([stolen.statusCode, corsOf(stolen)]).toEqual([200, closed]);
    const used = await ask('POST', TOKEN, { origin: SHOP }, { ...(await codeOf(shop)), code: 'unknown' });
    expect([used.statusCode, corsOf(used)]).toEqual([400, open(SHOP)]);
    const wrong = { ...(await codeOf(boards)), client_secret: 'wrong' };
    expect(corsOf(await ask('POST', TOKEN, { origin: BOARDS }, wrong))).toEqual(open(BOARDS));
    expect(corsOf(await ask('POST', TOKEN, { origin: SHOP }, wrong))).toEqual(closed);

    const { clientId } = shop;
    const ended = { token: 'unknown', client_id: clientId };
    expect(corsOf(await ask('POST', REVOKE, { origin: SHOP }, ended))).toEqual(open(SHOP));
    expect(corsOf(await ask('POST', REVOKE, { origin: BOARDS }, ended))).toEqual(closed);
  });

  it('reads a refusal that names no app', async () => {
    for (const [url, method, , payload] of calls()) {
      for (const headers of [{}, bearer('none.at.all')]) {
        const refused = await ask(method, url, { ...headers, origin: SHOP }, payload);
        expect([refused.statusCode, corsOf(refused)], url).toEqual([401, open(SHOP)]);
        expect(corsOf(await ask(method, url, { ...headers, origin: EVIL }, payload))).toEqual(closed);
      }
    }
    const nobody = { ...(await codeOf(shop)), client_id: '01890000-0000-4000-8000-000000000000' };
    expect(corsOf(await ask('POST', TOKEN, { origin: BOARDS }, nobody))).toEqual(open(BOARDS));
    expect(corsOf(await ask('POST', TOKEN, { origin: BOARDS }, {}))).toEqual(closed);
  });

  it('never reaches a cookie', async () => {
    const { headers } = await app.call('login', {
      provider: 'email',
      providerId: owner.email,
      providerData: { password: owner.password },
    });
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    for (const origin of [SHOP, EVIL]) {
      for (const url of ['/api/auth/refresh', '/api/auth/logout']) {
        const answer = await ask('POST', url, { origin, cookie }, {});
        expect([answer.statusCode, corsOf(answer)]).toEqual([403, closed]);
      }
      const requested = await ask('POST', CHECK, { origin, cookie, ...bearer(tokens.shop) }, question);
      expect(corsOf(requested).credentials).toBeUndefined();
    }
  });

  it('is let in when its app names it, and no longer when it does not', async () => {
    const made = await appInProject(app, {}, owner);
    const token = await tokenOf(made);
    const as = { token: owner.token };
    const own = 'https://new.example';
    const seen = async () => [
      corsOf(await preflight(CHECK, own)).origin,
      corsOf(await ask('POST', CHECK, { origin: own, ...bearer(token) }, question)).origin,
      corsOf(await ask('POST', REVOKE, { origin: own }, { token: 'x', client_id: made.clientId })).origin,
    ];
    const change = (allowedOrigins: string[]) =>
      app.must('updateProjectApp', { scope: made.scope, id: made.id, allowedOrigins }, as);
    expect(await seen()).toEqual([undefined, undefined, undefined]);
    await change([own]);
    expect(await seen()).toEqual([own, own, own]);
    await change(['https://other.example']);
    expect(await seen()).toEqual([undefined, undefined, undefined]);
    await change([own]);
    expect(await seen()).toEqual([own, own, own]);
    const [, project = ''] = made.scope.id.split(':');
    await app.must('deleteProject', { scope: owner.account, id: project }, as);
    expect(await seen()).toEqual([undefined, undefined, undefined]);
  });

  it('is let in as long as one of its apps lives', async () => {
    const shared = 'https://shared.example';
    const both = [
      await appInProject(app, { allowedOrigins: [shared] }, owner),
      await appInProject(app, { allowedOrigins: [shared] }, owner),
    ];
    for (const { scope, id } of both) {
      expect(corsOf(await preflight(CHECK, shared)).origin).toBe(shared);
      await app.must('deleteProjectApp', { scope, id }, { token: owner.token });
    }
    expect(corsOf(await preflight(CHECK, shared)).origin).toBeUndefined();
  });
});

describe('limits', () => {
  it('count preflights of strangers against their network, and tell a page that it was refused', async () => {
    const limited = await startApp({
      SECURITY_FRONTEND_URL: FRONTEND,
      SECURITY_RATE_LIMIT_GENERAL_MAX: '30',
    });
    const person = await limited.person();
    await appInProject(limited, { allowedOrigins: [SHOP] }, person);
    const requested = (origin: string) =>
      limited.server.inject({
        method: 'OPTIONS',
        url: CHECK,
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    expect((await requested(SHOP)).statusCode).toBe(204);
    const strangers = [];
    for (let i = 0; i < 40; i++) strangers.push((await requested(`https://${i}.evil.example`)).statusCode);
    expect(strangers[0]).toBe(204);
    expect(strangers.at(-1)).toBe(429);
    // A cached origin costs no point, so other clients of the network cannot lock a page out.
    expect(corsOf(await requested(SHOP))).toEqual(open(SHOP));
    expect(corsOf(await requested(FRONTEND))).toEqual(trusted(FRONTEND));
    const refused = await limited.server.inject({ method: 'POST', url: TOKEN, headers: { origin: SHOP } });
    expect([refused.statusCode, corsOf(refused)]).toEqual([429, open(SHOP)]);
    await limited.close();
  });
});
