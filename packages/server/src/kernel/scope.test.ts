import { describe, expect, it } from 'vitest';
import {
  canonicalTenant,
  nodeRef,
  pascalTenant,
  Scope,
  ScopeOutput,
  tenants,
  tenantSpellings,
  unknownScope,
  type ResolvedScope,
} from './scope.ts';

const a = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const b = '7f000000-0000-7000-8000-00000000000b';

describe('the tenants', () => {
  it('are five beside the installation, each of which has a second spelling', () => {
    expect(tenants).toEqual([
      'account',
      'organization',
      'accountProject',
      'organizationProject',
      'projectUser',
    ]);
    const all = [...tenants, 'installation' as const];
    expect(tenantSpellings.toSorted()).toEqual([...all, ...all.map(pascalTenant)].toSorted());
  });

  it('have one canonical form for both spellings', () => {
    for (const tenant of tenants) {
      expect(canonicalTenant(tenant)).toBe(tenant);
      expect(pascalTenant(tenant)).toBe(tenant.replace(/^./, (letter) => letter.toUpperCase()));
    }
    expect(canonicalTenant('ProjectUser')).toBe('projectUser');
    expect(canonicalTenant('OrganizationProject')).toBe('organizationProject');
  });
});

describe('the input of a scope', () => {
  const parsed = (tenant: unknown, id: unknown, more: object = {}) =>
    Scope.safeParse({ tenant, id, ...more }, { reportInput: true });

  it.each([
    ['account', a],
    ['organization', a],
    ['accountProject', `${a}:${b}`],
    ['organizationProject', `${a}:${b}`],
    ['projectUser', `${a}:${b}`],
    ['AccountProject', `${a}:${b}`],
    ['OrganizationProject', `${a}:${b}`],
    ['ProjectUser', `${a}:${b}`],
    ['installation', a],
    ['Installation', a],
  ])('%s', (tenant, id) => {
    expect(parsed(tenant, id).data).toEqual({ tenant, id });
    expect(parsed(tenant, id.toUpperCase()).data).toEqual({ tenant, id });
  });

  it.each([
    ['account', `${a}:${b}`],
    ['organization', `${a}:${b}`],
    ['accountProject', a],
    ['organizationProject', a],
    ['projectUser', a],
    ['ProjectUser', `${a}::`],
    ['account', ''],
    ['account', `x${a}`],
    ['account', `${a}x`],
    ['account', ` ${a}`],
    ['account', a.replaceAll('-', '')],
    ['account', a.slice(1)],
    ['account', a.slice(0, -1)],
    ['account', a.replace('c3d4', 'c3d')],
    ['account', a.replace('c3d4-', '')],
    ['account', a.replace('c3d4', 'g3d4')],
    ['account', a.replace('0190', 'g190')],
    ['account', a.replace('0c1d', 'gc1d')],
    ['accountProject', `${a}:`],
    ['accountProject', `:${b}`],
    ['accountProject', `${a}.${b}`],
    ['accountProject', `${a}:${b.slice(1)}`],
    ['accountProject', `${a.slice(1)}:${b}`],
  ])('%s %j is no scope, and its id is what is wrong', (tenant, id) => {
    expect(parsed(tenant, id).error?.issues).toEqual([
      { code: 'custom', path: ['id'], message: 'scope id', params: { code: 'format' }, input: id },
    ]);
  });

  it('is not longer than two ids, and has no other members', () => {
    const [issue] = parsed('account', 'x'.repeat(74)).error?.issues ?? [];
    expect(issue).toMatchObject({ code: 'too_big', path: ['id'], maximum: 73 });
    expect(parsed('account', a, { also: 1 }).error?.issues).toMatchObject([{ code: 'unrecognized_keys' }]);
    expect(parsed('account', undefined).success).toBe(false);
    for (const tenant of ['ACCOUNT', 'INSTALLATION', 'projectuser', '', undefined])
      expect(parsed(tenant, a).error?.issues, String(tenant)).toMatchObject([{ path: ['tenant'] }]);
  });
});

describe('a scope in an answer', () => {
  const resolved = (more: Partial<ResolvedScope>): ResolvedScope => ({
    ...{ tenant: 'projectUser', id: `${a}:${b}`, nodeId: a, parentId: b, userInProject: true },
    ...{ accountId: null, organizationId: null, projectId: a, userId: b, level: 'project' },
    ...{
      accountType: null,
      requireMfa: false,
      supportAccess: true,
      isSuspended: false,
      rootId: b,
      enforcedDomains: [],
    },
    ...{ grant: null, organizationMetadata: null },
    ...more,
  });

  it('names the node; for a projectUser scope, the project', () => {
    expect(nodeRef(resolved({ organizationId: 'o' }))).toEqual({
      tenant: 'organizationProject',
      id: `o:${a}`,
    });
    expect(nodeRef(resolved({ accountId: 'c' }))).toEqual({ tenant: 'accountProject', id: `c:${a}` });
    for (const tenant of tenants.filter((tenant) => tenant !== 'projectUser'))
      expect(nodeRef(resolved({ tenant, organizationId: 'o' }))).toEqual({ tenant, id: `${a}:${b}` });
  });

  it('has a tenant and an id', () => {
    expect(ScopeOutput.parse({ tenant: 'account', id: a, also: 1 })).toEqual({ tenant: 'account', id: a });
    expect(ScopeOutput.safeParse({}).success).toBe(false);
  });
});

it('an unknown scope is refused with the reason and a hint', () => {
  const { code, extras } = unknownScope();
  expect([code, extras.reason]).toEqual(['FORBIDDEN', 'INVALID_SCOPE']);
  expect(extras.fix).toContain('scope');
});
