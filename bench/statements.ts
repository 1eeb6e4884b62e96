import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../src/app.ts';
import { loadConfig } from '../src/config.ts';
import { openEmbedded, openPostgres } from '../src/db/open.ts';
import type { Mail } from '../src/kernel/ports.ts';
import { createLog } from '../src/log.ts';
import { newKey, newProject, type Post } from './fill.ts';
import { ENVIRONMENT } from './setting.ts';

/** How many statements a call sends to the database when it comes for the second time, as most calls do. */
export interface StatementCount {
  readonly operation: string;
  readonly statements: number;
  /** Of these: begin, commit, and whatever else is sent but to open and close a transaction. */
  readonly framing: number;
  readonly most?: number;
}

const FRAMING = /^(begin|commit|savepoint|release|set |select set_config)/i;

/** In a process of the caller, so that statements are heard; `url` null: on the embedded database. */
export async function countStatements(url: string | null): Promise<StatementCount[]> {
  const heard: string[] = [];
  const onStatement = (text: string): void => void heard.push(text);
  const dataDir = await mkdtemp(join(tmpdir(), 'doorward-statements-'));
  const config = loadConfig({
    ...ENVIRONMENT,
    DATA_DIR: dataDir,
    JOBS_ENABLED: 'false',
    METRICS_ENABLED: 'false',
  });
  const limits = {
    poolMax: 2,
    acquireTimeoutMs: 5000,
    maxWaitMs: 5000,
    statementTimeoutMs: 60_000,
    onIdleError: () => undefined,
  };
  const database =
    url === null
      ? await openEmbedded(null, undefined, onStatement)
      : openPostgres({ url, ...limits, onStatement });
  const mails: Mail[] = [];
  const app = await createApp({
    config,
    database,
    migrations: join(import.meta.dirname, '..', 'migrations'),
    version: 'bench',
    log: createLog({ level: 'silent', pretty: false, write: () => undefined }),
    mailer: { send: async (mail) => void mails.push(mail) },
  });

  async function call<D>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    with_: Asked = {},
  ): Promise<D> {
    const { token, body, query } = with_;
    const reply = await app.server.inject({
      method,
      url: path,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      ...(query === undefined ? {} : { query: { ...query } }),
    });
    if (reply.statusCode >= 400)
      throw new Error(`${method} ${path} answered ${reply.statusCode}: ${reply.body}`);
    return reply.json<{ data: D }>().data;
  }

  const counts: StatementCount[] = [];
  let known: (() => Promise<unknown>) | undefined;
  async function counted(operation: string, work: () => Promise<unknown>, most?: number): Promise<void> {
    await work();
    await app.flushMails();
    // What a write made stale is read again by whoever comes first, and is not the next one's cost.
    await known?.();
    const before = heard.length;
    await work();
    const sent = heard.slice(before);
    const framing = sent.filter((text) => FRAMING.test(text)).length;
    counts.push({ operation, statements: sent.length, framing, ...(most === undefined ? {} : { most }) });
    await app.flushMails();
  }

  try {
    const email = 'ada@example.test';
    const password = 'three-lanterns-in-the-harbour';
    const credentials = { provider: 'email', providerId: email, providerData: { password } };
    const signedUp = await call<{ accessToken: string; user: { id: string }; accounts: { id: string }[] }>(
      'POST',
      '/api/auth/register',
      { body: { ...credentials, type: 'organization' } },
    );
    await app.flushMails();
    const mailed = /[?&]token=([A-Za-z0-9_-]{43})/.exec(mails[0]?.text ?? '')?.[1];
    await call('POST', '/api/auth/verify-email', { body: { token: mailed } });
    const token = signedUp.accessToken;
    const post: Post = (path, body) => call('POST', `/api/${path}`, { token, body });
    const account = { tenant: 'account', id: signedUp.accounts[0]?.id ?? '' };
    const organization = await post('organizations', { scope: account, name: 'Counted' });
    const ada = { userId: signedUp.user.id, organizationId: organization.id };
    const project = await newProject(post, ada, 'Counted');
    const { scope, groupId, tagId } = project;
    for (let n = 0; n < 50; n++)
      await post('roles', { scope, name: `Role ${n}`, groupIds: [groupId], tagIds: [tagId] });
    const key = await newKey(post, project);
    const at = { tenant: scope.tenant, scopeId: scope.id };
    const asked = { permission: { resource: 'invoice', action: 'list' }, scope };
    known = () => post('auth/is-authorized', asked);
    let tokens = await call<Tokens>('POST', '/api/auth/login', { body: credentials });

    await counted('isAuthorized', () => post('auth/is-authorized', asked), 0);
    await counted(
      'isAuthorizedBatch, 100 questions',
      () => {
        const items = Array.from({ length: 100 }, () => ({ permission: asked.permission }));
        return post('auth/is-authorized/batch', { items, scope });
      },
      0,
    );
    await counted('myPermissions', () => call('GET', '/api/me/permissions', { token, query: at }));
    await counted('exchangeApiKey, alone', () => call('POST', '/api/auth/token', { body: key }), 3);
    const together = 20;
    const before = { all: heard.length };
    await Promise.all(Array.from({ length: together }, () => call('POST', '/api/auth/token', { body: key })));
    const shared = heard.slice(before.all);
    counts.push({
      operation: `exchangeApiKey, each of ${together} at once`,
      statements: shared.length / together,
      framing: shared.filter((text) => FRAMING.test(text)).length / together,
      most: 3,
    });
    await counted('refreshSession', async () => {
      const { accessToken, refreshToken } = tokens;
      tokens = await call<Tokens>('POST', '/api/auth/refresh', { body: { accessToken, refreshToken } });
    });
    await counted('login', () => call('POST', '/api/auth/login', { body: credentials }));
    await counted('me', () => call('GET', '/api/me', { token }));
    const relations = 'groups,tags';
    await counted(
      'roles, 50 with two relations',
      () => call('GET', '/api/roles', { token, query: { ...at, relations } }),
      4,
    );
    const select = '{ items { id groups { id } tags { id } } totalCount }';
    const query = `query ($input: RolesInput!) { roles(input: $input) ${select} }`;
    await counted(
      'roles, the same over GraphQL',
      () => call('POST', '/graphql', { token, body: { query, variables: { input: { scope } } } }),
      4,
    );
    await counted(
      'users, 50 with two relations',
      () => call('GET', '/api/users', { token, query: { ...at, relations: 'roles,tags' } }),
      4,
    );
    await counted('role, with two relations', () =>
      call('GET', `/api/roles/${project.roleId}`, { token, query: { ...at, relations } }),
    );
    await counted(
      'createRole, with a group and a tag',
      () => post('roles', { scope, name: 'Made', groupIds: [groupId], tagIds: [tagId] }),
      8,
    );
    let renamed = 0;
    await counted('updateRole', () =>
      call('PATCH', `/api/roles/${project.roleId}`, { token, body: { scope, name: `Renamed ${renamed++}` } }),
    );
    await counted('updateGroup, its permissions', async () => {
      const permissionIds = renamed++ % 2 ? [] : [project.permissionId];
      await call('PATCH', `/api/groups/${groupId}`, { token, body: { scope, permissionIds } });
    });
    await counted('createApiKey', () => newKey(post, project));
    const made = await Promise.all([post('tags', { scope, name: 'a' }), post('tags', { scope, name: 'b' })]);
    await counted('deleteTag', () => call('DELETE', `/api/tags/${made.pop()?.id}`, { token, query: at }));
    await counted('createProject', () =>
      post('projects', { scope: { tenant: 'organization', id: ada.organizationId }, name: 'P' }),
    );
    await counted('auditLogs', () => call('GET', '/api/audit-logs', { token, query: at }));
    return counts;
  } finally {
    await app.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Asked {
  readonly token?: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}
