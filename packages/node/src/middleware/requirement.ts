import type { Permission } from '../contracts/types.ts';
import type { Requirement } from './admit.ts';
import type { GuardOptions, PermissionOptions } from './options.ts';

const part = /^[^:]{1,128}$/;

/**
 * Merges the options of a route. Called when the route is declared, so that mistakes surface before its first request.
 *
 * @throws TypeError unless a permission has two parts
 */
export function requirementOf<Request>(
  permission: Permission | undefined,
  defaults: GuardOptions<Request>,
  options: PermissionOptions<Request>,
): Requirement<Request> {
  if (permission !== undefined) {
    const parts =
      typeof permission === 'string' ? permission.split(':') : [permission.resource, permission.action];
    if (parts.length !== 2 || !parts.every((text) => typeof text === 'string' && part.test(text)))
      throw new TypeError("A permission is written 'resource:action', for example 'order:read'.");
  }
  return { permission, options: { ...defaults, ...options } };
}
