import { fail, type DecisionReason, type DoorwardError } from '../errors.ts';
import type { Principal } from '../kernel/context.ts';
import type { Guard } from '../kernel/stages.ts';
import type { Clock } from '../kernel/ports.ts';
import { permissionOf } from '../kernel/related.ts';
import { unknownScope } from '../kernel/scope.ts';
import { createCallerWatch, type Heard } from './caller-watch.ts';
import { preliminary, evaluate, type Question } from './evaluate.ts';

/** Where a decision becomes a refusal. The decision itself is `evaluate`, for guarded operations too. */

const forbidden = (reason: DecisionReason): DoorwardError =>
  fail('FORBIDDEN', { reason, ...(fixes[reason] ? { fix: fixes[reason] } : {}) });

const fixes: Partial<Record<DecisionReason, string>> = {
  NO_PERMISSION: 'Ask an administrator of this scope for a role that holds the permission.',
};

const questionOf = (permission: string): Question => {
  const [resource = '', action = ''] = permission.split(':');
  return { resource, action };
};

export function createGuard(options: {
  readonly stepUpMaxAgeMinutes: number;
  readonly clock: Clock;
  readonly changes: Heard;
}): Guard {
  const { stepUpMaxAgeMinutes, clock, changes } = options;
  return {
    watch: createCallerWatch(changes),

    enter(op, _principal, found) {
      if (op.asksOnly) return;
      if (!found || found.rights.grants.standing === 'outside') throw unknownScope();
      const { scope, rights } = found;
      if (scope.userInProject) return;
      // Only who may make keys for others is told that there is no such user in the project.
      const grants = rights.projectGrants;
      const may = grants && evaluate(grants, { resource: 'ApiKey', action: 'CreateForUser' }).authorized;
      throw may ? fail('NOT_FOUND') : unknownScope();
    },

    permit(op, { grants }) {
      const decision = preliminary(grants, questionOf(op.access));
      if (decision === 'conditional') return false;
      if (!decision.authorized) throw forbidden(decision.reason);
      return true;
    },

    permitRow(op, { grants }, attributes) {
      const decision = evaluate(grants, { ...questionOf(op.access), attributes });
      if (!decision.authorized) throw forbidden(decision.reason);
    },

    permitRelated({ name, relation }, { grants }) {
      const permission = permissionOf(relation);
      const question = questionOf(permission);
      const decision = preliminary(grants, question);
      if (decision === 'conditional')
        return (row) => evaluate(grants, { ...question, attributes: row }).authorized;
      if (decision.authorized) return null;
      throw fail('FORBIDDEN', {
        reason: decision.reason,
        details: [{ path: `relations.${name}`, code: 'not_allowed' }],
        fix: `Leave ${name} out, or ask an administrator of this scope for a role that holds ${permission}.`,
      });
    },

    gates(op, principal, found) {
      if (principal.type !== 'session') return;
      if (found && op.access.includes(':')) {
        const { scope, rights } = found;
        const own = scope.accountType === 'personal' && rights.standing.ownsAccount;
        if (!principal.emailVerified && !own) {
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

/** @throws STEP_UP_REQUIRED when a session signed in too long ago; keys and apps have nobody to ask (identity §6) */
export function assertRecentSignIn(principal: Principal, maxAgeMinutes: number, now: Date): void {
  if (principal.type !== 'session') return;
  if (!isRecent(principal.authenticatedAt, maxAgeMinutes, now)) throw fail('STEP_UP_REQUIRED');
}

/** By so much clocks of processes may differ. */
const SKEW_MS = 60_000;

/**
 * Whether a sign-in at this time satisfies a step-up; 0 minutes: any does. One that lies ahead was dated by a clock that
 * was set back since: how long ago it was nobody knows.
 */
export function isRecent(authenticatedAt: Date | null, maxAgeMinutes: number, now: Date): boolean {
  const age = now.getTime() - (authenticatedAt?.getTime() ?? 0);
  return maxAgeMinutes === 0 || (age >= -SKEW_MS && age <= maxAgeMinutes * 60_000);
}
