import { z } from 'zod';

/** A permission as `resource:action`, as in the scopes of apps. */
export const PermissionName = z
  .string()
  .max(257)
  .regex(/^[^:]{1,128}:[^:]{1,128}$/)
  .meta({ description: '`resource:action`, with one colon.' });

/** Splits a `PermissionName` into resource and action. */
export function parsePermissionName(name: string): { readonly resource: string; readonly action: string } {
  const [resource = '', action = ''] = name.split(':');
  return { resource, action };
}
