import type { NamedOperation } from '../kernel/operation.ts';

/**
 * Paths as OpenAPI writes them. OpenAPI forbids two templates that differ only in the names of their parameters, but
 * operations may use different names. So operations with the same path shape share a template, whose parameter names
 * are combined.
 *
 * @example GET /invitations/:token, DELETE /invitations/:id → /invitations/{tokenOrId}
 */
export interface PathTemplate {
  readonly path: string;
  /** In path order: the input field of the operation, and its name in the template. */
  readonly parameters: readonly { readonly field: string; readonly name: string }[];
}

const parameter = /:([A-Za-z]+)/g;
const fieldsOf = ({ path }: NamedOperation): string[] =>
  [...path.matchAll(parameter)].map(([, name = '']) => name);
const shapeOf = ({ path }: NamedOperation): string => path.replace(parameter, ':');

export function pathTemplates(operations: readonly NamedOperation[]): (op: NamedOperation) => PathTemplate {
  const names = new Map<string, Set<string>[]>();
  for (const op of operations) {
    const namesByPosition = names.get(shapeOf(op)) ?? [];
    fieldsOf(op).forEach((field, place) => (namesByPosition[place] ??= new Set()).add(field));
    names.set(shapeOf(op), namesByPosition);
  }
  return (op) => {
    const shared = (names.get(shapeOf(op)) ?? []).map(joinNames);
    return {
      path: shared.reduce((path, name) => path.replace(/:[A-Za-z]+/, `{${name}}`), op.path),
      parameters: fieldsOf(op).map((field, place) => ({ field, name: shared[place] ?? field })),
    };
  };
}

const joinNames = (names: ReadonlySet<string>): string =>
  [...names]
    .map((name, i) => (i === 0 ? name : `Or${name.charAt(0).toUpperCase()}${name.slice(1)}`))
    .join('');
