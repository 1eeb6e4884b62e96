import { describe, expect, it } from 'vitest';
import { DoorwardError } from '../errors.ts';
import type { Principal } from '../kernel/context.ts';
import type { Found } from '../kernel/stages.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { indexPermissions, type Grants, type HeldPermission } from './evaluate.ts';
import { nobody } from './grants.ts';
import { assertRecentSignIn, createGuard, isRecent } from './guard.ts';

/** The guard by itself, case by case; that every operation is under it is shown in test/contract/guards.test.ts. */
const now = new Date('2026-11-21T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const guard = createGuard({
  stepUpMaxAgeMinutes: 15,
  clock: { now: () => now },
  changes: { now: () => 0, isFresh: () => true, isTrusted: () => true },
});

const nouns = new Set(['Role', 'ApiKey']);
function held(name: string, condition: unknown = null): HeldPermission {
  const [resource = '', action = ''] = name.split(':');
  const carrier = { id: 'c', name: 'c', metadata: {} };
  return {
    permission: { id: name, name, resource, action, managementPlane: true },
    condition,
    role: carrier,
    group: carrier,
  };
}
const grantsOf = (...some: HeldPermission[]): Grants => ({
  ...{ standing: 'active', user: null, scope: {} },
  held: indexPermissions(some, nouns),
});
const ownDrafts = { Equals: { 'resource.status': 'draft' } };

type Given = {
  readonly grants?: Grants;
  readonly projectGrants?: Grants;
  readonly ownsAccount?: boolean;
  readonly scope?: Partial<Found['scope']>;
};
const found = ({
  grants = grantsOf(),
  projectGrants,
  ownsAccount = false,
  scope = {},
}: Given = {}): Found => ({
  scope: {
    ...{ tenant: 'account', id: 'a', nodeId: 'a', parentId: null, accountId: 'a', organizationId: null },
    ...{ projectId: null, userId: null, level: 'account', userInProject: true, accountType: 'organization' },
    requireMfa: false,
    ...scope,
  },
  rights: {
    ...{ grants, standing: { ...nobody, ownsAccount }, keyRoleId: null },
    ...(projectGrants && { projectGrants }),
  },
});

const op = (more: Partial<NamedOperation> = {}): NamedOperation =>
  ({
    name: 'x',
    access: 'Role:Query',
    kind: 'query',
    asksOnly: false,
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
  const enter = (given: Found | null, more: Partial<NamedOperation> = {}) =>
    outcome(() => guard.enter(op(more), person(), given));
  const stranger: Grants = { ...grantsOf(), standing: 'outside' };
  const keeper = grantsOf(held('ApiKey:CreateForUser'));

  it.each<[string, Found | null, string]>([
    ['who is in it', found(), 'passes'],
    [
      'who may not act there now is refused later, by the decision',
      found({ grants: { ...grantsOf(), standing: 'inactive' } }),
      'passes',
    ],
    ['nobody where there is none', null, 'FORBIDDEN INVALID_SCOPE'],
    ['no stranger', found({ grants: stranger }), 'FORBIDDEN INVALID_SCOPE'],
    [
      'nobody for a user who is not there',
      found({ scope: { userInProject: false } }),
      'FORBIDDEN INVALID_SCOPE',
    ],
    [
      'whoever makes keys for others is told so',
      found({ scope: { userInProject: false }, projectGrants: keeper }),
      'NOT_FOUND',
    ],
    [
      'and who makes his own is not',
      found({ scope: { userInProject: false }, projectGrants: grantsOf(held('ApiKey:Create')) }),
      'FORBIDDEN INVALID_SCOPE',
    ],
    [
      'nor who creates other things for users',
      found({ scope: { userInProject: false }, projectGrants: grantsOf(held('Role:CreateForUser')) }),
      'FORBIDDEN INVALID_SCOPE',
    ],
  ])('%s', (_, given, expected) => {
    expect(enter(given)).toBe(expected);
    expect(enter(given, { asksOnly: true })).toBe('passes');
  });
});

describe('the permission', () => {
  const permit = (grants: Grants) => {
    let answer: boolean | undefined;
    const came = outcome(() => (answer = guard.permit(op(), found({ grants }).rights)));
    return answer ?? came;
  };

  it.each<[string, Grants, unknown]>([
    ['is held', grantsOf(held('Role:Query')), true],
    ['is held under a condition: the row will tell', grantsOf(held('Role:Query', ownDrafts)), false],
    ['is not held', grantsOf(held('Role:Create')), 'FORBIDDEN NO_PERMISSION'],
    ['is of another noun', grantsOf(held('ApiKey:Query')), 'FORBIDDEN NO_PERMISSION'],
    [
      'is held by one who may not act',
      { ...grantsOf(held('Role:Query')), standing: 'inactive' },
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
    expect(hint(() => guard.permit(op(), found().rights))).toContain('administrator');
    const inactive = found({ grants: { ...grantsOf(), standing: 'inactive' } });
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
    expect(outcome(() => guard.permitRow(op(), found({ grants }).rights, attributes))).toBe(expected);
  });
});

describe('the gates', () => {
  const gates = (
    principal: Partial<Principal>,
    more: Partial<NamedOperation> = {},
    given: Given | null = {},
  ) => outcome(() => guard.gates(op(more), person(principal), given && found(given)));
  const strict = { scope: { requireMfa: true } };
  const own = { ownsAccount: true, scope: { accountType: 'personal' as const } };

  it.each<[string, Partial<Principal>, Partial<NamedOperation>, Given | null, string]>([
    ['who is verified', {}, {}, {}, 'passes'],
    ['who is not', { emailVerified: false }, {}, {}, 'EMAIL_VERIFICATION_REQUIRED'],
    ['but in his own personal account', { emailVerified: false }, {}, own, 'passes'],
    [
      'and not in that of another',
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

  it('are for people: keys and apps have nobody to ask', () => {
    const key = { type: 'ApiKey', emailVerified: false, authenticatedAt: null } as const;
    expect(gates(key, { kind: 'mutation', stepUp: true }, strict)).toBe('passes');
    expect(outcome(() => assertRecentSignIn(person(key), 15, now))).toBe('passes');
  });

  it('say how to become verified', () => {
    expect(hint(() => guard.gates(op(), person({ emailVerified: false }), found()))).toContain('mail');
  });
});

it('a sign-in is recent up to its last minute, and any is if the limit is 0', () => {
  expect(isRecent(minutesAgo(15), 15, now)).toBe(true);
  expect(isRecent(new Date(minutesAgo(15).getTime() - 1), 15, now)).toBe(false);
  expect(isRecent(null, 15, now)).toBe(false);
  expect(isRecent(null, 0, now)).toBe(true);
  expect(isRecent(minutesAgo(1e6), 0, now)).toBe(true);
});

it('a sign-in of a clock that is ahead is recent by as much as clocks may differ, and no further', () => {
  expect(isRecent(minutesAgo(-1), 15, now)).toBe(true);
  expect(isRecent(new Date(minutesAgo(-1).getTime() + 1), 15, now)).toBe(false);
});
