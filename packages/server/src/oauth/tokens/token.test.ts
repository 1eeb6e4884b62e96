import { decodeJwt, decodeProtectedHeader } from 'jose';
import { asc, eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import {
  challengeOf,
  consented,
  newVerifier,
  type Consent,
} from '../../../test/support/sign-in/project-code.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';

/** Requests of apps without their users: token exchange, refresh, revocation, user info, and what is refused. */

const REDIRECT = 'https://app.example/callback?a=b';
const TOKEN = '/api/auth/project/token';
const REVOKE = '/api/auth/project/revoke';

let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let as: { token: string };
let publicApp: Client;
let secretApp: Client;

interface Client {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
}
type Fields = Record<string, string | undefined>;

beforeAll(async () => {
  app = await startApp({ SECURITY_TRUSTED_PROXIES: '127.0.0.1/32' });
  owner = await app.person({ type: 'organization' });
  as = { token: owner.token };
  const { account } = owner;
  const organization = await app.must('createOrganization', { scope: account, name: 'Org' }, as);
  const project = await app.must(
    'createProject',
    { scope: { tenant: 'organization', id: organization.id }, name: 'P' },
    as,
  );
  ({ scope } = project);
  await app.must('createResource', { scope, name: 'Doc', slug: 'doc', createPermissions: true }, as);
});
afterAll(() => app.close());
beforeEach(async () => {
  [publicApp, secretApp] = [await newApp(), await newApp({ confidential: true })];
});

const newApp = (input: object = {}): Promise<Client> =>
  app.must('createProjectApp', { scope, name: `App ${unique()}`, redirectUris: [REDIRECT], ...input }, as);

/** Creates a user of the project, without roles. */
async function participant(): Promise<Person> {
  const person = await app.person();
  await app.owner.execute(
    `insert into project_users (tenant_id, user_id) values ('${projectId()}', '${person.userId}')`,
  );
  return person;
}
const projectId = () => scope.id.split(':')[1] ?? '';

/** Creates a code as consent does, and returns the fields of its exchange. */
async function grant(client: Client, person: { userId: string } = owner, more: Partial<Consent> = {}) {
  const verifier = newVerifier();
  const code = await consented(app, {
    appId: client.id,
    userId: person.userId,
    redirectUri: REDIRECT,
    challenge: challengeOf(verifier),
    ...more,
  });
  const fields: Fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    client_id: client.clientId,
    ...(client.clientSecret === null ? {} : { client_secret: client.clientSecret }),
  };
  return fields;
}

const defined = (fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
const asForm = (fields: Fields, headers: Record<string, string> = {}, url = TOKEN, text?: string) =>
  app.server.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: text ?? new URLSearchParams(defined(fields)).toString(),
  });
const asJson = (fields: Fields) => app.raw('projectToken', defined(fields));
const exchange = async (client: Client, person?: { userId: string }, more?: Partial<Consent>) => {
  const tokens = await app.must('projectToken', defined(await grant(client, person, more)) as never);
  return { ...tokens, refreshToken: tokens.refreshToken ?? '' };
};
const refreshing = ({ clientId, clientSecret }: Client, refreshToken: string): Fields => ({
  grant_type: 'refresh_token',
  refresh_token: refreshToken,
  client_id: clientId,
  client_secret: clientSecret ?? undefined,
});
const lives = async (token: string) => (await app.raw('projectUserInfo', {}, { token })).ok;
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});
const logOf = async (tenantId: string) =>
  (
    await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.tenantId, tenantId))
      .orderBy(asc(auditLog.sequence))
  ).map(({ operation, outcome, code, metadata }) => [
    operation,
    outcome,
    code,
    (metadata as { fault?: string } | null)?.fault ?? null,
  ]);
const eventsOf = async (tenantId: string) =>
  (
    await app.database.pool
      .select()
      .from(events)
      .where(eq(events.tenantId, tenantId))
      .orderBy(asc(events.sequence))
  ).map(({ type }) => type);

describe('a code', () => {
  it('is exchanged for tokens with the specified claims', async () => {
    const authenticatedAt = new Date(app.clock.now().getTime() - 5000);
    const fields = await grant(publicApp, owner, { scopes: null, authenticatedAt });
    const answer = await asJson(fields);
    expect(answer.status, answer.body).toBe(200);
    const tokens = answer.data as Awaited<ReturnType<typeof exchange>>;
    expect(tokens).toEqual({
      accessToken: expect.any(String) as string,
      tokenType: 'Bearer',
      expiresIn: 900,
      refreshToken: expect.stringMatching(/^dwr_/) as string,
      idToken: null,
      scope: null,
    });
    const claims = decodeJwt(tokens.accessToken);
    const iat = claims.iat ?? 0;
    expect(claims).toEqual({
      sub: owner.userId,
      aud: 'http://localhost:4000',
      iss: `http://localhost:4000/org/${scope.id.replace(':', '/prj/')}`,
      jti: expect.any(String) as string,
      type: 'projectApp',
      scope,
      client_id: publicApp.clientId,
      auth_time: Math.floor(authenticatedAt.getTime() / 1000),
      iat,
      exp: iat + 900,
    });
    expect(decodeProtectedHeader(tokens.accessToken)).toMatchObject({ alg: 'RS256', typ: 'JWT' });
    expect(answer.cookies).toEqual([]);

    const listed = await app.must('myUserSessions', {}, as);
    const session = listed.items.find(({ id }) => id === claims.jti);
    expect(session).toMatchObject({ kind: 'projectApp', projectAppId: publicApp.id, isCurrent: false });
    expect(session?.authenticatedAt).toBe(authenticatedAt.toISOString());
    expect(await eventsOf(owner.account.id)).toContain('session.created');
    expect((await logOf(projectId())).at(-1)).toEqual(['projectToken', 'success', null, null]);
    await app.must('revokeMyUserSession', { id: claims.jti ?? '' }, as);
    expect(await lives(tokens.accessToken)).toBe(false);
    expect((await asJson(refreshing(publicApp, tokens.refreshToken))).code).toBe('INVALID_TOKEN');
  });

  it('gets an answer as in RFC 6749 if sent as a form', async () => {
    const answer = await asForm(await grant(publicApp, owner, { scopes: ['doc:read', 'doc:query'] }));
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      access_token: expect.any(String) as string,
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: expect.stringMatching(/^dwr_/) as string,
      scope: 'doc:read doc:query',
    });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
    const { access_token: token } = answer.json<{ access_token: string }>();
    expect(decodeJwt(token)['scopes']).toEqual(['doc:read', 'doc:query']);
  });

  it('leaves scope out if unrestricted, and has an empty scope if nothing is allowed', async () => {
    expect((await asForm(await grant(publicApp))).json()).not.toHaveProperty('scope');
    const none = (await asForm(await grant(publicApp, owner, { scopes: [] }))).json<{
      access_token: string;
      scope: string;
    }>();
    expect([none.scope, decodeJwt(none.access_token)['scopes']]).toEqual(['', []]);
  });

  it('ignores unknown and empty fields, as OAuth requires', async () => {
    const fields = { ...(await grant(publicApp)), audience: 'https://api.example', client_secret: '' };
    expect((await asForm(fields)).statusCode).toBe(200);
    const answer = await asJson({ ...(await grant(publicApp)), audience: 'https://api.example' });
    expect(answer.status).toBe(200);
  });

  it.each([
    [
      'by post',
      (client: Client, fields: Fields) => asForm({ ...fields, client_secret: client.clientSecret ?? '' }),
    ],
    [
      'by Basic',
      (client: Client, fields: Fields) =>
        asForm(
          { ...fields, client_id: undefined, client_secret: undefined },
          basic(client.clientId, client.clientSecret ?? ''),
        ),
    ],
    [
      'by Basic, with its id in the body too',
      (client: Client, fields: Fields) =>
        asForm({ ...fields, client_secret: undefined }, basic(client.clientId, client.clientSecret ?? '')),
    ],
  ])('of a confidential app needs its secret: %s', async (_how, send) => {
    expect((await send(secretApp, await grant(secretApp))).statusCode).toBe(200);
  });

  it.each([
    ['none', undefined],
    ['that of another app', 'other'],
    ['a wrong one', `dws_${'A'.repeat(52)}`],
    ['an empty one', ''],
  ])('of a confidential app is nothing with %s as secret', async (_what, secret) => {
    const fields = await grant(secretApp);
    const other = await newApp({ confidential: true });
    const sent = secret === 'other' ? (other.clientSecret ?? '') : secret;
    const json = await asJson({ ...fields, client_secret: sent === '' ? undefined : sent });
    expect([json.status, json.code]).toEqual([401, 'UNAUTHENTICATED']);
    const form = await asForm({ ...fields, client_secret: sent });
    expect([form.statusCode, form.json<{ error: string }>().error]).toEqual([401, 'invalid_client']);
    expect(form.headers['www-authenticate']).toMatch(/^Basic /);
    expect((await logOf(projectId())).at(-1)).toEqual([
      'projectToken',
      'failed',
      'UNAUTHENTICATED',
      'secret',
    ]);
    // A failed client authentication does not consume the code.
    expect((await asForm(fields)).statusCode).toBe(200);
  });

  it('of a public app is refused with a secret, and for an unknown app', async () => {
    const fields = await grant(publicApp);
    expect((await asJson({ ...fields, client_secret: secretApp.clientSecret ?? '' })).status).toBe(401);
    for (const client_id of ['00000000-0000-4000-8000-000000000000', 'nobody', "' or 1=1"]) {
      expect((await asJson({ ...fields, client_id })).code).toBe('UNAUTHENTICATED');
    }
    expect((await asJson(fields)).status).toBe(200);
  });

  it('is refused if credentials are sent twice, or name two clients', async () => {
    const fields = await grant(secretApp);
    const unlike = await asForm(
      { ...fields, client_secret: undefined, client_id: publicApp.clientId },
      basic(secretApp.clientId, secretApp.clientSecret ?? ''),
    );
    expect([unlike.statusCode, unlike.json<{ error: string }>().error]).toEqual([400, 'invalid_request']);
    const answer = await asForm(fields, basic(secretApp.clientId, secretApp.clientSecret ?? ''));
    expect([answer.statusCode, answer.json<{ error: string }>().error]).toEqual([400, 'invalid_request']);
  });

  it('works with a rotated secret, but not with the former one', async () => {
    const fields = await grant(secretApp);
    const { clientSecret } = await app.must('rotateProjectAppSecret', { scope, id: secretApp.id }, as);
    expect((await asJson(fields)).code).toBe('UNAUTHENTICATED');
    expect((await asJson({ ...fields, client_secret: clientSecret ?? '' })).status).toBe(200);
  });

  it('works once: the second use ends the session of the first', async () => {
    const fields = await grant(publicApp);
    const { accessToken, refreshToken } = (await asJson(fields)).data as Awaited<ReturnType<typeof exchange>>;
    expect(await lives(accessToken)).toBe(true);
    const again = await asForm(fields);
    expect([again.statusCode, again.json<{ error: string }>().error]).toEqual([400, 'invalid_grant']);
    expect(await lives(accessToken)).toBe(false);
    expect((await asJson(refreshing(publicApp, refreshToken))).code).toBe('INVALID_TOKEN');
    expect((await logOf(projectId())).slice(-1)).toEqual([
      ['projectToken', 'failed', 'INVALID_TOKEN', 'reused'],
    ]);
    expect((await eventsOf(owner.account.id)).at(-1)).toBe('session.revoked');
  });

  it('ends no session on reuse without its verifier or redirect address', async () => {
    const fields = await grant(publicApp);
    const { accessToken } = (await asJson(fields)).data as Awaited<ReturnType<typeof exchange>>;
    for (const other of [
      { code_verifier: 'x'.repeat(43) },
      { redirect_uri: 'https://elsewhere.example/callback' },
    ]) {
      expect((await asJson({ ...fields, ...other })).code).toBe('INVALID_TOKEN');
      expect(await lives(accessToken)).toBe(true);
    }
    expect((await asJson(fields)).code).toBe('INVALID_TOKEN');
    expect(await lives(accessToken)).toBe(false);
  });

  it('used concurrently creates at most one session, which ends', { tags: 'race' }, async () => {
    const fields = await grant(publicApp);
    const answers = await Promise.all(Array.from({ length: 8 }, () => asJson(fields)));
    const won = answers.filter(({ ok }) => ok);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'INVALID_TOKEN')).toHaveLength(7);
    expect(await lives((won[0]?.data as { accessToken: string }).accessToken)).toBe(false);
    const rows = await app.database.pool
      .select()
      .from(sessions)
      .where(eq(sessions.projectAppId, publicApp.id));
    expect(rows.map(({ endedAt }) => endedAt !== null)).toEqual([true]);
  });

  it('expires after a minute', async () => {
    const fields = await grant(publicApp);
    app.clock.advance(60_001);
    expect((await asJson(fields)).code).toBe('INVALID_TOKEN');
    expect((await logOf(projectId())).at(-1)).toEqual(['projectToken', 'failed', 'INVALID_TOKEN', 'expired']);
  });

  const wrong: [string, (fields: Fields) => Fields, string][] = [
    ['another verifier', (fields) => ({ ...fields, code_verifier: newVerifier() }), 'verifier'],
    [
      'the challenge as verifier',
      (fields) => ({ ...fields, code_verifier: challengeOf(fields['code_verifier'] ?? '') }),
      'verifier',
    ],
    ...[
      'https://app.example/callback',
      'https://app.example/callback?a=b&c=d',
      'https://app.example/callback?a=B',
      'https://APP.example/callback?a=b',
      'https://app.example:443/callback?a=b',
      'https://app.example/callback/?a=b',
      'https://app.example/%63allback?a=b',
      'https://app.example/callback?a=b#',
    ].map((uri): [string, (fields: Fields) => Fields, string] => [
      uri,
      (fields) => ({ ...fields, redirect_uri: uri }),
      'redirectUri',
    ]),
  ];
  it.each(wrong)('is consumed by %s', async (_what, change, fault) => {
    const fields = await grant(publicApp);
    expect((await asJson(change(fields))).code).toBe('INVALID_TOKEN');
    expect((await logOf(projectId())).at(-1)).toEqual(['projectToken', 'failed', 'INVALID_TOKEN', fault]);
    expect((await asJson(fields)).code).toBe('INVALID_TOKEN');
    const left = await app.database.pool
      .select()
      .from(projectCodes)
      .where(eq(projectCodes.appId, publicApp.id));
    expect(left).toEqual([]);
  });

  it('is refused for another app, and not consumed', async () => {
    const fields = await grant(publicApp);
    const other = await newApp();
    expect((await asJson({ ...fields, client_id: other.clientId })).code).toBe('INVALID_TOKEN');
    const byForm = await asForm({
      ...fields,
      client_id: secretApp.clientId,
      client_secret: secretApp.clientSecret ?? '',
    });
    expect(byForm.json<{ error: string }>().error).toBe('invalid_grant');
    const answer = await asJson(fields);
    expect(answer.status).toBe(200);
    // Reuse by the other app does not end the session either.
    expect((await asJson({ ...fields, client_id: other.clientId })).code).toBe('INVALID_TOKEN');
    expect(await lives((answer.data as { accessToken: string }).accessToken)).toBe(true);
  });

  it.each(['code', 'redirect_uri', 'code_verifier', 'client_id', 'grant_type'])(
    'is not exchanged without %s',
    async (name) => {
      const fields = await grant(publicApp);
      const answer = await asForm({ ...fields, [name]: undefined });
      expect([answer.statusCode, answer.json<{ error: string }>().error]).toEqual([400, 'invalid_request']);
      const json = await asJson({ ...fields, [name]: undefined });
      expect(json).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: name, code: 'required' }] });
      expect((await asJson(fields)).status).toBe(200);
    },
  );

  it.each(['short', 'x'.repeat(129), `${'x'.repeat(42)}!`])(
    'has a verifier of the form %s',
    async (verifier) => {
      const answer = await asForm({ ...(await grant(publicApp)), code_verifier: verifier });
      expect(answer.json<{ error: string }>().error).toBe('invalid_request');
    },
  );

  it('is refused for a user who is disabled, deleted, or has left the project', async () => {
    const leaving = await participant();
    const fields = await grant(publicApp, leaving);
    await app.must('deleteUser', { scope, id: leaving.userId }, as);
    expect((await asJson(fields)).code).toBe('INVALID_TOKEN');
    const disabled = await participant();
    const second = await grant(publicApp, disabled);
    await app.owner.execute(`update users set status = 'disabled' where id = '${disabled.userId}'`);
    expect((await asJson(second)).code).toBe('INVALID_TOKEN');
    const deleted = await participant();
    const third = await grant(publicApp, deleted);
    await app.must('deleteMe', {}, { token: deleted.token });
    expect((await asJson(third)).code).toBe('INVALID_TOKEN');
    const stranger = await app.person();
    expect((await asJson(await grant(publicApp, stranger))).code).toBe('INVALID_TOKEN');
  });

  it('of a deleted app is refused', async () => {
    const fields = await grant(publicApp);
    await app.must('deleteProjectApp', { scope, id: publicApp.id }, as);
    const answer = await asForm(fields);
    expect([answer.statusCode, answer.json<{ error: string }>().error]).toEqual([401, 'invalid_client']);
  });

  it('is in no table, log or event', async () => {
    const fields = await grant(secretApp);
    const { accessToken, refreshToken } = (await asJson(fields)).data as Awaited<ReturnType<typeof exchange>>;
    const stored = JSON.stringify([
      await app.database.pool.select().from(projectCodes),
      await app.database.pool.select().from(sessions),
      await app.database.pool.select().from(auditLog),
      await app.database.pool.select().from(events),
      app.logs,
    ]);
    const { code = '', code_verifier = '' } = fields;
    for (const secret of [code, code_verifier, accessToken, refreshToken, secretApp.clientSecret ?? '']) {
      expect(secret).not.toBe('');
      expect(stored).not.toContain(secret);
    }
  });

  it('counts only sessions of its app against the session limit', async () => {
    const small = await startApp({ AUTH_MAX_SESSIONS_PER_USER: '2' }, app);
    try {
      const person = await participantOf(small);
      const other = await small.must(
        'createProjectApp',
        { scope, name: 'Other', redirectUris: [REDIRECT] },
        as,
      );
      const sign = async (client: Client) => {
        const verifier = newVerifier();
        const code = await consented(small, {
          appId: client.id,
          userId: person.userId,
          redirectUri: REDIRECT,
          challenge: challengeOf(verifier),
        });
        const sent = { code, redirect_uri: REDIRECT, code_verifier: verifier, client_id: client.clientId };
        return small.must('projectToken', { grant_type: 'authorization_code', ...sent });
      };
      await sign(other);
      for (let count = 0; count < 3; count++) await sign(publicApp);
      const { items } = await small.must('myUserSessions', {}, { token: person.token });
      const kinds = items.map(({ kind, projectAppId }) => projectAppId ?? kind).sort();
      expect(kinds).toEqual([other.id, publicApp.id, publicApp.id, 'browser'].sort());
    } finally {
      await small.close();
    }
  });
});

async function participantOf(testApp: TestApp): Promise<Person> {
  const person = await testApp.person();
  await testApp.owner.execute(
    `insert into project_users (tenant_id, user_id) values ('${projectId()}', '${person.userId}')`,
  );
  return person;
}

describe('a refresh token', () => {
  it('gives the next tokens, repeatedly', async () => {
    let { refreshToken } = await exchange(secretApp, owner, { scopes: ['doc:read'] });
    const session = decodeJwt((await exchange(publicApp)).accessToken).jti;
    for (let count = 0; count < 3; count++) {
      const answer = await asForm(refreshing(secretApp, refreshToken));
      expect(answer.statusCode).toBe(200);
      const body = answer.json<{ access_token: string; refresh_token: string; scope: string }>();
      expect(body.scope).toBe('doc:read');
      expect(decodeJwt(body.access_token)).toMatchObject({ scopes: ['doc:read'], type: 'projectApp' });
      expect(decodeJwt(body.access_token).jti).not.toBe(session);
      expect(await lives(body.access_token)).toBe(true);
      expect(body.refresh_token).not.toBe(refreshToken);
      refreshToken = body.refresh_token;
    }
    expect((await logOf(projectId())).at(-1)).toEqual(['projectToken', 'success', null, null]);
  });

  it('used again within ten seconds gets the same successor', { tags: 'race' }, async () => {
    const { refreshToken } = await exchange(publicApp);
    const [first, second] = await Promise.all([1, 2].map(() => asJson(refreshing(publicApp, refreshToken))));
    expect([first?.status, second?.status]).toEqual([200, 200]);
    const next = (answer: typeof first) => (answer?.data as { refreshToken: string }).refreshToken;
    expect(next(first)).toBe(next(second));
    app.clock.advance(5000);
    expect(next(await asJson(refreshing(publicApp, refreshToken)))).toBe(next(first));
  });

  it('used again later ends the session', async () => {
    const { refreshToken } = await exchange(publicApp);
    const next = (await asJson(refreshing(publicApp, refreshToken))).data as {
      accessToken: string;
      refreshToken: string;
    };
    app.clock.advance(10_001);
    const answer = await asForm(refreshing(publicApp, refreshToken));
    expect([answer.statusCode, answer.json<{ error: string }>().error]).toEqual([400, 'invalid_grant']);
    expect(await lives(next.accessToken)).toBe(false);
    expect((await asJson(refreshing(publicApp, next.refreshToken))).code).toBe('INVALID_TOKEN');
    expect((await eventsOf(owner.account.id)).at(-1)).toBe('session.reuse_detected');
    expect((await logOf(projectId())).at(-1)).toEqual(['projectToken', 'failed', 'INVALID_TOKEN', 'reused']);
  });

  it('of an app is refused by the service, and the reverse', async () => {
    const { accessToken, refreshToken } = await exchange(publicApp);
    expect((await app.call('refreshSession', { accessToken, refreshToken })).code).toBe('UNAUTHENTICATED');
    const person = await participant();
    expect((await asJson(refreshing(publicApp, person.refreshToken))).code).toBe('INVALID_TOKEN');
    expect(
      (await app.must('refreshSession', { accessToken: person.token, refreshToken: person.refreshToken }))
        .accessToken,
    ).not.toBe('');
    expect((await asJson(refreshing(publicApp, refreshToken))).status).toBe(200);
  });

  it('of one app is refused for another, and stays valid', async () => {
    const { refreshToken } = await exchange(secretApp);
    const other = await newApp();
    for (const thief of [other, publicApp]) {
      expect((await asJson(refreshing(thief, refreshToken))).code).toBe('INVALID_TOKEN');
    }
    const unproven = { ...refreshing(secretApp, refreshToken), client_secret: undefined };
    expect((await asJson(unproven)).code).toBe('UNAUTHENTICATED');
    expect((await asJson(refreshing(secretApp, refreshToken))).status).toBe(200);
  });

  it.each(['dwr_x', `dwr_${'A'.repeat(91)}`, 'x'])('malformed is refused: %s', async (refreshToken) => {
    expect((await asJson(refreshing(publicApp, refreshToken))).code).toBe('INVALID_TOKEN');
  });

  it('may name a subset of its scopes', async () => {
    const app1 = await newApp({ scopes: ['doc:read', 'doc:query', 'doc:update'] });
    const { refreshToken } = await exchange(app1, owner, { scopes: ['doc:read', 'doc:query'] });
    for (const scopes of ['doc:update', 'doc:read doc:update', 'doc:delete', 'x']) {
      const fields = { ...refreshing(app1, refreshToken), scope: scopes };
      const answer = await asForm(fields);
      expect([answer.statusCode, answer.json<{ error: string }>().error]).toEqual([400, 'invalid_scope']);
      expect((await asJson(fields)).code).toBe('VALIDATION_ERROR');
    }
    const fewer = await asForm({ ...refreshing(app1, refreshToken), scope: 'doc:query' });
    expect(fewer.json()).toMatchObject({ scope: 'doc:read doc:query' });
  });

  it('of an unrestricted app may name none', async () => {
    const { refreshToken } = await exchange(publicApp);
    const answer = await asForm({ ...refreshing(publicApp, refreshToken), scope: 'doc:read' });
    expect(answer.json<{ error: string }>().error).toBe('invalid_scope');
  });

  it('answers fewer scopes when those of the app were reduced, and no more when they grow', async () => {
    const narrow = await newApp({ scopes: ['doc:read', 'doc:query'] });
    const { refreshToken } = await exchange(narrow, owner, { scopes: ['doc:read', 'doc:query'] });
    await app.must('updateProjectApp', { scope, id: narrow.id, scopes: ['doc:query', 'doc:update'] }, as);
    const next = (await asJson(refreshing(narrow, refreshToken))).data as {
      accessToken: string;
      refreshToken: string;
      scope: string;
    };
    expect(next.scope).toBe('doc:query');
    expect(decodeJwt(next.accessToken)['scopes']).toEqual(['doc:query']);
    await app.must('updateProjectApp', { scope, id: narrow.id, scopes: null }, as);
    const last = (await asJson(refreshing(narrow, next.refreshToken))).data as { scope: string };
    expect(last.scope).toBe('doc:read doc:query');
  });

  it('ends with the session, and no access token lasts longer', async () => {
    const person = await participant();
    let { refreshToken } = await exchange(publicApp, person);
    const next = async () => {
      const answer = await asJson(refreshing(publicApp, refreshToken));
      if (answer.ok) ({ refreshToken } = answer.data as { refreshToken: string });
      return answer;
    };
    app.clock.advance(29 * 86_400_000);
    expect((await next()).status).toBe(200);
    app.clock.advance(86_400_000 - 300_000);
    const last = await next();
    expect((last.data as { expiresIn: number }).expiresIn).toBeLessThanOrEqual(300);
    app.clock.advance(300_000);
    expect((await next()).code).toBe('INVALID_TOKEN');
    app.clock.advance(-30 * 86_400_000);
  });

  it('ends when the app or the user is deleted, and when the user leaves', async () => {
    const ended: [string, (person: Person, client: Client) => Promise<unknown>, string][] = [
      ['app', (_, { id }) => app.must('deleteProjectApp', { scope, id }, as), 'UNAUTHENTICATED'],
      ['leaving', ({ userId }) => app.must('deleteUser', { scope, id: userId }, as), 'INVALID_TOKEN'],
      ['deleting', ({ token }) => app.must('deleteMe', {}, { token }), 'INVALID_TOKEN'],
    ];
    for (const [what, end, code] of ended) {
      const [person, client] = [await participant(), await newApp()];
      const { accessToken, refreshToken } = await exchange(client, person);
      expect(await lives(accessToken), what).toBe(true);
      await end(person, client);
      expect(await lives(accessToken), what).toBe(false);
      expect((await asJson(refreshing(client, refreshToken))).code, what).toBe(code);
    }
  });
});

describe('OAuth errors', () => {
  const errorOf = (answer: { json: () => unknown }) => answer.json() as Record<string, string>;

  it('refuse an unknown grant', async () => {
    for (const grant_type of [
      'password',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
      'implicit',
      '__proto__',
    ]) {
      const answer = await asForm({ grant_type, client_id: publicApp.clientId });
      expect([answer.statusCode, errorOf(answer)['error']]).toEqual([400, 'unsupported_grant_type']);
    }
  });

  it('have no envelope, are not cached, and never repeat input', async () => {
    const answer = await asForm({ ...(await grant(publicApp)), code: 'secret-code"\\' });
    expect(Object.keys(errorOf(answer))).toEqual(['error', 'error_description']);
    expect(answer.body).not.toContain('secret-code');
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    expect(errorOf(answer)['error_description']).toMatch(/^[ !#-[\]-~]+$/);
  });

  it('name a field that was sent twice', async () => {
    const answer = await app.server.inject({
      method: 'POST',
      url: TOKEN,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `grant_type=refresh_token&client_id=${publicApp.clientId}&client_id=${secretApp.clientId}`,
    });
    expect([answer.statusCode, errorOf(answer)['error']]).toEqual([400, 'invalid_request']);
    expect(errorOf(answer)['error_description']).toContain('client_id');
  });

  it('say `invalid_grant` of a code or token that is none of this service, however long', async () => {
    const sent = await grant(publicApp);
    for (const [grant_type, name] of [
      ['refresh_token', 'refresh_token'],
      ['authorization_code', 'code'],
      ['urn:ietf:params:oauth:grant-type:device_code', 'device_code'],
    ] as const) {
      const answer = await asForm({ ...sent, grant_type, [name]: 'x'.repeat(10_000) });
      expect([name, answer.statusCode, errorOf(answer)['error']]).toEqual([name, 400, 'invalid_grant']);
    }
    const { client_id = '' } = sent;
    const revoked = await asForm({ client_id, token: 'x'.repeat(10_000) }, {}, '/api/auth/project/revoke');
    expect([revoked.statusCode, revoked.json()]).toEqual([200, {}]);
  });

  it('refuse other types and methods', async () => {
    const text = await app.server.inject({
      method: 'POST',
      url: TOKEN,
      headers: { 'content-type': 'text/plain' },
      payload: 'grant_type=refresh_token',
    });
    expect(text.statusCode).toBe(415);
    for (const method of ['GET', 'PUT'] as const)
      expect((await app.server.inject({ method, url: TOKEN })).statusCode).toBe(405);
  });

  it('name a secret in the query, but no unknown parameter', async () => {
    const at = async (query: string, url = TOKEN) =>
      asForm(
        url === TOKEN ? await grant(publicApp) : { client_id: publicApp.clientId, token: 'x' },
        {},
        url + query,
      );
    for (const url of [TOKEN, REVOKE]) {
      // The token endpoint takes resources, but only in the body.
      const resources = url === TOKEN ? [] : ['?resource=a&resource=b'];
      for (const unknown of ['?code_challenge=x&a', '?__proto__=x', ...resources, '?']) {
        expect((await at(unknown, url)).statusCode, unknown).toBe(200);
      }
      for (const refused of ['?client_secret=x', `?client_id=${publicApp.clientId}`, '?a=1&a=1']) {
        const answer = await at(refused, url);
        expect([answer.statusCode, errorOf(answer)['error']], refused).toEqual([400, 'invalid_request']);
      }
    }
  });

  it('name an unknown field only if it is sent twice', async () => {
    const fields = new URLSearchParams(defined(await grant(publicApp))).toString();
    const send = (more: string) => asForm({}, {}, TOKEN, fields + more);
    for (const more of ['&audience=a&audience=a', '&redirect_uri=x', '&__proto__=a&__proto__=a']) {
      const answer = await send(more);
      expect([answer.statusCode, errorOf(answer)['error']], more).toEqual([400, 'invalid_request']);
    }
    expect((await send('&audience=&audience=a&resource=&resource=&__proto__=a')).statusCode).toBe(200);
    const json = { ...(await grant(publicApp)), audience: 'a', constructor: 'x' };
    expect((await app.raw('projectToken', json)).status).toBe(200);
    for (const payload of ['[]', '"a"', '1']) {
      const headers = { 'content-type': 'application/json' };
      const answer = await app.server.inject({ method: 'POST', url: TOKEN, headers, payload });
      expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([400, 'VALIDATION_ERROR']);
    }
  });

  it('rate limit the network that guesses, and no other', async () => {
    const strict = await startApp(
      { SECURITY_RATE_LIMIT_AUTH_MAX: '3', SECURITY_TRUSTED_PROXIES: '127.0.0.1/32' },
      app,
    );
    try {
      const guess = (client: Client, client_secret: string, address: string) =>
        strict.server.inject({
          method: 'POST',
          url: TOKEN,
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': address },
          payload: new URLSearchParams(defined({ ...refreshing(client, 'dwr_x'), client_secret })).toString(),
        });
      const statuses = [];
      for (let count = 0; count < 4; count++) {
        statuses.push((await guess(secretApp, 'dws_guess', '203.0.113.7')).statusCode);
      }
      expect(statuses).toEqual([401, 401, 401, 429]);
      const limited = await guess(secretApp, secretApp.clientSecret ?? '', '203.0.113.7');
      expect([limited.statusCode, errorOf(limited)['error']]).toEqual([429, 'temporarily_unavailable']);
      expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
      const elsewhere = await guess(secretApp, secretApp.clientSecret ?? '', '203.0.113.8');
      expect(errorOf(elsewhere)['error']).toBe('invalid_grant');
    } finally {
      await strict.close();
    }
  });
});

describe('the end of a session by its app', () => {
  const revoking = ({ clientId, clientSecret }: Client, token: string): Fields => ({
    token,
    client_id: clientId,
    client_secret: clientSecret ?? undefined,
  });
  const revoke = (client: Client, token: string) =>
    app.raw('revokeProjectToken', defined(revoking(client, token)));

  it.each(['accessToken', 'refreshToken'] as const)('accepts its %s', async (which) => {
    const tokens = await exchange(secretApp);
    expect((await revoke(secretApp, tokens[which])).data).toEqual({ revoked: 1 });
    expect(await lives(tokens.accessToken)).toBe(false);
    expect((await asJson(refreshing(secretApp, tokens.refreshToken))).code).toBe('INVALID_TOKEN');
    expect((await eventsOf(owner.account.id)).at(-1)).toBe('session.revoked');
    expect((await logOf(projectId())).at(-1)).toEqual(['revokeProjectToken', 'success', null, null]);
    expect((await revoke(secretApp, tokens[which])).data).toEqual({ revoked: 0 });
  });

  it('accepts an expired token, too', async () => {
    const { accessToken, refreshToken } = await exchange(publicApp);
    app.clock.advance(901_000);
    expect((await revoke(publicApp, accessToken)).data).toEqual({ revoked: 1 });
    app.clock.advance(-901_000);
    expect((await asJson(refreshing(publicApp, refreshToken))).code).toBe('INVALID_TOKEN');
  });

  it('answers a form with an empty object, whatever the token is', async () => {
    const { refreshToken } = await exchange(publicApp);
    for (const token of [refreshToken, refreshToken, 'nonsense']) {
      const fields = { ...revoking(publicApp, token), token_type_hint: 'refresh_token' };
      const answer = await asForm(fields, {}, REVOKE);
      expect([answer.statusCode, answer.body]).toEqual([200, '{}']);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    }
    const missing = await asForm({ client_id: publicApp.clientId }, {}, REVOKE);
    expect(missing.json()).toMatchObject({ error: 'invalid_request' });
  });

  it('is refused for other clients', async () => {
    const mine = await exchange(secretApp);
    const person = await participant();
    for (const token of [mine.accessToken, mine.refreshToken]) {
      expect((await revoke(publicApp, token)).data).toEqual({ revoked: 0 });
      const unproven = { ...revoking(secretApp, token), client_secret: undefined };
      expect((await app.raw('revokeProjectToken', defined(unproven))).code).toBe('UNAUTHENTICATED');
    }
    for (const token of [person.token, person.refreshToken]) {
      expect((await revoke(publicApp, token)).data).toEqual({ revoked: 0 });
    }
    expect(await lives(mine.accessToken)).toBe(true);
    expect((await app.call('me', {}, { token: person.token })).ok).toBe(true);
  });
});

describe('who signed in', () => {
  it('is answered whatever other parameters are sent', async () => {
    const { accessToken } = await exchange(publicApp);
    const ask = async (query: string) =>
      app.server.inject({
        url: `/api/auth/project/user-info${query}`,
        headers: { authorization: `Bearer ${accessToken}` },
      });
    expect((await ask('?schema=openid&access_token=x')).statusCode).toBe(200);
    expect((await ask('?a=1&a=2')).json()).toMatchObject({ details: [{ path: 'a', code: 'duplicate' }] });
  });

  it('is answered to the app without an envelope, and without unknown claims', async () => {
    const { accessToken: token } = await exchange(publicApp, owner, { scopes: [] });
    const answer = await app.raw('projectUserInfo', {}, { token });
    expect(answer.data).toEqual({
      sub: owner.userId,
      name: owner.email.split('@')[0],
      email: owner.email,
      email_verified: true,
      updated_at: expect.any(Number) as number,
    });
    await app.must('updateMe', { locale: 'de', name: 'Ada' }, as);
    expect((await app.raw('projectUserInfo', {}, { token })).data).toMatchObject({
      name: 'Ada',
      locale: 'de',
    });
  });

  it('is refused for other tokens', async () => {
    const key = await app.must('createApiKey', { scope }, as);
    const { clientId, scope: of } = key;
    const clientSecret = key.clientSecret as string;
    const { accessToken } = await app.must('exchangeApiKey', { clientId, clientSecret, scope: of });
    for (const token of [owner.token, accessToken]) {
      expect((await app.raw('projectUserInfo', {}, { token })).code).toBe('FORBIDDEN');
    }
    expect((await app.raw('projectUserInfo', {})).code).toBe('UNAUTHENTICATED');
  });
});

it('a sign-in to an app sends no new-network notification, and does not make a network known', async () => {
  const person = await participant();
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const fields = await grant(publicApp, person);
  expect((await app.raw('projectToken', defined(fields), from('198.51.100.7'))).ok).toBe(true);
  const { email: providerId, password } = person;
  const reported = async () => {
    await app.app.flushMails();
    const { items } = await app.must('myNotifications', {}, { token: person.token });
    return items.map(({ type, body }) => [type, body?.includes('198.51.100.7')]);
  };
  expect(await reported()).toEqual([]);
  await app.must(
    'login',
    { provider: 'email', providerId, providerData: { password } },
    from('198.51.100.7'),
  );
  expect(await reported()).toEqual([['new_sign_in', true]]);
});
