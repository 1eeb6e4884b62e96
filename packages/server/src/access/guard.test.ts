import { describe, expect, it } from 'vitest';
import { DoorwardError } from '../errors.ts';
import type { Principal } from '../kernel/context.ts';
import { createRequestWork } from '../kernel/request-work.ts';
import type { ScopeAndRights } from '../kernel/stages.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { indexPermissions, type Grants, type HeldPermission } from '@doorward/decision/evaluate';
import { unknownSubject } from './grants/grants.ts';
import { assertRecentSignIn, createGuard, isRecent } from './guard.ts';

/** The guard alone; test/contract/guards.test.ts checks that it protects every operation. */
const now = new Date('2026-11-21T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const operators = { allowedCidrs: ['203.0.113.0/24'], requiresSecondFactor: true };
const guard = createGuard(
  { auth: { stepUpMaxAgeMinutes: 15 }, operators },
  {
    clock: { now: () => now },
    changes: { now: () => 0, isFresh: () => true, isTrusted: () => true },
  },
);

const nouns = new Set(['Role', 'ApiKey']);
function held(name: string, condition: unknown = null): HeldPermission {
  const [resource = '', action = ''] = name.split(':');
  const grantSource = { id: 'c', name: 'c', metadata: {} };
  return {
    permission: { id: name, name, resource, action, managementPlane: true },
    condition,
    role: grantSource,
    group: grantSource,
  };
}
const grantsOf = (...some: HeldPermission[]): Grants => ({
  ...{ membership: 'active', user: null, scope: {} },
  held: indexPermissions(some, nouns),
});
const ownDrafts = { Equals: { 'resource.status': 'draft' } };

type Given = {
  readonly grants?: Grants;
  readonly projectGrants?: Grants;
  readonly ownsAccount?: boolean;
  readonly scope?: Partial<ScopeAndRights['scope']>;
};
const match = ({
  grants = grantsOf(),
  projectGrants,
  ownsAccount = false,
  scope = {},
}: Given = {}): ScopeAndRights => ({
  scope: {
    ...{ tenant: 'account', id: 'a', nodeId: 'a', parentId: null, accountId: 'a', organizationId: null },
    ...{ projectId: null, userId: null, level: 'account', userInProject: true, accountType: 'organization' },
    ...{ grant: null, organizationMetadata: null },
    rootId: 'a',
    requireMfa: false,
    supportAccess: true,
    enforcedDomains: [],
    isSuspended: false,
    ...scope,
  },
  rights: {
    ...{ grants, subject: { ...unknownSubject, ownsAccount }, keyRoleId: null },
    ...(projectGrants && { projectGrants }),
  },
});

const op = (more: Partial<NamedOperation> = {}): NamedOperation =>
  ({
    name: 'x',
    access: 'Role:Query',
    kind: 'query',
    stepUp: false,
    ...more,
  }) as NamedOperation;
const person = (more: Partial<Principal> = {}): Principal =>
  ({
    ...{ type: 'session', userId: 'u', emailVerified: true, acr: 'aal1', authenticatedAt: minutesAgo(1) },
    ...more,
  }) as Principal;

/** 'passes', or the code of the refusal with its reason. */
function outcome(act: () => unknown): string {
  try {
    act();
    return 'passes';
  } catch (error) {
    if (!(error instanceof DoorwardError)) throw error;
    return [error.code, error.extras.reason].filter(Boolean).join(' ');
  }
}
const hint = (act: () => unknown): string | undefined => {
  try {
    act();
  } catch (error) {
    if (error instanceof DoorwardError) return error.extras.fix;
  }
  return undefined;
};

describe('who may enter a scope', () => {
  const enter = (given: ScopeAndRights | null, more: Partial<NamedOperation> = {}) =>
    outcome(() => guard.assertCanEnter(op(more), given, { address: '198.51.100.7', isSelfService: false }));
  const stranger: Grants = { ...grantsOf(), membership: 'outside' };
  const keeper = grantsOf(held('ApiKey:CreateForUser'));

  it.each<[string, ScopeAndRights | null, string]>([
    ['a member', match(), 'passes'],
    [
      'an inactive member; the decision refuses them later',
      match({ grants: { ...grantsOf(), membership: 'inactive' } }),
      'passes',
    ],
    ['no one to an unknown scope', null, 'FORBIDDEN INVALID_SCOPE'],
    ['no stranger', match({ grants: stranger }), 'FORBIDDEN INVALID_SCOPE'],
    [
      'no one to the scope of an unknown user',
      match({ scope: { userInProject: false } }),
      'FORBIDDEN INVALID_SCOPE',
    ],
    [
      'a caller who may create keys for others gets NOT_FOUND',
      match({ scope: { userInProject: false }, projectGrants: keeper }),
      'NOT_FOUND',
    ],
    [
      'a caller who may create only their own keys does not',
      match({ scope: { userInProject: false }, projectGrants: grantsOf(held('ApiKey:Create')) }),
      'FORBIDDEN INVALID_SCOPE',
    ],
    [
      'nor does a caller who may create other things for users',
      match({ scope: { userInProject: false }, projectGrants: grantsOf(held('Role:CreateForUser')) }),
      'FORBIDDEN INVALID_SCOPE',
    ],
  ])('%s', (_, given, expected) => {
    expect(enter(given)).toBe(expected);
    expect(enter(given, { admits: ['outsider'] })).toBe('passes');
  });
});

describe('the permission', () => {
  const permit = (grants: Grants) => {
    let answer: boolean | undefined;
    const came = outcome(() => (answer = guard.permit(op(), match({ grants }).rights)));
    return answer ?? came;
  };

  it.each<[string, Grants, unknown]>([
    ['is held', grantsOf(held('Role:Query')), true],
    ['is held under a condition: the row will tell', grantsOf(held('Role:Query', ownDrafts)), false],
    ['is not held', grantsOf(held('Role:Create')), 'FORBIDDEN NO_PERMISSION'],
    ['is of another noun', grantsOf(held('ApiKey:Query')), 'FORBIDDEN NO_PERMISSION'],
    [
      'is held by one who may not act',
      { ...grantsOf(held('Role:Query')), membership: 'inactive' },
      'FORBIDDEN SUBJECT_INACTIVE',
    ],
    [
      'is not consented to',
      { ...grantsOf(held('Role:Query')), consented: new Set() },
      'FORBIDDEN SCOPE_NOT_CONSENTED',
    ],
  ])('%s', (_, grants, expected) => {
    expect(permit(grants)).toEqual(expected);
  });

  it('comes with a hint where an administrator can help', () => {
    expect(hint(() => guard.permit(op(), match().rights))).toContain('administrator');
    const inactive = match({ grants: { ...grantsOf(), membership: 'inactive' } });
    expect(hint(() => guard.permit(op(), inactive.rights))).toBeUndefined();
  });

  it.each<[string, Grants, Record<string, unknown>, string]>([
    ['met by the row', grantsOf(held('Role:Query', ownDrafts)), { status: 'draft' }, 'passes'],
    [
      'not met by the row',
      grantsOf(held('Role:Query', ownDrafts)),
      { status: 'final' },
      'FORBIDDEN CONDITION_NOT_MET',
    ],
    ['not held', grantsOf(held('Role:Create')), { status: 'draft' }, 'FORBIDDEN NO_PERMISSION'],
  ])('with a row: %s', (_, grants, attributes, expected) => {
    expect(
      outcome(() => guard.permitRow(op(), match({ grants }).rights, attributes, createRequestWork())),
    ).toBe(expected);
  });
});

describe('the gates', () => {
  const gates = (
    principal: Partial<Principal>,
    more: Partial<NamedOperation> = {},
    given: Given | null = {},
  ) => outcome(() => guard.assertSessionGates(op(more), person(principal), given && match(given)));
  const strict = { scope: { requireMfa: true } };
  const own = { ownsAccount: true, scope: { accountType: 'personal' as const } };

  it.each<[string, Partial<Principal>, Partial<NamedOperation>, Given | null, string]>([
    ['a verified user', {}, {}, {}, 'passes'],
    ['an unverified user', { emailVerified: false }, {}, {}, 'EMAIL_VERIFICATION_REQUIRED'],
    ['an unverified owner of a personal account', { emailVerified: false }, {}, own, 'passes'],
    [
      'an unverified user in the personal account of another',
      { emailVerified: false },
      {},
      { ...own, ownsAccount: false },
      'EMAIL_VERIFICATION_REQUIRED',
    ],
    [
      'nor in one of an organization',
      { emailVerified: false },
      {},
      { ownsAccount: true },
      'EMAIL_VERIFICATION_REQUIRED',
    ],
    ['nor is it asked where no permission is', { emailVerified: false }, { access: 'session' }, {}, 'passes'],
    ['or no scope', { emailVerified: false }, {}, null, 'passes'],
    ['a change where a second factor is wanted', {}, { kind: 'mutation' }, strict, 'MFA_REQUIRED'],
    ['with one', { acr: 'aal2' }, { kind: 'mutation' }, strict, 'passes'],
    ['a question there', {}, { kind: 'query' }, strict, 'passes'],
    ['a change elsewhere', {}, { kind: 'mutation' }, {}, 'passes'],
    ['step-up, soon after the sign-in', { authenticatedAt: minutesAgo(15) }, { stepUp: true }, {}, 'passes'],
    ['step-up, too late', { authenticatedAt: minutesAgo(15.1) }, { stepUp: true }, {}, 'STEP_UP_REQUIRED'],
    [
      'step-up without a scope',
      { authenticatedAt: minutesAgo(16) },
      { stepUp: true },
      null,
      'STEP_UP_REQUIRED',
    ],
    ['late, where none is asked', { authenticatedAt: minutesAgo(16) }, {}, {}, 'passes'],
  ])('%s', (_, principal, more, given, expected) => {
    expect(gates(principal, more, given)).toBe(expected);
  });

  it('apply to sessions only, because keys and apps cannot sign in again', () => {
    const key = { type: 'ApiKey', emailVerified: false, authenticatedAt: null } as const;
    expect(gates(key, { kind: 'mutation', stepUp: true }, strict)).toBe('passes');
    expect(outcome(() => assertRecentSignIn(person(key), 15, now))).toBe('passes');
  });

  it('hint how to verify an address', () => {
    expect(hint(() => guard.assertSessionGates(op(), person({ emailVerified: false }), match()))).toContain(
      'mail',
    );
  });
});

it('a sign-in is recent up to the limit, and always if the limit is 0', () => {
  expect(isRecent(minutesAgo(15), 15, now)).toBe(true);
  expect(isRecent(new Date(minutesAgo(15).getTime() - 1), 15, now)).toBe(false);
  expect(isRecent(null, 15, now)).toBe(false);
  expect(isRecent(null, 0, now)).toBe(true);
  expect(isRecent(minutesAgo(1e6), 0, now)).toBe(true);
});

it('a sign-in in the future is recent up to the tolerated difference of clocks', () => {
  expect(isRecent(minutesAgo(-1), 15, now)).toBe(true);
  expect(isRecent(new Date(minutesAgo(-1).getTime() + 1), 15, now)).toBe(false);
});

describe('which related rows a caller may see', () => {
  const related = (grants: Grants) =>
    guard.permitRelated(
      { name: 'roles', relation: { to: () => ({ name: 'Role' }) } } as never,
      match({ grants }).rights,
      createRequestWork(),
    );

  it('all, with the permission', () => {
    expect(related(grantsOf(held('Role:Query')))).toBeNull();
  });

  it('those that meet its condition', () => {
    const isVisible = related(grantsOf(held('Role:Query', ownDrafts)));
    expect(isVisible?.({ status: 'draft' })).toBe(true);
    expect(isVisible?.({ status: 'sent' })).toBe(false);
    expect(isVisible?.({})).toBe(false);
  });

  it('none without it, and the refusal names the relation and the permission', () => {
    const refused = () => related(grantsOf(held('ApiKey:Query')));
    expect(outcome(refused)).toBe('FORBIDDEN NO_PERMISSION');
    expect(hint(refused)).toMatch(/Leave roles out.*Role:Query/);
    try {
      refused();
    } catch (error) {
      expect((error as DoorwardError).extras.details).toEqual([
        { path: 'relations.roles', code: 'not_allowed' },
      ]);
    }
    expect.assertions(3);
  });
});
