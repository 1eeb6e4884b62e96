import { permissionNamesOf } from '@doorward/decision/document/document-rights';
import type { AppInDocument, PolicyDocument } from '@doorward/decision/document/document';
import { missingPermissions, type WantedPermission } from '../../../access/delegation/escalation.ts';
import { hasEffect } from '../../../access/grants/grants.ts';
import { skipConsentRefusal } from '../../../apps/settings/first-party.ts';
import { addedScopes } from '../../../apps/settings/scopes-to-set.ts';
import { delegatesRole, type SignUp } from '../../../apps/settings/sign-up.ts';
import type { Principal } from '../../../kernel/context.ts';
import type { Services } from '../../../services.ts';
import type { CallerRights } from '../../../kernel/call/caller-rights.ts';
import type { ResolvedScope } from '../../../kernel/scope.ts';
import type { Comparison } from '../document/match.ts';
import type { Obstacle } from '../plan.ts';
import { MAX_MISSING, rightsOf, permissionsNamed } from '../rights.ts';

interface RightsContext {
  readonly scope: ResolvedScope;
  readonly rights: CallerRights;
  readonly principal: Principal | null;
  readonly services: Pick<Services, 'builtIns' | 'clock' | 'config'>;
}

/**
 * The obstacles to changes of apps, besides a missing permission to change apps. The rules are those of the operations
 * for single apps: scopes and the sign-up role give rights to strangers, so the caller must hold these rights; and only
 * an owner in person may skip consent.
 */
export function appObstacles(ctx: RightsContext, { changes, all }: Comparison): Obstacle[] {
  return changes.flatMap(({ kind, key, label, action }): Obstacle[] => {
    const app = all.after.apps[label];
    if (kind !== 'apps' || action === 'delete' || !app) return [];
    const before = action === 'create' ? undefined : all.before.apps[label];
    const { grants, projectGrants } = ctx.rights;
    const missing = missingPermissions(projectGrants ?? grants, delegatedBy(ctx, all.after, before, app));
    const refusal = app.firstParty && before?.firstParty !== true ? skipConsentRefusal(ctx) : null;
    return [
      ...missing
        .slice(0, MAX_MISSING)
        .map((cause) => ({ kind, key, code: 'PRIVILEGE_ESCALATION' as const, cause })),
      ...(refusal === null ? [] : [{ kind, key, code: refusal, cause: 'firstParty' }]),
    ];
  });
}

const signUpOf = (app: AppInDocument | undefined): SignUp => ({
  allowSignUp: app?.allowSignUp ?? false,
  role: app?.signUpRole ?? null,
});

function delegatedBy(
  { scope, services: { builtIns } }: RightsContext,
  document: PolicyDocument,
  before: AppInDocument | undefined,
  after: AppInDocument,
): WantedPermission[] {
  const scopes = after.scopes ? addedScopes(builtIns, after.scopes, before ? before.scopes : []) : [];
  const { signUpRole } = after;
  if (signUpRole === null || !delegatesRole(signUpOf(before), signUpOf(after))) return scopes;
  const builtIn = builtIns.roles.find(({ name }) => name === signUpRole && !(name in document.roles));
  const names = builtIns.groups
    .filter(({ id }) => builtIn?.groupIds.includes(id))
    .flatMap(({ name }) => permissionNamesOf(document, name));
  const ofRole = builtIn ? permissionsNamed(document, names) : rightsOf(document, 'roles', signUpRole);
  return [...scopes, ...ofRole.filter((permission) => hasEffect(permission, scope))];
}
