import { revision } from '../../db/cache/revisions.ts';
import { query } from '../../declare.ts';
import { Scope, tenants } from '../../kernel/scope.ts';
import { EffectivePermissions, permissionListOf } from './permission-list.ts';

export const myPermissions = query({
  rest: 'GET /me/permissions',
  access: 'any',
  summary: 'List what this token may do in a scope',
  description:
    'Complete and sorted, each pair of resource and action once. For an app token, only what the user consented to. Poll with If-None-Match.',
  tenants: [...tenants, 'installation'],
  scopeOptional: true,
  fromMemory: true,
  cors: 'app',
  limit: { class: 'check', key: () => '' },
  etag: 'version',
  input: { scope: Scope, minRevision: revision.optional() },
  output: EffectivePermissions,
  run: ({ scope, rights }) => permissionListOf(scope, rights),
});
