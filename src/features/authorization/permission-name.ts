import { z } from 'zod';

/** A permission in one word, as roles and scopes of apps show it. */
export const PermissionName = z
  .string()
  .max(257)
  .regex(/^[^:]{1,128}:[^:]{1,128}$/)
  .meta({ description: '`resource:action`, with one colon.' });

export function pairOf(name: string): { readonly resource: string; readonly action: string } {
  const [resource = '', action = ''] = name.split(':');
  return { resource, action };
}
