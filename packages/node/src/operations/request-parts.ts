import type { Scope } from '../contracts/types.ts';
import type { RestOperation } from './operation.ts';

interface RequestParts {
  /** Path and query string. */
  readonly target: string;
  readonly body: string | undefined;
}

/**
 * Distributes the members of an input over path, query and body.
 *
 * @throws TypeError if a path parameter is missing or would change the path
 */
export function requestParts(
  operation: RestOperation,
  input: Readonly<Record<string, unknown>>,
  defaultScope: Scope | null,
): RequestParts {
  const members = { ...input };
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = members[name];
    delete members[name];
    return segment(operation.name, name, value);
  });
  if (operation.isScoped) members['scope'] ??= defaultScope ?? undefined;
  if (operation.method !== 'GET' && operation.method !== 'DELETE')
    return { target: path, body: JSON.stringify(members) };
  const query = queryOf(operation, members);
  return { target: query === '' ? path : `${path}?${query}`, body: undefined };
}

function segment(operation: string, name: string, value: unknown): string {
  // A URL resolves `.` and `..`, even encoded, so the call would reach another operation.
  const text = typeof value === 'string' && value !== '' && !/^\.{1,2}$/.test(value) ? value : undefined;
  if (text === undefined)
    throw new TypeError(`${operation} needs ${name}: a text that can be part of a path`);
  return encodeURIComponent(text);
}

function queryOf({ isScoped }: RestOperation, members: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    if (isScoped && name === 'scope') {
      const { tenant, id } = value as Scope;
      query.set('tenant', tenant);
      query.set('scopeId', id);
    } else query.set(name, Array.isArray(value) ? value.join(',') : `${value as string | number | boolean}`);
  }
  return query.toString();
}
