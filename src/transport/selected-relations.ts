import { getNamedType, isObjectType, Kind, type FieldNode, type GraphQLResolveInfo } from 'graphql';
import type { FragmentDefinitionNode, GraphQLObjectType, SelectionSetNode } from 'graphql';
import type { NamedOperation } from '../kernel/operation.ts';
import type { SelectedRelation } from '../kernel/related.ts';

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
  /** Every selected relation, at any depth, except those under a directive, which may leave them out. */
  readonly relations: readonly SelectedRelation[];
}

export function withRelations(op: NamedOperation, given: unknown, info: GraphQLResolveInfo): Selected {
  const input = given ?? {};
  const selections = info.fieldNodes.map((node) => known.get(node) ?? remembered(node, info));
  const [only, another] = selections;
  if (!only || another) {
    return { input, isWhole: false, relations: selections.flatMap(({ relations }) => relations) };
  }
  const { relations, ofRows, isWhole } = only;
  if (op.kind !== 'query') return { input, isWhole: false, relations };
  if (ofRows.length === 0) return { input, isWhole, relations };
  if (!op.related) return { input, isWhole: false, relations };
  return { input: { ...input, relations: ofRows }, isWhole, relations };
}

interface Selection extends Pick<Selected, 'isWhole' | 'relations'> {
  /** Names of those of the answer's own rows. */
  readonly ofRows: readonly string[];
}

/** Documents are kept, and with them their parts. */
const known = new WeakMap<FieldNode, Selection>();

function remembered(node: FieldNode, info: GraphQLResolveInfo): Selection {
  const root = getNamedType(info.returnType);
  const { own, items, all, isPlain } = collector(info.fragments)(node.selectionSet, root);
  const places = new Map([...own, ...items]);
  const ofRows = [...places].flatMap(([name, key]) => (key === SEVERAL ? [] : [name]));
  const selection = { ofRows, isWhole: isPlain && ofRows.length === places.size, relations: [...all] };
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
  /** Relations at any depth. */
  readonly all: Set<SelectedRelation>;
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
    const parts: Parts = (set && done.get(set)) ?? {
      own: new Map(),
      items: new Map(),
      all: new Set(),
      isPlain: true,
    };
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
        for (const one of inner.all) parts.all.add(one);
        parts.isPlain &&= inner.isPlain;
      }
    }
    return parts;
  }

  function addField(parts: Parts, node: FieldNode, type: GraphQLObjectType): void {
    const field = type.getFields()[node.name.value];
    if (!field) return;
    const inner = collect(node.selectionSet, getNamedType(field.type));
    const selected = field.extensions['selected'] as SelectedRelation | undefined;
    for (const one of inner.all) parts.all.add(one);
    if (selected) {
      parts.all.add(selected);
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
