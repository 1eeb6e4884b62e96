import { getNamedType, isObjectType, Kind, type FieldNode, type GraphQLResolveInfo } from 'graphql';
import type { GraphQLObjectType, SelectionSetNode } from 'graphql';
import type { NamedOperation } from '../kernel/operation.ts';

/**
 * The relations that a query selects of its own rows, asked for together with the rows, as a caller over REST does it
 * with `relations`: they arrive with the answer, and nothing is left to be resolved row by row. What is selected deeper,
 * or under a directive, or in a mutation, is read when it is resolved (graphql-relations.ts).
 */
export function withRelations(op: NamedOperation, given: unknown, info: GraphQLResolveInfo): unknown {
  if (op.kind !== 'query' || !('relations' in op.input)) return given ?? {};
  const [node, another] = info.fieldNodes;
  if (!node || another) return given ?? {};
  const relations = known.get(node) ?? relationsIn(node, info);
  known.set(node, relations);
  return relations.length === 0 ? (given ?? {}) : { ...(given as object), relations };
}

/** Documents are kept, and with them their parts. */
const known = new WeakMap<FieldNode, readonly string[]>();

function relationsIn(node: FieldNode, info: GraphQLResolveInfo): readonly string[] {
  const found = new Set<string>();
  const root = getNamedType(info.returnType);
  if (isObjectType(root)) collect(node.selectionSet, root, info, found);
  return [...found];
}

function collect(
  set: SelectionSetNode | undefined,
  type: GraphQLObjectType,
  info: GraphQLResolveInfo,
  found: Set<string>,
): void {
  for (const selection of set?.selections ?? []) {
    if (selection.directives?.length) continue;
    if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, type, info, found);
    else if (selection.kind === Kind.FRAGMENT_SPREAD) {
      collect(info.fragments[selection.name.value]?.selectionSet, type, info, found);
    } else {
      const field = type.getFields()[selection.name.value];
      const items = field?.name === 'items' && getNamedType(field.type);
      if (field?.extensions['relation'] !== undefined) found.add(field.name);
      else if (items && isObjectType(items)) collect(selection.selectionSet, items, info, found);
    }
  }
}
