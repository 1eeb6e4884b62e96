import { getNamedType, isObjectType, Kind, type FieldNode, type GraphQLResolveInfo } from 'graphql';
import type { FragmentDefinitionNode, GraphQLObjectType, SelectionSetNode } from 'graphql';
import type { NamedOperation } from '../kernel/operation.ts';

/**
 * The relations that a query selects of its own rows, asked for together with the rows, as a caller over REST does it
 * with `relations`: they arrive with the answer, and nothing is left to be resolved row by row. What is selected deeper,
 * twice, under a directive, or in a mutation, is read when it is resolved (graphql-relations.ts).
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
  const root = getNamedType(info.returnType);
  const { own, items, isPlain } = collector(info.fragments)(node.selectionSet, root);
  const relations = new Map([...own, ...items]);
  const single = [...relations].flatMap(([name, key]) => (key === SEVERAL ? [] : [name]));
  const selection = { relations: single, isWhole: isPlain && single.length === relations.size };
  known.set(node, selection);
  return selection;
}

/** The names under which relations are selected, each the key of its place in the answer. */
type Keys = Map<string, string | typeof SEVERAL>;
const SEVERAL = Symbol('several');

interface Parts {
  /** Relations of an object of this selection. */
  readonly own: Keys;
  /** Relations of its `items`, which are rows. */
  readonly items: Keys;
  /** Whether there is nothing else that has to be resolved. */
  isPlain: boolean;
}

const isEmpty = ({ own, items, isPlain }: Parts): boolean => isPlain && own.size + items.size === 0;

function add(keys: Keys, name: string, key: string | typeof SEVERAL): void {
  keys.set(name, (keys.get(name) ?? key) === key ? key : SEVERAL);
}

/** Looks at every selection once, however often fragments repeat it: a fragment has one type wherever it is spread. */
function collector(fragments: Readonly<Record<string, FragmentDefinitionNode>>) {
  const done = new Map<SelectionSetNode, Parts>();

  function collect(set: SelectionSetNode | undefined, type: unknown): Parts {
    const parts: Parts = (set && done.get(set)) ?? { own: new Map(), items: new Map(), isPlain: true };
    if (!set || done.has(set) || !isObjectType(type)) return parts;
    done.set(set, parts);
    for (const selection of set.selections) {
      if (selection.directives?.length) parts.isPlain = false;
      else if (selection.kind === Kind.FIELD) addField(parts, selection, type);
      else {
        const inner = collect(
          selection.kind === Kind.INLINE_FRAGMENT
            ? selection.selectionSet
            : fragments[selection.name.value]?.selectionSet,
          type,
        );
        for (const [name, key] of inner.own) add(parts.own, name, key);
        for (const [name, key] of inner.items) add(parts.items, name, key);
        parts.isPlain &&= inner.isPlain;
      }
    }
    return parts;
  }

  function addField(parts: Parts, node: FieldNode, type: GraphQLObjectType): void {
    const field = type.getFields()[node.name.value];
    if (!field) return;
    const inner = collect(node.selectionSet, getNamedType(field.type));
    if (field.extensions['relation'] !== undefined) {
      add(parts.own, field.name, (node.alias ?? node.name).value);
      parts.isPlain &&= isEmpty(inner);
    } else if (field.name === 'items') {
      const place = (node.alias ?? node.name).value;
      for (const [name, key] of inner.own) add(parts.items, name, key === SEVERAL ? key : `${place}.${key}`);
      parts.isPlain &&= inner.isPlain && inner.items.size === 0;
    } else parts.isPlain &&= isEmpty(inner);
  }

  return collect;
}
