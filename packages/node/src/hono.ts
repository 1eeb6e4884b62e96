import type { Context, MiddlewareHandler } from 'hono';
import { admit, type Requirement } from './middleware/admit.ts';
import type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';
import { requirementOf } from './middleware/requirement.ts';
import { REVISION_HEADER } from './middleware/revisions.ts';
import { responseOf, revisionSince, webCall } from './middleware/web-call.ts';
import type { Doorward } from './client/doorward.ts';
import type { Permission, Principal } from './contracts/types.ts';

export type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';

/** Variables that the guards add to Hono's context: `c.get('principal')`. */
export interface PrincipalEnv {
  Variables: { principal: Principal };
}

/** The guards of an application. */
export interface HonoGuard {
  /**
   * Refuses the request with 401, 403, 404 or 503 unless the caller has the permission; with 400 if its
   * `X-Doorward-Revision` is malformed.
   */
  readonly requirePermission: (
    permission: Permission,
    options?: PermissionOptions<Context>,
  ) => MiddlewareHandler<PrincipalEnv>;
  /**
   * Refuses the request with 401 or 503 unless it has a valid token; with 400 if its `X-Doorward-Revision` is
   * malformed. Does not check the caller's address against the networks of an API key (`allowedCidrs`).
   */
  readonly requireSignedIn: (options?: SignInOptions<Context>) => MiddlewareHandler<PrincipalEnv>;
}

/**
 * Creates guards for Hono routes. Create them once per application.
 *
 * @example
 * const { requirePermission } = guard(doorward);
 * const context = (c) => ({ resource: orders.get(c.req.param('id')) });
 * app.get('/orders/:id', requirePermission('order:read', { context }), (c) => c.json(c.get('principal')));
 */
export function guard(doorward: Doorward, defaults: GuardOptions<Context> = {}): HonoGuard {
  const middlewareOf =
    (requirement: Requirement<Context>): MiddlewareHandler<PrincipalEnv> =>
    async (c, next) => {
      const call = webCall<Context>(c, c.req.raw, addressOf(c.env), (principal) =>
        c.set('principal', principal),
      );
      const answer = await admit(doorward, requirement, call);
      if (answer) return responseOf(answer);
      const newRevision = revisionSince(doorward);
      await next();
      const revision = newRevision();
      if (revision !== null) c.header(REVISION_HEADER, revision);
      return undefined;
    };

  return {
    requirePermission: (permission, options = {}) =>
      middlewareOf(requirementOf(permission, defaults, options)),
    requireSignedIn: (options = {}) => middlewareOf(requirementOf(undefined, defaults, options)),
  };
}

/**
 * Returns the caller's address, which only `@hono/node-server` provides, because it puts Node's request into the
 * environment.
 */
function addressOf(env: unknown): string | undefined {
  const { incoming } = (env ?? {}) as {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  };
  return incoming?.socket?.remoteAddress;
}
