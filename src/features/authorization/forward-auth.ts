import { evaluate } from '../../access/evaluate.ts';
import { fail, type DecisionReason } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { query } from '../../kernel/operation.ts';
import { bare } from '../../kernel/reply.ts';
import { Scope, tenants } from '../../kernel/scope.ts';
import { pairOf, PermissionName } from './permission-name.ts';
import { z } from 'zod';

/**
 * The same decision as `isAuthorized`, told by the status alone, for proxies that ask before they forward a request
 * (nginx `auth_request`, Traefik `forwardAuth`, Envoy `ext_authz`). They know nothing of the row that is asked for, so a
 * condition that reads it is not met.
 */
export const authCheck = query({
  rest: 'GET /auth/check',
  everyMethod: true,
  access: 'any',
  only: 'rest',
  bare: true,
  summary: 'Ask by status whether this token may do this: for proxies',
  description:
    'Any method, here and at every path below. 204 (below the path 200, for Envoy): allowed, 403: refused. The proxy writes the question into the headers, replacing those of its client, or into the query of the address that it asks: never both. Body and cookies are not read; of a path below, path and query are not read either.',
  tenants,
  scopeOptional: true,
  asksOnly: true,
  fromMemory: true,
  rate: 'check',
  cors: 'none',
  limit: { class: 'check', key: () => '' },
  headers: { permission: 'x-doorward-permission', scope: 'x-doorward-scope' },
  input: { permission: PermissionName, scope: Scope },
  output: z.null(),
  status: 204,
  codes: ['FORBIDDEN'],
  run: (ctx) => {
    const { scope, rights, input } = ctx;
    if (!scope || !rights) throw refused('INVALID_SCOPE');
    const { authorized, reason } = evaluate(rights.grants, { ...pairOf(input.permission), attributes: null });
    if (!authorized) throw refused(reason);
    return bare(null, { 'x-doorward-user': callerOf(ctx).userId }, 204);
  },
});

const refused = (reason: DecisionReason) =>
  fail('FORBIDDEN', { reason, headers: { 'X-Doorward-Reason': reason } });
