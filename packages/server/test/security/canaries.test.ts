import { sql } from 'drizzle-orm';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { codeShown, fromBase32 } from '../support/sign-in/authenticator.ts';
import { transports, unique, type CallOptions, type Via } from '../support/app/client.ts';
import { contains, fastDigests, needlesOf } from './needles.ts';

/**
 * Plants secrets wherever the service receives, creates or is configured with one, and searches everything that it
 * writes for them: every row of every table at any time, every log line, and every response except the one that
 * returns the secret. Marker values that are not secret are searched for in the same way and must be found.
 */
const configured = {
  'the key-encryption key': randomBytes(32).toString('base64'),
  'an older key-encryption key': randomBytes(32).toString('base64'),
  'the GitHub client secret': `github-${unique()}${unique()}`,
  'the SMTP password': `smtp-${unique()}${unique()}`,
  'the token of the metrics': `metrics-${unique()}${unique()}`,
};

interface Said {
  readonly by: string;
  readonly text: string;
}
interface Canary {
  readonly name: string;
  readonly needles: readonly (string | RegExp)[];
  /** The response whose purpose is to return it. */
  readonly handedOut: Said | null;
}

let app: TestApp;
const answers: Said[] = [];
const canaries: Canary[] = [];
/** Values that are not secret, and must be found in tables, logs and responses. */
const mark = `mark${unique()}`;

function plant<S extends string | Buffer>(name: string, secret: S, handedOut: Said | null = null): S {
  if (secret.length < 6) throw new Error(`${name} was not there to plant`);
  canaries.push({ name, needles: needlesOf(secret), handedOut });
  return secret;
}
const plantPassword = (name: string): string => {
  const password = `Kestrel-${unique()}-${unique()}`;
  canaries.push({ name, needles: [...needlesOf(password), ...fastDigests(password)], handedOut: null });
  return password;
};
const plantWebhookSecret = (name: string, secret: string, handedOut: Said): void => {
  const encoded = plant(name, secret, handedOut).slice('whsec_'.length);
  plant(`the bytes of ${name}`, Buffer.from(encoded, 'base64'), handedOut);
};
const plantToken = (name: string, token: string, handedOut: Said | null): string => {
  plant(`the signature of ${name}`, token.split('.').at(-1) ?? '', handedOut);
  return plant(name, token, handedOut);
};

/** Texts that responses of this test contain, each some of them. */
interface Data {
  readonly id: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly accounts: readonly { readonly id: string }[];
  readonly items: readonly { readonly id: string; readonly name: string }[];
  readonly signIn: Data;
  readonly scope: unknown;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly factor: { readonly id: string };
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** Calls an operation and records the response with its headers and cookies. */
async function ask(name: string, input: unknown, options: CallOptions) {
  const answer = await app.raw(name, input, options);
  const said = { by: `${name} over ${options.via}`, text: answer.body + JSON.stringify(answer.headers) };
  answers.push(said);
  return { ...answer, data: answer.data as Data, said };
}
async function must(name: string, input: unknown, options: CallOptions) {
  const answer = await ask(name, input, options);
  if (!answer.ok) throw new Error(`${answer.said.by} failed: ${answer.body}`);
  return answer;
}
async function refused(name: string, input: unknown, options: CallOptions): Promise<void> {
  const { ok, said } = await ask(name, input, options);
  expect(ok, said.by).toBe(false);
}

/** From now on every version of a row is recorded as text; a `bytea` column as hex. */
async function keepEveryRow(): Promise<void> {
  const pool = app.owner;
  await pool.execute(sql`create table kept_rows (said text not null)`);
  await pool.execute(sql`create function keep_row() returns trigger language plpgsql security definer as
    $$ begin insert into kept_rows values (tg_table_name || new::text); return new; end $$`);
  for (const table of await tables()) {
    const name = sql.identifier(table);
    await pool.execute(sql`insert into kept_rows select ${table}::text || t::text from ${name} t`);
    await pool.execute(
      sql`create trigger keep_row after insert or update on ${name} for each row execute function keep_row()`,
    );
  }
}
const tables = async (): Promise<string[]> =>
  (
    await rowsOf<{ name: string }>(
      app.database.pool,
      sql`select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'kept_rows'`,
    )
  ).map(({ name }) => name);

async function createFirstUser(): Promise<void> {
  const token = plant('the token of the first user', (await app.app.issueFirstUserToken('here:4000')) ?? '');
  const password = plantPassword('the password of the first user');
  const input = { token, email: `${unique()}@example.test`, password, name: 'First' };
  const { data, said } = await must('createFirstUser', input, { via: 'rest' });
  plantToken('the access token of the first user', data.accessToken, said);
  plant('the refresh token of the first user', data.refreshToken, said);
  await refused('createFirstUser', input, { via: 'graphql' });
}

async function story(via: Via): Promise<void> {
  const anonymous = { via };
  const email = `${unique()}@example.test`;
  const password = plantPassword('the password of a registration');
  const credentials = (typed: string) => ({
    provider: 'email',
    providerId: email,
    providerData: { password: typed },
  });

  await refused(
    'register',
    { ...credentials(plant('a password too short', `Ab${unique().slice(0, 9)}`)) },
    anonymous,
  );
  const registered = await must('register', { ...credentials(password), type: 'organization' }, anonymous);
  const signedUp = via === 'rest' ? registered.data : registered.data.signIn;
  plantToken('the access token of a registration', signedUp.accessToken, registered.said);
  plant('the refresh token of a registration', signedUp.refreshToken, registered.said);
  const accountId = signedUp.accounts[0]?.id;
  const unknown = plant('a one-time token of nobody', randomBytes(32).toString('base64url'));
  await refused('verifyEmail', { token: unknown }, anonymous);
  const verification = plant('a verification token', await app.mailedToken(email));
  await must('verifyEmail', { token: verification }, anonymous);
  await refused('verifyEmail', { token: verification }, anonymous);

  await refused('login', credentials(plantPassword('a mistyped password')), anonymous);
  const login = await must('login', credentials(password), anonymous);
  plantToken('an access token', login.data.accessToken, login.said);
  const first = plant('a refresh token', login.data.refreshToken, login.said);
  // Within one second the access token of a session is the same.
  app.clock.advance(2000);
  const fresh = await must(
    'refreshSession',
    { accessToken: login.data.accessToken, refreshToken: first },
    anonymous,
  );
  const token = plantToken('a renewed access token', fresh.data.accessToken, fresh.said);
  const second = plant('a renewed refresh token', fresh.data.refreshToken, fresh.said);
  await refused('refreshSession', { accessToken: token, refreshToken: `${second.slice(0, -1)}_` }, anonymous);
  await refused(
    'me',
    {},
    { via, token: plant('a token of nobody', `${token.slice(0, -30)}${unique()}${unique()}`) },
  );

  const as = { via, token };
  const next = plantPassword('a changed password');
  const wrongOne = plantPassword('a wrong current password');
  await refused('changeMyPassword', { currentPassword: wrongOne, newPassword: next }, as);
  await must('changeMyPassword', { currentPassword: password, newPassword: next }, as);

  const account = { tenant: 'account', id: accountId };
  const organization = await must('createOrganization', { scope: account, name: `Org ${mark}` }, as);
  const scope = { tenant: 'organization', id: organization.data.id };
  const roles = (await must('roles', { scope }, as)).data.items;
  const roleId = roles.find(({ name }) => name === 'Organization Viewer')?.id;
  const guest = `${unique()}@example.test`;
  await must('inviteMember', { scope, email: guest, roleId }, as);
  const invitation = plant('an invitation token', await app.mailedToken(guest));
  await must('invitation', { token: invitation }, anonymous);
  await refused('invitation', { token: unknown }, anonymous);
  const guestPassword = plantPassword('the password of an invited user');
  const registration = { name: 'Guest', password: guestPassword };
  await refused(
    'acceptInvitation',
    { token: invitation, registration: { name: '', password: guestPassword } },
    anonymous,
  );
  const accepted = await must('acceptInvitation', { token: invitation, registration }, anonymous);
  const guestSignIn = accepted.data.signIn;
  plantToken('the access token of an invited user', guestSignIn.accessToken, accepted.said);
  plant('the refresh token of an invited user', guestSignIn.refreshToken, accepted.said);

  const project = await must('createProject', { scope, name: 'Keys' }, as);
  const inProject = project.data.scope;
  const onceOnly = { ...as, headers: { 'idempotency-key': `key-${unique()}` } };
  const key = await must('createApiKey', { scope: inProject }, onceOnly);
  const clientSecret = plant('the secret of an API key', key.data.clientSecret, key.said);
  await must('createApiKey', { scope: inProject }, onceOnly);
  const confidential = {
    scope: inProject,
    name: 'App',
    redirectUris: ['https://app.example.test/'],
    confidential: true,
  };
  const oneApp = { ...as, headers: { 'idempotency-key': `app-${unique()}` } };
  const appMade = await must('createProjectApp', confidential, oneApp);
  plant('the secret of an app', appMade.data.clientSecret, appMade.said);
  await must('createProjectApp', confidential, oneApp);
  const ofApp = { scope: inProject, id: appMade.data.id };
  const another = await must('rotateProjectAppSecret', ofApp, as);
  plant('the new secret of an app', another.data.clientSecret, another.said);
  await must('projectApp', ofApp, as);
  await must('deleteProjectApp', ofApp, as);
  const hook = { scope: inProject, url: 'https://hooks.example.test/', eventTypes: ['*'] };
  const twice = { ...as, headers: { 'idempotency-key': `key-${unique()}` } };
  const webhook = await must('createWebhookSubscription', hook, twice);
  plantWebhookSecret('the secret of a webhook', webhook.data.secret, webhook.said);
  await must('createWebhookSubscription', hook, twice);
  const ofHook = { scope: inProject, id: webhook.data.id };
  const rotated = await must('rotateWebhookSecret', ofHook, as);
  plantWebhookSecret('the new secret of a webhook', rotated.data.secret, rotated.said);
  await refused('rotateWebhookSecret', ofHook, as);
  await must('testWebhookSubscription', ofHook, as);
  await must('webhookSubscription', ofHook, as);
  await must('webhookDeliveries', { scope: inProject }, as);
  const exchange = { clientId: key.data.clientId, scope: key.data.scope };
  await refused(
    'exchangeApiKey',
    { ...exchange, clientSecret: plant('a wrong key secret', `dwk_${unique()}${unique()}`) },
    anonymous,
  );
  const exchanged = await must('exchangeApiKey', { ...exchange, clientSecret }, anonymous);
  const keyToken = plantToken('an exchanged token', exchanged.data.accessToken, exchanged.said);
  await ask('tags', { scope: inProject }, { via, token: keyToken });
  await refused('me', {}, { via, token: keyToken });

  const oneFactor = { ...as, headers: { 'idempotency-key': `factor-${unique()}` } };
  const created = await must('createMfaFactor', {}, oneFactor);
  await must('createMfaFactor', {}, oneFactor);
  const { secret } = created.data;
  plant('a TOTP secret', secret, created.said);
  plant('the bytes of a TOTP secret', fromBase32(secret), created.said);
  const factorId = created.data.factor.id;
  const code = plant('a TOTP code', codeShown(secret, app.clock.now()));
  await refused(
    'verifyMfaFactor',
    { id: factorId, code: plant('a wrong code', `${1_000_000 - Number(code)}`.padStart(6, '7').slice(-6)) },
    as,
  );
  const verified = await must('verifyMfaFactor', { id: factorId, code }, as);
  plantToken('the token after a code', verified.data.accessToken, verified.said);
  const codes = verified.data.recoveryCodes;
  for (const code of codes) plant('a recovery code', code, verified.said);
  await refused('verifyMfa', { recoveryCode: plant('a wrong recovery code', unique()) }, as);
  const raised = await must('verifyMfa', { recoveryCode: codes[0] }, as);
  plantToken('the token after a recovery code', raised.data.accessToken, raised.said);
  const renewed = await must('regenerateMfaRecoveryCodes', {}, as);
  for (const recoveryCode of renewed.data.recoveryCodes)
    plant('a new recovery code', recoveryCode, renewed.said);

  await must('requestPasswordReset', { email }, anonymous);
  const reset = plant('a reset token', await app.mailedToken(email));
  await page(`/hosted/reset-password?token=${reset}`);
  await refused('resetPassword', { token: reset, newPassword: `${email} ${unique()}` }, anonymous);
  const last = plantPassword('the password of a reset');
  await refused('resetPassword', { token: unknown, newPassword: last }, anonymous);
  await must('resetPassword', { token: reset, newPassword: last }, anonymous);
  await must('logout', { refreshToken: second }, anonymous);
  // Not secret, and encoded as careless code would encode it.
  const description = Buffer.from(`. ${mark}-encoded`).toString('base64');
  const again = await must('login', credentials(last), anonymous);
  plant('the refresh token after a reset', again.data.refreshToken, again.said);
  const aal1 = plantToken('the access token after a reset', again.data.accessToken, again.said);
  const [recoveryCode] = renewed.data.recoveryCodes;
  const final = await must('verifyMfa', { recoveryCode }, { via, token: aal1 });
  const end = plantToken('the last access token', final.data.accessToken, final.said);
  const asRaised = { via, token: end };
  const tag = await must('createTag', { scope, name: `Tag ${mark}`, metadata: { description } }, asRaised);
  await must('updateTag', { scope, id: tag.data.id, name: `${via} ${mark}` }, asRaised);
  await malformed(via, plantPassword('a password in a request that is wrong'), end);
  await sabotaged(via, credentials, end);
}

async function page(url: string): Promise<void> {
  const { body, headers } = await app.server.inject({ url });
  answers.push({ by: url.split('?')[0] ?? '', text: body + JSON.stringify(headers) });
}

/** Requests whose faults a careless message would quote. */
async function malformed(via: Via, secret: string, token: string): Promise<void> {
  const json = { 'content-type': 'application/json' };
  const inputs = [
    { provider: secret, providerId: 'a@example.test', providerData: { password: secret } },
    { provider: 'email', providerId: secret, providerData: secret },
    { provider: 'email', providerId: 'a@example.test', providerData: { password: [secret] } },
    { provider: 'email', providerId: 'a@example.test', providerData: { password: secret.repeat(9) } },
  ];
  for (const input of inputs) await refused('login', input, { via });
  await refused('resetPassword', { token: { secret }, newPassword: 1 }, { via });
  await refused('logout', { refreshToken: 'x', allSessions: secret }, { via });
  const broken = [
    `{"provider":"email","providerData":{"password":"${secret}"`,
    `{"provider":"email","providerData":{"password":${secret}}}`,
    secret,
  ];
  const documents = [
    `mutation { login(input: {provider: email, "${secret}"}) { accessToken } }`,
    `mutation { login(input: {provider: email, providerId: "a@b.test", providerData: "${secret}"}) { accessToken } }`,
    `mutation { logout(input: {allSessions: "${secret}"}) { revoked } }`,
    `mutation { verifyEmail(input: {token: "${secret}") { verified } }`,
  ];
  const requests = [
    ...broken.map((payload) => ({ method: 'POST', url: '/api/auth/login', headers: json, payload }) as const),
    ...broken.map((payload) => ({ method: 'POST', url: '/graphql', headers: json, payload }) as const),
    ...documents.map((query) => ({ method: 'POST', url: '/graphql', payload: { query } }) as const),
    {
      method: 'POST',
      url: '/api/auth/login',
      headers: { 'content-type': 'text/plain' },
      payload: secret,
    } as const,
    { method: 'GET', url: `/api/auth/token?clientSecret=${secret}` } as const,
    {
      method: 'GET',
      url: `/api/me?password=${secret}`,
      headers: { authorization: `Bearer ${token}` },
    } as const,
    { method: 'GET', url: `/api/${secret}` } as const,
    { method: 'GET', url: `/api/organization-invitations/${secret}` } as const,
    { method: 'GET', url: `/graphql?query={me{${secret}}}` } as const,
    { method: 'GET', url: '/api/me', headers: { authorization: `Basic ${btoa(`ada:${secret}`)}` } } as const,
    { method: 'GET', url: '/api/me', headers: { authorization: `Bearer ${secret}` } } as const,
    { method: 'POST', url: '/api/auth/refresh', headers: { cookie: `doorward_refresh=${secret}` } } as const,
  ];
  for (const request of requests) {
    const { statusCode, body, headers } = await app.server.inject(request);
    answers.push({ by: `${request.method} ${request.url}`, text: body + JSON.stringify(headers) });
    expect(statusCode, JSON.stringify(request)).toBeLessThan(500);
    expect(body).toContain('"code":"');
  }
}

/** The database fails in the middle, with the secrets among the values of the statement. */
async function sabotaged(via: Via, credentials: (password: string) => object, token: string): Promise<void> {
  const pool = app.owner;
  const secret = plantPassword('a password while the database fails');
  const tokenOfMail = plant('a token while the database fails', randomBytes(32).toString('base64url'));
  await pool.execute(sql`alter table passwords rename to passwords_lost`);
  await pool.execute(sql`alter table one_time_tokens rename to tokens_lost`);
  try {
    await refused('login', credentials(secret), { via });
    await refused('changeMyPassword', { currentPassword: secret, newPassword: `${secret}2` }, { via, token });
    await refused('verifyEmail', { token: tokenOfMail }, { via });
    await refused('resetPassword', { token: tokenOfMail, newPassword: secret }, { via });
  } finally {
    await pool.execute(sql`alter table passwords_lost rename to passwords`);
    await pool.execute(sql`alter table tokens_lost rename to one_time_tokens`);
  }
}

const heaps: Record<string, () => Said[]> = {};
const match = (heap: readonly Said[], needles: Canary['needles'], except: Said | null = null): string[] =>
  heap.filter((said) => said !== except && contains(said.text, needles)).map(({ by }) => by);
const leaks = (heap: readonly Said[]): string[] =>
  canaries.flatMap(({ name, needles, handedOut }) =>
    match(heap, needles, handedOut).map((by) => `${name} in ${by}`),
  );

beforeAll(async () => {
  app = await startOwnApp({
    ENCRYPTION_KEY: configured['the key-encryption key'],
    ENCRYPTION_KEYS_OLD: configured['an older key-encryption key'],
    GITHUB_CLIENT_ID: 'client',
    GITHUB_CLIENT_SECRET: configured['the GitHub client secret'],
    SMTP_URL: `smtp://mailer:${configured['the SMTP password']}@127.0.0.1:2525`,
    METRICS_TOKEN: configured['the token of the metrics'],
    SECURITY_TRUSTED_PROXIES: '127.0.0.1',
  });
  for (const [name, secret] of Object.entries(configured)) {
    plant(name, secret);
    if (name.endsWith('encryption key')) plant(`the bytes of ${name}`, Buffer.from(secret, 'base64'));
  }
  await keepEveryRow();
  await createFirstUser();
  for (const via of transports) await story(via);
  const rows = await rowsOf<{ said: string }>(app.owner, sql`select said from kept_rows`);
  const kept = rows.map(({ said }) => ({ by: said.slice(0, said.indexOf('(')), text: said }));
  const logged = app.logs.map((text) => ({ by: 'a log line', text }));
  Object.assign(heaps, { tables: () => kept, logs: () => logged, answers: () => answers });
});
afterAll(() => app.close());

describe('the search', () => {
  test('has secrets of every kind, and much text', async () => {
    expect(new Set(canaries.map(({ name }) => name)).size).toBeGreaterThan(40);
    for (const heap of Object.values(heaps)) expect(heap().length).toBeGreaterThan(100);
    const kept = new Set(heaps['tables']?.().map(({ by }) => by));
    const used = ['passwords', 'sessions', 'mails', 'one_time_tokens', 'mfa_factors', 'mfa_recovery_codes'];
    for (const table of [...used, 'api_key_secrets', 'idempotency_keys', 'audit_log', 'events']) {
      expect([...kept], table).toContain(table);
    }
    expect(await tables()).toEqual(expect.arrayContaining([...kept]));
  });

  test('finds the marker values', () => {
    const tablesWith = new Set(match(heaps['tables']?.() ?? [], needlesOf(mark)));
    for (const table of ['organizations', 'tags', 'events', 'audit_log'])
      expect([...tablesWith]).toContain(table);
    expect(match(heaps['tables']?.() ?? [], needlesOf(`${mark}-encoded`))).toContain('tags');
    expect(match(heaps['answers']?.() ?? [], needlesOf(mark))).toContain('createOrganization over graphql');
    const route = needlesOf('/api/auth/reset-password');
    expect(match(heaps['logs']?.() ?? [], route).length).toBeGreaterThan(0);
    expect(match(heaps['logs']?.() ?? [], needlesOf('INTERNAL_ERROR')).length).toBeGreaterThan(0);
  });

  test('finds every secret in the response that returns it', () => {
    for (const { name, needles, handedOut } of canaries) {
      // The bytes of a secret that is shown as text are not in that text.
      if (handedOut && !name.includes('bytes')) expect(contains(handedOut.text, needles), name).toBe(true);
    }
  });

  test.each(['utf8', 'hex', 'base64', 'base64url'] as const)('finds what was written as %s', (encoding) => {
    for (const before of ['', '.', '..', '...']) {
      const text = Buffer.from(`${before}Kestrel-1234567890${before}`).toString(encoding);
      expect(contains(`x "${text}"`, needlesOf('Kestrel-1234567890')), text).toBe(true);
      expect(contains(`x "${text}"`, needlesOf('Kestrel-1234867890')), text).toBe(false);
    }
  });
});

test.each(['tables', 'logs', 'answers'])('no secret is in the %s', (heap) => {
  expect(leaks(heaps[heap]?.() ?? [])).toEqual([]);
});
