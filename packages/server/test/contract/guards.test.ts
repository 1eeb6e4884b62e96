import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { builtIns } from '../../src/access/built-in.ts';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import type { ScopeRef, Tenant } from '../../src/kernel/scope.ts';
import { declaredPermissions, operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { portion } from '../support/cases/breadth.ts';
import { transports, type Answer, type CallOptions, type Via } from '../support/app/client.ts';
import { idMembers, nameableTenants, sampleInput } from './sample.ts';
import {
  digest,
  house,
  joined,
  keyToken,
  member,
  nounOf,
  nowhere,
  type House,
  isOfInstallation,
} from './world.ts';

/**
 * Which callers are refused, and that a refusal discloses nothing. Generated from the declarations, so that a new
 * operation is covered without a test of its own. All requests carry the same request id, so that equal responses are
 * byte-identical.
 */

/** Authorization §9 and conventions §13: everything else needs a token. */
const publicRoutes = new Set([
  'POST /api/auth/login',
  'POST /api/auth/register',
  'POST /api/auth/passkey/options',
  'POST /api/auth/passkey',
  // The token of the link that the service prints authenticates the request (identity §1).
  'POST /api/auth/first-user',
  'POST /api/auth/refresh',
  'POST /api/auth/logout',
  'POST /api/auth/verify-email',
  'POST /api/auth/resend-verification',
  'POST /api/auth/request-password-reset',
  'POST /api/auth/reset-password',
  'POST /api/auth/token',
  'GET /api/auth/sign-in',
  'GET /api/auth/cli',
  'GET /api/auth/github',
  'GET /api/auth/github/callback',
  'GET /api/auth/github/callback/project',
  'GET /api/auth/providers',
  'GET /api/auth/providers/:key',
  'GET /api/auth/providers/:key/callback',
  'GET /api/auth/project/providers/:key',
  'POST /api/auth/providers/connect',
  'POST /api/auth/cli/confirm',
  'POST /api/auth/cli-callback',
  'POST /api/auth/device',
  'POST /api/auth/device/token',
  'GET /api/auth/project/authorize',
  // OpenID Connect Core §3.1.2.1 requires both methods.
  'POST /api/auth/project/authorize',
  'GET /api/auth/project/end-session',
  'POST /api/auth/project/end-session',
  'POST /api/auth/project/end-session/confirm',
  'GET /api/auth/project/sign-in',
  'GET /api/auth/project/github',
  'POST /api/auth/project/email/request',
  'GET /api/auth/project/email',
  'POST /api/auth/project/email/consume',
  // The ways to prove who one is, in the flow of a browser (identity §12).
  'POST /api/auth/flow/identifier',
  'POST /api/auth/flow/password',
  'POST /api/auth/flow/passkey/options',
  'POST /api/auth/flow/passkey',
  'POST /api/auth/flow/second-factor',
  'POST /api/auth/flow/email/code',
  'POST /api/auth/flow/sign-up',
  'POST /api/auth/flow/reset/request',
  'POST /api/auth/flow/reset',
  // A user with a second factor enters its code between the identity provider and consent (identity §12).
  'POST /api/auth/project/second-factor',
  'POST /api/auth/project/enrolment',
  'POST /api/auth/project/enrolment/confirm',
  'POST /api/auth/project/organization',
  'GET /api/auth/project/consent',
  'GET /api/auth/project/app-info',
  'GET /api/auth/project/consent-info',
  'POST /api/auth/project/consent/approve',
  'POST /api/auth/project/consent/deny',
  'POST /api/auth/project/token',
  // The token to be revoked authenticates the request (RFC 7009).
  'POST /api/auth/project/revoke',
  'POST /api/auth/project/introspect',
  // The token of a key or of the registration authenticates the request (RFC 7591).
  'POST /api/auth/project/register',
  'GET /api/auth/project/register/:client',
  'DELETE /api/auth/project/register/:client',
  // The device has no user yet, and the browser no session (RFC 8628).
  'POST /api/auth/project/device',
  'POST /api/auth/project/device/enter',
  'GET /api/auth/project/connections/:id',
  'GET /api/auth/connections/:id/callback',
  'GET /api/organization-invitations/:token',
  'GET /api/project-grants/offer/:token',
  'POST /api/organization-invitations/accept',
  'GET /api/pictures/:name',
  'GET /api/event-types',
  'GET /health',
  'GET /health/live',
  'GET /health/ready',
  'GET /schemas/policy-1.json',
  'GET /metrics',
  'GET /.well-known/jwks.json',
  'GET /.well-known/audit-jwks.json',
  'GET /org/:organizationId/prj/:projectId/.well-known/jwks.json',
  'GET /acc/:accountId/prj/:projectId/.well-known/jwks.json',
  // Issuer metadata (RFC 8414), at the well-known path before and after the path of the issuer.
  'GET /.well-known/oauth-authorization-server',
  'GET /.well-known/oauth-authorization-server/org/:organizationId/prj/:projectId',
  'GET /.well-known/oauth-authorization-server/acc/:accountId/prj/:projectId',
  'GET /org/:organizationId/prj/:projectId/.well-known/oauth-authorization-server',
  'GET /acc/:accountId/prj/:projectId/.well-known/oauth-authorization-server',
  // The same metadata for OpenID Connect (openid §1).
  'GET /.well-known/openid-configuration/org/:organizationId/prj/:projectId',
  'GET /.well-known/openid-configuration/acc/:accountId/prj/:projectId',
  'GET /org/:organizationId/prj/:projectId/.well-known/openid-configuration',
  'GET /acc/:accountId/prj/:projectId/.well-known/openid-configuration',
  // Metadata of AuthZEN, a function of the address alone (authzen §1).
  'GET /.well-known/authzen-configuration',
  'GET /.well-known/authzen-configuration/org/:organizationId/prj/:projectId',
  'GET /.well-known/authzen-configuration/acc/:accountId/prj/:projectId',
]);

/** Authorization §9: these need a session; a key or an app token is refused. */
const sessionOnly = (op: NamedOperation): boolean =>
  (op.path.startsWith('/api/me') && op.name !== 'myPermissions') ||
  ['deleteOrganization', 'acceptInvitation', 'rotateSigningKey', 'leaveProjectGrant', 'importUsers'].includes(
    op.name,
  ) ||
  /^(create|verify|delete)OrganizationDomain$/.test(op.name) ||
  /^(create|update|test|delete)OrganizationConnection$/.test(op.name);

const closed = operations.filter(({ access }) => access !== 'public');
const guarded = operations.filter(({ access }) => access.includes(':'));
/** The transports of an operation; in the fast suite one of them, alternating by operation. */
const viaOf = (op: NamedOperation): readonly Via[] =>
  op.only === 'rest' ? ['rest'] : portion(transports, operations.indexOf(op));

const requestId = 'guards-of-the-contract';
let app: TestApp;
/** The account of the caller. */
let alice: House;
/** The account that owns the foreign scopes and rows. */
let mallory: House;
let before: Record<string, string>;
let cases = 0;

beforeAll(async () => {
  app = await startApp();
  [alice, mallory] = [await house(app), await house(app)];
  before = await digest(app, { butDenials: true });
});
afterAll(async () => {
  process.stdout.write(`guards: ${cases} refused calls generated from ${operations.length} operations\n`);
  await app.close();
});

async function call(op: NamedOperation, input: unknown, options: CallOptions = {}): Promise<Answer> {
  cases++;
  return app.raw(op.name, input, { ...options, headers: { 'x-request-id': requestId, ...options.headers } });
}

/** Everything that a caller can observe in a response, except the clock and the counters. */
function visible({ status, headers, body }: Answer): unknown {
  const { date: _, ratelimit: __, ...others } = headers;
  return { status, headers: others, body };
}

/** The responses of the calls, by name: all of them must equal the first one. */
async function expectAlike(
  op: NamedOperation,
  via: Via,
  token: string,
  inputs: Record<string, unknown>,
): Promise<Answer> {
  let first: Answer | undefined;
  for (const [what, input] of Object.entries(inputs)) {
    const answer = await call(op, input, { via, token });
    first ??= answer;
    const differs = `${op.name} over ${via}: ${what} differs from ${Object.keys(inputs)[0]}`;
    expect(visible(answer), differs).toEqual(visible(first));
  }
  return first as Answer;
}

/** A valid input of an operation in a scope, with rows of the given account. */
function inputAt(op: NamedOperation, scope: ScopeRef, owner: House, row?: string): Record<string, unknown> {
  const place = owner.places[scope.tenant as Tenant];
  const id = row ?? place.rows[op.target?.name ?? nounOf(op)]?.live[0] ?? randomUUID();
  return sampleInput(op, scope, {
    id,
    userId: owner.person.userId,
    resourceId: place.rows['Resource']?.live[0],
  });
}

describe('public operations', () => {
  it('are those of authorization §9 and conventions §13', () => {
    const open = operations.filter(({ access }) => access === 'public');
    expect(
      open.map(({ method, path }) => `${method} ${path}`).filter((route) => !publicRoutes.has(route)),
    ).toEqual([]);
  });

  it('include no operation with a permission or a required session', () => {
    for (const op of operations) {
      if (publicRoutes.has(`${op.method} ${op.path}`)) expect(op.access, op.name).toBe('public');
      else expect(op.access, op.name).not.toBe('public');
    }
  });
});

describe('without a valid token', () => {
  const garbage = [
    'garbage',
    'a.b.c',
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`,
    'x'.repeat(9000),
  ];

  it.each(closed.map((op) => [op.name, op] as const))('%s answers 401', async (_, op) => {
    const input = sampleInput(op);
    for (const via of viaOf(op)) {
      const anonymous = await call(op, input, { via });
      expectUnauthenticated(anonymous, via, 'Bearer');
      for (const token of portion(garbage, operations.indexOf(op))) {
        expectUnauthenticated(await call(op, input, { via, token }), via, 'Bearer error="invalid_token"');
      }
    }
  });

  /** GraphQL has its own status: the response of a refused field has status 200, and so no challenge. */
  function expectUnauthenticated({ status, code, reason, headers }: Answer, via: Via, challenge: string) {
    expect([code, reason], via).toEqual(['UNAUTHENTICATED', null]);
    if (via === 'rest') expect([status, headers['www-authenticate']]).toEqual([401, challenge]);
  }

  it.each(closed.map((op) => [op.name, op] as const))(
    '%s does not look at the input first',
    async (_, op) => {
      for (const payload of portion(['{', '{"__proto__":1}', '[]', undefined], operations.indexOf(op))) {
        const url = op.path.replace(/:[A-Za-z]+/g, 'not-an-id');
        const answer = await app.server.inject({
          method: op.method,
          url: `${url}?nonsense=1`,
          ...(payload && op.method !== 'GET'
            ? { payload, headers: { 'content-type': 'application/json' } }
            : {}),
        });
        cases++;
        expect(answer.statusCode, payload).toBe(401);
      }
    },
  );
});

describe('a token of the wrong kind', () => {
  it('is refused by exactly the operations of authorization §9', () => {
    const declared = operations.filter((op) => op.sessionOnly === true || op.access === 'session');
    expect(declared.map(({ name }) => name).sort()).toEqual(
      operations
        .filter(sessionOnly)
        .map(({ name }) => name)
        .sort(),
    );
  });

  it.each(operations.filter(({ access }) => access === 'session').map((op) => [op.name, op] as const))(
    '%s answers 403 SESSION_REQUIRED to a key',
    async (_, op) => {
      for (const via of viaOf(op)) {
        const answer = await call(op, sampleInput(op), { via, token: alice.keyToken });
        expect([answer.code, answer.reason]).toEqual(['SESSION_REQUIRED', null]);
      }
    },
  );
});

describe('a caller without membership', () => {
  it.each(guarded.map((op) => [op.name, op] as const))(
    'is refused by %s as if the scope did not exist',
    async (_, op) => {
      for (const via of viaOf(op)) {
        for (const tenant of nameableTenants(op)) {
          const [reference, ...others] = Object.entries(unreachable(tenant));
          const scopes = [...(reference ? [reference] : []), ...portion(others, operations.indexOf(op), 3)];
          const inputs = Object.fromEntries(
            scopes.map(([what, scope]) => [what, inputAt(op, scope, mallory)]),
          );
          const answer = await expectAlike(op, via, alice.person.token, inputs);
          const place = `${tenant} over ${via}: ${answer.body}`;
          expect([answer.code, answer.reason], place).toEqual(['FORBIDDEN', 'INVALID_SCOPE']);
          if (via === 'rest') expect(answer.status).toBe(403);
        }
      }
    },
  );

  it.each(guarded.map((op) => [op.name, op] as const))(
    'is refused by %s with a key of another project',
    async (_, op) => {
      for (const via of viaOf(op)) {
        for (const tenant of nameableTenants(op)) {
          const own =
            tenant === 'accountProject' || tenant === 'projectUser'
              ? {}
              : { own: alice.places[tenant].scope };
          const others = {
            foreign: mallory.places[tenant].scope,
            deleted: alice.deleted[tenant],
            ...own,
          };
          const scopes = portion(Object.entries(others), operations.indexOf(op));
          const inputs = Object.fromEntries(
            [['nowhere', nowhere(tenant)] as const, ...scopes].map(([what, scope]) => [
              what,
              inputAt(op, scope, mallory),
            ]),
          );
          const answer = await expectAlike(op, via, alice.keyToken, inputs);
          // Operators act by sessions only, wherever the key belongs.
          const refusal =
            tenant === 'installation' ? ['SESSION_REQUIRED', null] : ['FORBIDDEN', 'INVALID_SCOPE'];
          expect([answer.code, answer.reason], answer.body).toEqual(refusal);
        }
      }
    },
  );

  it('cannot find out about users outside of their own project', async () => {
    const [projectId] = alice.places.projectUser.scope.id.split(':') as [string];
    for (const op of guarded.filter(({ tenants }) => tenants?.includes('projectUser'))) {
      for (const via of viaOf(op)) {
        const inputs = {
          nobody: inputAt(op, joined('projectUser', projectId, randomUUID()), alice),
          mallory: inputAt(op, joined('projectUser', projectId, mallory.person.userId), alice),
        };
        expect((await expectAlike(op, via, alice.person.token, inputs)).ok).toBe(false);
      }
    }
  });

  it('gets the same refusal from isAuthorized as from every other operation', async () => {
    const isAuthorized = operations.find(({ name }) => name === 'isAuthorized') as NamedOperation;
    for (const via of transports) {
      for (const tenant of isAuthorized.tenants ?? []) {
        for (const [what, scope] of Object.entries(unreachable(tenant))) {
          const answer = await call(isAuthorized, sampleInput(isAuthorized, scope), {
            via,
            token: alice.person.token,
          });
          expect(answer.data, `${tenant}: ${what}`).toMatchObject({
            authorized: false,
            reason: 'INVALID_SCOPE',
          });
        }
      }
    }
  });
});

/** Scopes that are visible to their owners alone, and one that never existed. */
function unreachable(tenant: Tenant): Record<string, ScopeRef> {
  const foreign = mallory.places[tenant].scope;
  const own = alice.places[tenant].scope;
  const scopes: Record<string, ScopeRef> = {
    'a scope that never existed': nowhere(tenant),
    'a foreign scope': foreign,
    'a foreign scope, deleted': mallory.deleted[tenant],
    'an own scope, deleted': alice.deleted[tenant],
  };
  const [ownFirst = '', ownSecond = ''] = own.id.split(':');
  const [foreignFirst = '', foreignSecond = ''] = foreign.id.split(':');
  switch (tenant) {
    case 'account':
      scopes['an organization as account'] = joined(tenant, alice.places.organization.scope.id);
      scopes['a user as account'] = joined(tenant, alice.person.userId);
      break;
    case 'organization':
      scopes['an account as organization'] = joined(tenant, alice.person.account.id);
      break;
    case 'accountProject':
    case 'organizationProject': {
      const other = tenant === 'accountProject' ? 'organizationProject' : 'accountProject';
      const [otherOwner = '', otherProject = ''] = alice.places[other].scope.id.split(':');
      scopes['own owner, foreign project'] = joined(tenant, ownFirst, foreignSecond);
      scopes['foreign owner, own project'] = joined(tenant, foreignFirst, ownSecond);
      scopes['own owner, own project of the other owner'] = joined(tenant, ownFirst, otherProject);
      scopes['the right pair under the wrong tenant'] = joined(tenant, otherOwner, otherProject);
      scopes['the pair the wrong way round'] = joined(tenant, ownSecond, ownFirst);
      scopes['own owner, no project'] = joined(tenant, ownFirst, randomUUID());
      break;
    }
    case 'projectUser':
      scopes['foreign project, own user'] = joined(tenant, foreignFirst, ownSecond);
      scopes['no project, own user'] = joined(tenant, randomUUID(), ownSecond);
      break;
    case 'installation':
      scopes['a user as installation'] = joined(tenant, alice.person.userId);
  }
  return scopes;
}

describe('a foreign row in a scope of the caller', () => {
  const naming = guarded
    .filter((op) => !isOfInstallation(op))
    .flatMap((op) => idMembers(op).map((member) => [`${op.name}.${member.name}`, op, member] as const));

  it.each(naming)(
    '%s is indistinguishable from a row that never existed',
    async (_, op, { name, noun, many, filter }) => {
      for (const tenant of nameableTenants(op)) {
        const all = absent(noun, tenant);
        // One function loads the ids beside the target for all operations, so that one id of each kind is enough.
        const ids =
          name === 'id' ? all : [...new Map(all.map((item) => [item[0].split(' of ')[0], item])).values()];
        if (ids.length === 0) continue;
        const place = alice.places[tenant];
        const existing = { resourceId: place.rows['Resource']?.live[0] };
        const target = op.target && place.rows[op.target.name]?.live[0];
        // Only the row under test is foreign, so that it alone can cause the refusal.
        if (name !== 'id' && op.target && !target) continue;
        for (const via of name !== 'id' && tenant !== op.tenants?.at(-1) ? (['rest'] as const) : viaOf(op)) {
          const inputs = Object.fromEntries(
            [['one that never was', randomUUID()] as const, ...portion(ids, operations.indexOf(op), 3)].map(
              ([what, id]) => [
                what,
                {
                  ...sampleInput(op, place.scope, { ...existing, [op.pathParameter ?? 'id']: target }),
                  [name]: many ? [id] : id,
                },
              ],
            ),
          );
          const answer = await expectAlike(op, via, alice.person.token, inputs);
          if (filter) expect(answer.data, answer.body).toMatchObject({ items: [], totalCount: 0 });
          else expect(answer.code, `${tenant} over ${via}: ${answer.body}`).toBe('NOT_FOUND');
          if (!filter && via === 'rest') expect(answer.status).toBe(404);
        }
      }
    },
  );

  it.each(naming.filter(([, , { name }]) => name === 'id'))('%s exists in the fixtures', (_, op) => {
    const noun = op.target?.name ?? nounOf(op);
    const existing = Object.values(mallory.places).flatMap(({ rows }) => rows[noun]?.live ?? []);
    expect(existing, `no rows of ${noun}: make some in test/contract/world.ts`).not.toEqual([]);
  });
});

/**
 * Ids of a noun that must be invisible in the scope: foreign rows, deleted rows, and rows of the caller in other
 * scopes.
 */
function absent(noun: string, tenant: Tenant): [string, string][] {
  const here = new Set(alice.places[tenant].rows[noun]?.live ?? []);
  const of = (owner: House, kind: 'live' | 'deleted') =>
    Object.entries(owner.places).flatMap(([where, { rows }]) =>
      (rows[noun]?.[kind] ?? []).map(
        (id) => [`${owner === alice ? 'own' : 'foreign'} ${kind} one of ${where}`, id] as [string, string],
      ),
    );
  const others = [...of(mallory, 'live'), ...of(alice, 'deleted'), ...of(alice, 'live')];
  const shown = inject('withoutTenantFilter') ? shownByWall(noun, tenant) : [];
  return others.filter(
    ([what, id]) => !here.has(id) && !shown.some((place) => what.endsWith(` of ${place}`)),
  );
}

/** Without the filter of the service, a project also reads the roles and people of its owner (decision 0018). */
function shownByWall(noun: string, tenant: Tenant): string[] {
  if (!['Role', 'Group', 'Permission', 'Resource', 'User'].includes(noun)) return [];
  if (tenant === 'organizationProject') return ['organization'];
  return tenant === 'accountProject' || tenant === 'projectUser' ? ['account'] : [];
}

describe('a member without the permission', () => {
  /** Two members with few permissions: one has a role that can only read, the other a role without permissions. */
  const readers: Partial<Record<Tenant, string>> = {};
  const nobodies: Partial<Record<Tenant, string>> = {};
  const heldByViewer = new Set(
    builtIns(declaredPermissions(operations))
      .roles.filter(({ name }) => name === 'Organization Viewer' || name === 'Project Viewer')
      .flatMap(({ groupIds }) => groupIds)
      .flatMap(
        (id) =>
          builtIns(declaredPermissions(operations)).groups.find((group) => group.id === id)?.permissionIds ??
          [],
      ),
  );
  const nameOf = new Map(
    builtIns(declaredPermissions(operations)).permissions.map(({ id, name }) => [id, name]),
  );

  beforeAll(async () => {
    const { token } = alice.person;
    readers.organization = (
      await member(app, alice.places.organization.scope.id, 'Organization Viewer')
    ).token;
    for (const tenant of ['accountProject', 'organizationProject'] as const) {
      const { scope } = alice.places[tenant];
      readers[tenant] = await keyToken(app, token, scope, roleIdOf('Project Viewer'));
      const empty = await app.must('createRole', { scope, name: 'Nothing' }, { token });
      nobodies[tenant] = await keyToken(app, token, scope, empty.id);
    }
    before = await digest(app, { butDenials: true });
  });

  it('the built-in viewer roles can only read', () => {
    const held = [...heldByViewer].map((id) => nameOf.get(id) ?? '');
    expect(held.filter((name) => !name.endsWith(':Query'))).toEqual([]);
  });

  it.each(guarded.map((op) => [op.name, op] as const))('may not %s', async (_, op) => {
    for (const [people, mayRead] of [
      [readers, true],
      [nobodies, false],
    ] as const) {
      for (const tenant of nameableTenants(op)) {
        const token = people[tenant];
        if (token === undefined) continue;
        for (const via of viaOf(op)) {
          const input = inputAt(op, alice.places[tenant].scope, alice);
          const answer = await call(op, input, { via, token });
          const expected = refusal(op, tenant, mayRead);
          expect([answer.code, answer.reason], `${tenant} over ${via}: ${answer.body}`).toEqual(expected);
          if (via === 'rest')
            expect(answer.status).toBe(expected[0] === null ? 200 : expected[0] === 'NOT_FOUND' ? 404 : 403);
          if (expected[1] === null) continue;
          // A caller without the permission is not informed whether the row exists.
          if ('id' in op.input) {
            const other = await call(op, { ...input, id: randomUUID() }, { via, token });
            expect(visible(other)).toEqual(visible(answer));
          }
        }
      }
    }
  });

  function refusal(op: NamedOperation, tenant: Tenant, mayRead: boolean): [string | null, string | null] {
    const byKey = tenant !== 'organization';
    if (byKey && op.sessionOnly === true) return ['SESSION_REQUIRED', null];
    const reads =
      op.access.endsWith(':Query') && [...heldByViewer].some((id) => nameOf.get(id) === op.access);
    if (!mayRead || !reads) return ['FORBIDDEN', 'NO_PERMISSION'];
    // No policy was applied there.
    if (op.name === 'policyVersion') return ['NOT_FOUND', null];
    return op.target && !alice.places[tenant].rows[op.target.name] ? ['NOT_FOUND', null] : [null, null];
  }
});

describe('afterwards', () => {
  it('no table has changed', async () => {
    expect(await digest(app, { butDenials: true })).toEqual(before);
  });
});
