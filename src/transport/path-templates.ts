import type { NamedOperation } from '../kernel/operation.ts';

/**
 * Paths as OpenAPI writes them. It takes two templates that differ in the names of their parameters alone for one and
 * the same path, and forbids to have both; operations may name a parameter after what it is to them. So operations of
 * one shape share a template, in which a parameter has all the names that it goes by.
 *
 * @example GET /invitations/:token, DELETE /invitations/:id → /invitations/{tokenOrId}
 */
export interface PathTemplate {
  readonly path: string;
  /** In the order of the path: the input field of the operation, and the name in the template. */
  readonly parameters: readonly { readonly field: string; readonly name: string }[];
}

const parameter = /:([A-Za-z]+)/g;
const fieldsOf = ({ path }: NamedOperation): string[] =>
  [...path.matchAll(parameter)].map(([, name = '']) => name);
const shapeOf = ({ path }: NamedOperation): string => path.replace(parameter, ':');

export function pathTemplates(operations: readonly NamedOperation[]): (op: NamedOperation) => PathTemplate {
  const names = new Map<string, Set<string>[]>();
  for (const op of operations) {
    const known = names.get(shapeOf(op)) ?? [];
    fieldsOf(op).forEach((field, place) => (known[place] ??= new Set()).add(field));
    names.set(shapeOf(op), known);
  }
  return (op) => {
    const shared = (names.get(shapeOf(op)) ?? []).map(joined);
    return {
      path: shared.reduce((path, name) => path.replace(/:[A-Za-z]+/, `{${name}}`), op.path),
      parameters: fieldsOf(op).map((field, place) => ({ field, name: shared[place] ?? field })),
    };
  };
}

const joined = (names: ReadonlySet<string>): string =>
  [...names]
    .map((name, i) => (i === 0 ? name : `Or${name.charAt(0).toUpperCase()}${name.slice(1)}`))
    .join('');
