import { fail, type DoorwardError } from '../errors.ts';
import { isBound, type Principal } from '../kernel/context.ts';
import type { CallerRights } from '../kernel/call/caller-rights.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import type { Guard } from '../kernel/stages.ts';
import type { Clock } from '../kernel/ports.ts';
import { permissionOf } from '../kernel/related.ts';
import { unknownScope } from '../kernel/scope.ts';
import { forbidden } from './caller-may.ts';
import { assertOperatorFactor, isOperatorNetwork, type OperatorRules } from './operators.ts';
import { ORGANIZATION_OWNER } from '../schema/rights/built-in-ids.ts';
import { mayBypassProvider } from './credentials/company-address.ts';
import { createCallerWatch, type WatchedChanges } from './caller-watch.ts';
import { evaluateWithoutConditions, evaluate, type Grants, type Question } from '@doorward/decision/evaluate';

const questionOf = (permission: string): Question => {
  const [resource = '', action = ''] = permission.split(':');
  return { resource, action };
};

const suspended = (): DoorwardError =>
  fail('SUSPENDED', {
    fix: 'An operator of this service suspended it; the owners got the reason by mail. You may read the organization, and leave it.',
  });

/** Whether this caller, as a member or an owner, may still use the operation while the organization is suspended. */
const remainsOpen = ({ admits = [] }: NamedOperation, { beforeSuspension, subject }: CallerRights): boolean =>
  Boolean(beforeSuspension) &&
  (admits.includes('suspended-member') ||
    (admits.includes('suspended-owner') && subject.memberRoleId === ORGANIZATION_OWNER));

const admitsSuspended = ({ admits = [] }: NamedOperation): boolean =>
  admits.includes('suspended-member') || admits.includes('suspended-owner');

const grantsFor = (op: NamedOperation, { grants, beforeSuspension }: CallerRights): Grants =>
  beforeSuspension && admitsSuspended(op) ? beforeSuspension : grants;

/**
 * Whether the organization requires its provider and the caller did not sign in through it. Operators who act for a
 * member are exempt.
 */
const mustConnect = (principal: Principal, rights: CallerRights): boolean =>
  rights.mustConnect === true && !isBound(principal) && !principal.impersonator;

const connectionRequired = (): DoorwardError =>
  fail('SSO_REQUIRED', {
    fix: 'Sign in with your address at GET /api/auth/sign-in, which leads to the provider of the organization. Owners can also enter with a second factor.',
  });

/** Whether the operation concerns the signed-in person rather than a scope. */
const isOfPerson = ({ access, sessionOnly, admits = [] }: NamedOperation): boolean =>
  !admits.includes('bound-session') && (access === 'session' || sessionOnly === true);

const ownWayRequired = (): DoorwardError =>
  fail('STEP_UP_REQUIRED', {
    fix: 'Sign in by a way of your own: through the provider of an organization you reach this organization alone.',
  });

interface GuardRules {
  readonly auth: { readonly stepUpMaxAgeMinutes: number };
  readonly operators: Pick<OperatorRules, 'allowedCidrs' | 'requiresSecondFactor'>;
}

/**
 * Creates the guard, which turns negative decisions into refusals. It decides with `evaluate`, like every other
 * decision.
 */
export function createGuard(
  { auth: { stepUpMaxAgeMinutes }, operators }: GuardRules,
  { clock, changes }: { readonly clock: Clock; readonly changes: WatchedChanges },
): Guard {
  return {
    watch: createCallerWatch(changes),

    assertConnected(principal, scopeAndRights) {
      if (principal.type !== 'session' || !mustConnect(principal, scopeAndRights.rights)) return false;
      if (!mayBypassProvider(principal, scopeAndRights.rights.subject.memberRoleId))
        throw connectionRequired();
      return true;
    },

    isOutside: ({ rights }) => rights.grants.membership === 'outside',

    assertCanEnter(op, scopeAndRights, { address, isSelfService }) {
      if (op.admits?.includes('outsider')) return;
      if (!scopeAndRights || scopeAndRights.rights.grants.membership === 'outside') throw unknownScope();
      const { scope, rights } = scopeAndRights;
      // From a network that is not allowed, an operator gets the same response as for an unknown scope, so that a
      // stolen session does not even show that it belongs to an operator.
      if (scope.level === 'installation' && !isOperatorNetwork(operators, address)) throw unknownScope();
      if (scope.isSuspended && !isSelfService && !remainsOpen(op, rights)) throw suspended();
      // False only in the `projectUser` scope of a user who is not in the project.
      if (scope.userInProject) return;
      // Only callers who may create keys for other users learn that the project has no such user.
      const grants = rights.projectGrants;
      const mayCreateKeys =
        grants && evaluate(grants, { resource: 'ApiKey', action: 'CreateForUser' }).authorized;
      throw mayCreateKeys ? fail('NOT_FOUND') : unknownScope();
    },

    permit(op, rights) {
      const decision = evaluateWithoutConditions(grantsFor(op, rights), questionOf(op.access));
      if (decision === 'conditional') return false;
      if (!decision.authorized) throw forbidden(decision.reason, op.access);
      return true;
    },

    permitRow(op, rights, attributes, work) {
      const decision = evaluate(grantsFor(op, rights), { ...questionOf(op.access), attributes }, work);
      if (!decision.authorized) throw forbidden(decision.reason, op.access);
    },

    permitRelated({ name, relation }, { grants }, work) {
      const permission = permissionOf(relation);
      const question = questionOf(permission);
      const decision = evaluateWithoutConditions(grants, question);
      if (decision === 'conditional')
        return (row) => evaluate(grants, { ...question, attributes: row }, work).authorized;
      if (decision.authorized) return null;
      throw fail('FORBIDDEN', {
        reason: decision.reason,
        details: [{ path: `relations.${name}`, code: 'not_allowed' }],
        fix: `Leave ${name} out, or ask an administrator of this scope for a role that holds ${permission}.`,
      });
    },

    assertSessionGates(op, principal, scopeAndRights) {
      if (principal.type !== 'session') return;
      if (isBound(principal) && !scopeAndRights && isOfPerson(op)) throw ownWayRequired();
      if (scopeAndRights?.scope.level === 'installation') assertOperatorFactor(operators, principal);
      if (scopeAndRights && op.access.includes(':')) {
        const { scope, rights } = scopeAndRights;
        const isOwnAccount = scope.accountType === 'personal' && rights.subject.ownsAccount;
        if (!principal.emailVerified && !isOwnAccount) {
          throw fail('EMAIL_VERIFICATION_REQUIRED', {
            fix: 'Open the link in the verification mail, or ask for a new one at POST /api/auth/resend-verification.',
          });
        }
        if (op.kind === 'mutation' && scope.requireMfa && principal.acr === 'aal1')
          throw fail('MFA_REQUIRED');
      }
      if (op.stepUp) assertRecentSignIn(principal, stepUpMaxAgeMinutes, clock.now());
    },
  };
}

/**
 * Asserts that `hasSignedInRecently` is true.
 *
 * @throws STEP_UP_REQUIRED if the sign-in of a session is too old; keys and apps can't sign in again (identity §6)
 */
export function assertRecentSignIn(principal: Principal, maxAgeMinutes: number, now: Date): void {
  if (!hasSignedInRecently(principal, maxAgeMinutes, now)) throw fail('STEP_UP_REQUIRED');
}

/** Whether the sign-in of a session is recent enough for a step-up; always true for keys and apps. */
export function hasSignedInRecently(principal: Principal, maxAgeMinutes: number, now: Date): boolean {
  if (principal.type !== 'session') return true;
  // With 0 minutes, any sign-in of the user counts, but an operator who acts for the user has not signed in as them.
  return !principal.impersonator && isRecent(principal.authenticatedAt, maxAgeMinutes, now);
}

/** The tolerated difference between the clocks of two processes. */
const SKEW_MS = 60_000;

/**
 * Whether a sign-in at this time satisfies a step-up; with 0 minutes any sign-in does. A time in the future means that
 * the clock was set back after the sign-in. Its age is then unknown, so it does not count.
 */
export function isRecent(authenticatedAt: Date | null, maxAgeMinutes: number, now: Date): boolean {
  const age = now.getTime() - (authenticatedAt?.getTime() ?? 0);
  return maxAgeMinutes === 0 || (age >= -SKEW_MS && age <= maxAgeMinutes * 60_000);
}
