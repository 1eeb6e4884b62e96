import { getNamedType, isObjectType, Kind, type FieldNode, type GraphQLResolveInfo } from 'graphql';
import type { GraphQLObjectType, SelectionSetNode } from 'graphql';
import type { NamedOperation } from '../kernel/operation.ts';

/**
 * The relations that a query selects of its own rows, asked for together with the rows, as a caller over REST does it
 * with `relations`: they arrive with the answer, and nothing is left to be resolved row by row. What is selected deeper,
 * or under a directive, or in a mutation, is read when it is resolved (graphql-relations.ts).
 */
export interface Selected {
  /** Input of the operation. */
  readonly input: unknown;
  /** Whether all that is selected arrives with the answer, so that no row has to know where it came from. */
  readonly isWhole: boolean;
}

export function withRelations(op: NamedOperation, given: unknown, info: GraphQLResolveInfo): Selected {
  const input = given ?? {};
  const [node, another] = info.fieldNodes;
  if (op.kind !== 'query' || !node || another) return { input, isWhole: false };
  const { relations, isWhole } = known.get(node) ?? remembered(node, info);
  if (relations.length === 0) return { input, isWhole };
  if (!('relations' in op.input)) return { input, isWhole: false };
  return { input: { ...input, relations }, isWhole };
}

interface Selection {
  readonly relations: readonly string[];
  readonly isWhole: boolean;
}

/** Documents are kept, and with them their parts. */
const known = new WeakMap<FieldNode, Selection>();

function remembered(node: FieldNode, info: GraphQLResolveInfo): Selection {
  const found = new Set<string>();
  const root = getNamedType(info.returnType);
  const isWhole = !isObjectType(root) || collect(node.selectionSet, root, info, found);
  const selection = { relations: [...found], isWhole };
  known.set(node, selection);
  return selection;
}

/**
 * Adds relations of the rows of the answer; `found` is null below them.
 * @returns whether there is nothing else that has to be resolved
 */
function collect(
  set: SelectionSetNode | undefined,
  type: GraphQLObjectType,
  info: GraphQLResolveInfo,
  found: Set<string> | null,
): boolean {
  let isWhole = true;
  for (const selection of set?.selections ?? []) {
    if (selection.directives?.length) isWhole = false;
    else if (selection.kind === Kind.INLINE_FRAGMENT) {
      isWhole = collect(selection.selectionSet, type, info, found) && isWhole;
    } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = info.fragments[selection.name.value]?.selectionSet;
      isWhole = collect(fragment, type, info, found) && isWhole;
    } else {
      const field = type.getFields()[selection.name.value];
      const target = field && getNamedType(field.type);
      const isRelation = field?.extensions['relation'] !== undefined;
      if (isRelation) found?.add(field.name);
      if (isRelation && !found) isWhole = false;
      else if (isObjectType(target)) {
        const rows = field?.name === 'items' ? found : null;
        isWhole = collect(selection.selectionSet, target, info, rows) && isWhole;
      }
    }
  }
  return isWhole;
}
