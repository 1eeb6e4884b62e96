import { z } from 'zod';
import { EffectivePermission, effectivePermissions, versionOf } from '../../access/grants/effective.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import { ScopeOutput, type ResolvedScope } from '../../kernel/scope.ts';

/** The effective permissions of a subject in a scope (authorization §10.3). */
export const EffectivePermissions = z
  .object({
    scope: ScopeOutput.describe('The scope in which the permissions count.'),
    version: z.string().meta({ description: 'Changes whenever the permissions in the scope change.' }),
    permissions: z
      .array(EffectivePermission)
      .describe('The permissions, each pair of resource and action once.'),
  })
  .meta({ id: 'EffectivePermissions', description: 'Every permission of a subject in the scope, sorted.' });

export function permissionListOf(
  { tenant, id }: ResolvedScope,
  { grants }: CallerRights,
): z.output<typeof EffectivePermissions> {
  const permissions = effectivePermissions(grants);
  return { scope: { tenant, id }, version: versionOf(permissions), permissions };
}
