import { z } from 'zod';
import { EffectivePermission, effectivePermissions, versionOf } from '../../access/effective.ts';
import { revision } from '../../db/revisions.ts';
import { query } from '../../kernel/operation.ts';
import { Scope, ScopeOutput, tenants } from '../../kernel/scope.ts';

const EffectivePermissions = z
  .object({
    scope: ScopeOutput.describe('Where they count.'),
    version: z.string().meta({ description: 'Another one whenever the rights in the scope are others.' }),
    permissions: z.array(EffectivePermission).describe('Each pair of resource and action once.'),
  })
  .meta({ id: 'EffectivePermissions', description: 'All that the caller may do in the scope, sorted.' });

export const myPermissions = query({
  rest: 'GET /me/permissions',
  access: 'any',
  summary: 'List what this token may do in a scope',
  description:
    'Complete and sorted, each pair once; narrowed to what an app token was consented to. Ask again with If-None-Match.',
  tenants,
  scopeOptional: true,
  fromMemory: true,
  rate: 'check',
  cors: 'app',
  limit: { class: 'check', key: () => '' },
  etag: 'version',
  input: { scope: Scope, minRevision: revision.optional() },
  output: EffectivePermissions,
  run: ({ scope, rights }) => {
    const permissions = effectivePermissions(rights.grants);
    return { scope: { tenant: scope.tenant, id: scope.id }, version: versionOf(permissions), permissions };
  },
});
