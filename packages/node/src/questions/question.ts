import type { Context, Permission, Question } from '../contracts/types.ts';

/** A question in the form that the service and the local policy take. */
export interface PreparedQuestion {
  readonly permission: { readonly resource: string; readonly action: string };
  readonly context?: { readonly resource: object | null };
}

/** Validates a question. @throws TypeError if the permission or the context is malformed */
export function prepareQuestion({ permission, context }: Question): PreparedQuestion {
  const pair = permissionOf(permission);
  const resource = resourceOf(context);
  return resource === undefined ? { permission: pair } : { permission: pair, context: { resource } };
}

function permissionOf(permission: Permission): PreparedQuestion['permission'] {
  const parts: unknown[] =
    typeof permission === 'string'
      ? permission.split(':')
      : [(permission as { resource?: unknown } | null)?.resource, permission?.action];
  const [resource, action] = parts;
  if (parts.length !== 2 || !isPart(resource) || !isPart(action))
    throw new TypeError("A permission must be 'resource:action', or { resource, action }");
  return { resource, action };
}

const isPart = (part: unknown): part is string =>
  typeof part === 'string' && part.length >= 1 && part.length <= 128;

function resourceOf(context: Context | undefined): object | null | undefined {
  if (context === undefined) return undefined;
  // A row passed instead of a context would count as a context without a resource, and change the question.
  const isContext =
    typeof context === 'object' &&
    context !== null &&
    Object.keys(context).every((name) => name === 'resource');
  const { resource } = (isContext ? context : { resource: 0 }) as { resource?: unknown };
  if (resource === undefined || resource === null) return resource;
  if (typeof resource === 'object' && !Array.isArray(resource)) return resource;
  throw new TypeError('A context must be { resource }, where resource is an object or null');
}
