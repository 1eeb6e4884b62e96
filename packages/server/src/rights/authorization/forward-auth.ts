import { evaluate } from '@doorward/decision/evaluate';
import type { DecisionReason } from '@doorward/decision/reasons';
import { z } from 'zod';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { query } from '../../declare.ts';
import { bare } from '../../kernel/output/reply.ts';
import { Scope, tenants } from '../../kernel/scope.ts';
import { parsePermissionName, PermissionName } from './permission-name.ts';

/**
 * The decision of `isAuthorized` as a mere status code, for proxies that ask before they forward a request (nginx
 * `auth_request`, Traefik `forwardAuth`, Envoy `ext_authz`). A proxy cannot send attributes of the row, so conditions
 * that read them are not met.
 */
export const authCheck = query({
  rest: 'GET /auth/check',
  protocol: 'forward-auth',
  access: 'any',
  only: 'rest',
  bare: true,
  summary: 'Check a permission of this token by status alone, for proxies',
  description:
    'Accepts every method, here and at every path below. 204 (200 at a path below, for Envoy): allowed; 403: refused. The proxy sends the question either in the headers, replacing those of its client, or in the query of this URL, never in both. The scope is required. The service ignores body and cookies, and at a path below also the rest of the path and the query.',
  tenants,
  scopeOptional: true,
  admits: ['outsider'],
  fromMemory: true,
  cors: 'none',
  limit: { class: 'check', key: () => '' },
  input: { permission: PermissionName, scope: Scope },
  output: z.null(),
  status: 204,
  codes: ['FORBIDDEN'],
  run: (ctx) => {
    const { scope, rights, input } = ctx;
    if (!scope || !rights) throw refused('INVALID_SCOPE');
    const requested = { ...parsePermissionName(input.permission), attributes: null };
    const { authorized, reason } = evaluate(rights.grants, requested, ctx.call.work);
    if (!authorized) throw refused(reason);
    return bare(null, { 'x-doorward-user': callerOf(ctx).userId }, 204);
  },
});

const refused = (reason: DecisionReason) =>
  fail('FORBIDDEN', { reason, headers: { 'X-Doorward-Reason': reason } });
