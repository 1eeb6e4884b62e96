import { fail } from '../../errors.ts';
import type { Relation } from '../entity.ts';
import type { NamedOperation } from '../operation.ts';
import type { SelectedRelation } from '../related.ts';
import type { CallerCheck, ScopeAndRights } from '../stages.ts';
import { canonicalTenant } from '../scope.ts';
import { applies } from './applies.ts';
import { authenticatedPrincipal } from './authenticated.ts';
import { runSteps, type Steps } from './run-steps.ts';
import { hasTarget, loadTarget, type CallState } from './state.ts';

/**
 * Checks that the caller may make the call: scope, kind of token, permission, related rows, session gates. It runs
 * before every operation, and again in a call that had to wait.
 */
export function* checkAccess(state: CallState): Steps<void> {
  const { stages, op, call, input, transport, principal, requestedScope, relatedAccess } = state;
  const { guard } = stages;
  const isSelfService =
    principal?.type === 'session' &&
    op.admits?.includes('self') === true &&
    input['userId'] === principal.userId;
  if (requestedScope && principal) {
    const isOperating = canonicalTenant(requestedScope.tenant) === 'installation';
    if (isOperating && principal.type !== 'session') throw fail('SESSION_REQUIRED');
    state.resolved =
      state.peeked ?? ((yield stages.resolve(principal, requestedScope)) as ScopeAndRights | null);
    const isOutside = !state.resolved || stages.guard.isOutside(state.resolved);
    const asOwner =
      isOutside && op.admits?.includes('project-owner')
        ? ((yield stages.resolveAsOwner(principal, requestedScope)) as ScopeAndRights | null)
        : null;
    state.resolved = asOwner ?? state.resolved;
    // The cached rights may have changed by the next check.
    state.peeked = undefined;
    guard.assertCanEnter(op, state.resolved, { address: call.address, isSelfService });
    if (state.resolved && principal.impersonator) yield stages.noteEntry(principal, state.resolved.scope);
    // A project's owner who asks about a customer's scope does not queue with that customer.
    if (state.resolved && call.slot.taken && !asOwner)
      stages.noteMembership(principal, requestedScope, state.resolved);
  }
  const { scope, rights } = state.resolved ?? {};
  if (transport) [transport.scope, transport.relatedAccess] = [scope, relatedAccess];
  if (principal && principal.type !== 'session') {
    const needsSession = op.access === 'session' || applies(op.sessionOnly, input, principal);
    if (needsSession) throw fail('SESSION_REQUIRED');
  }
  if (principal?.type === 'projectApp' && op.notForApps !== undefined)
    throw fail('SESSION_REQUIRED', { fix: op.notForApps });
  const needsPermission = op.access.includes(':') && rights && !isSelfService;
  state.isDecided = needsPermission ? guard.permit(op, rights) : true;
  for (const selected of relationsOf(op, input, transport?.relations)) relatedAccess.filterOf(selected);
  // Members may leave the organization without its identity provider. This is not a bypass, so the owners get no mail.
  const isLeaving = isSelfService && input['dryRun'] !== true;
  const isBypass =
    principal && state.resolved && !isLeaving && guard.assertConnected(principal, state.resolved);
  if (principal) guard.assertSessionGates(op, principal, state.resolved);
  if (principal && state.resolved && isBypass) yield stages.noteBypass(principal, state.resolved.scope);
}

/** Decides a permission whose condition depends on the row. @throws FORBIDDEN */
export function assertRowPermitted(state: CallState): void {
  const { stages, op, call, resolved, isDecided } = state;
  if (!isDecided && resolved) stages.guard.permitRow(op, resolved.rights, attributesOf(state), call.work);
}

/** Watches for changes to the caller from now on, so that a call that waited can check the caller again. */
export function createCallerCheck(state: CallState): CallerCheck {
  const { stages, op, call } = state;
  let hasChanged = stages.guard.watch();
  return {
    isDue: () => state.principal !== null && hasChanged(state.principal, state.scope),
    async checkAgain() {
      hasChanged = stages.guard.watch(true);
      state.principal = authenticatedPrincipal(op, await call.authenticate());
      await runSteps(checkAccess(state));
      if (!state.isDecided && hasTarget(state)) await stages.read(state.scope, (tx) => loadTarget(state, tx));
      assertRowPermitted(state);
    },
  };
}

/** The relations that the input names, and the relations that the transport will read. */
function relationsOf(
  { related }: NamedOperation,
  input: Readonly<Record<string, unknown>>,
  selected: readonly SelectedRelation[] = [],
): readonly SelectedRelation[] {
  const named = ((related && input['relations']) ?? []) as readonly string[];
  if (named.length === 0) return selected;
  return [...selected, ...named.map((name) => ({ name, relation: related?.relations[name] as Relation }))];
}

/** Conditions read the stored row, the validated fields of a create, or nothing; never other input of the caller. */
function attributesOf({ op, input, target }: CallState): Record<string, unknown> | null {
  if (target) return target;
  if (op.status !== 201) return null;
  const { scope: _, ...fields } = input;
  return fields;
}
