import { getNamedType, isObjectType, Kind, type FieldNode, type GraphQLResolveInfo } from 'graphql';
import type { FragmentDefinitionNode, GraphQLObjectType, SelectionSetNode } from 'graphql';
import type { NamedOperation } from '../kernel/operation.ts';
import type { SelectedRelation } from '../kernel/related.ts';

interface RelationSelection {
  /** Input of the operation. */
  readonly input: unknown;
  /** Whether the response of the operation contains everything that is selected, so that its rows need no origin. */
  readonly isWhole: boolean;
  /** All selected relations at any depth, except those under a directive, which may exclude them. */
  readonly relations: readonly SelectedRelation[];
}

/**
 * Returns the relations that a query selects on its rows. They are read together with the rows, like the input
 * `relations` over REST, so nothing has to be resolved row by row. Resolvers (relations.ts) read all other relations:
 * those in a mutation, those selected deeper or under a directive, and those with several response keys.
 */
export function selectRelations(
  op: NamedOperation,
  args: unknown,
  info: GraphQLResolveInfo,
): RelationSelection {
  const input = args ?? {};
  const selections = info.fieldNodes.map((node) => selectionsByNode.get(node) ?? selectionOf(node, info));
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

interface NodeSelection extends Pick<RelationSelection, 'isWhole' | 'relations'> {
  /** Names of the relations of the rows that the operation returns. */
  readonly ofRows: readonly string[];
}

/** The selections of each field node. Cached documents keep their nodes, and thereby these entries. */
const selectionsByNode = new WeakMap<FieldNode, NodeSelection>();

function selectionOf(node: FieldNode, info: GraphQLResolveInfo): NodeSelection {
  const root = getNamedType(info.returnType);
  const { own, items, all, isPlain } = createCollector(info.fragments)(node.selectionSet, root);
  const keysByName = new Map([...own, ...items]);
  const ofRows = [...keysByName].flatMap(([name, key]) => (key === SEVERAL ? [] : [name]));
  const selection = { ofRows, isWhole: isPlain && ofRows.length === keysByName.size, relations: [...all] };
  selectionsByNode.set(node, selection);
  return selection;
}

/** Selected relations by name, each with the path of its response key; `SEVERAL` if it has more than one. */
type Keys = Map<string, string | typeof SEVERAL>;
const SEVERAL = Symbol('several');

interface Parts {
  /** Relations selected on the object itself. */
  readonly own: Keys;
  /** Relations of its `items`, which are rows. */
  readonly items: Keys;
  /** Relations at any depth. */
  readonly all: Set<SelectedRelation>;
  /** Whether no other relation has to be resolved. */
  isPlain: boolean;
}

const isEmpty = ({ own, items, isPlain }: Parts): boolean => isPlain && own.size + items.size === 0;

function add(keys: Keys, name: string, key: string | typeof SEVERAL): void {
  keys.set(name, (keys.get(name) ?? key) === key ? key : SEVERAL);
}

/**
 * Creates a collector, which visits each selection once, however often fragments repeat it. That is enough because a
 * fragment always has the same type.
 */
function createCollector(fragments: Readonly<Record<string, FragmentDefinitionNode>>) {
  const partsBySet = new Map<SelectionSetNode, Parts>();

  function collect(set: SelectionSetNode | undefined, type: unknown): Parts {
    const parts: Parts = (set && partsBySet.get(set)) ?? {
      own: new Map(),
      items: new Map(),
      all: new Set(),
      isPlain: true,
    };
    if (!set || partsBySet.has(set) || !isObjectType(type)) return parts;
    partsBySet.set(set, parts);
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
        for (const selectedRelation of inner.all) parts.all.add(selectedRelation);
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
    for (const selectedRelation of inner.all) parts.all.add(selectedRelation);
    if (selected) {
      parts.all.add(selected);
      add(parts.own, field.name, (node.alias ?? node.name).value);
      parts.isPlain &&= isEmpty(inner);
    } else if (field.name === 'items') {
      const itemsKey = (node.alias ?? node.name).value;
      for (const [name, key] of inner.own)
        add(parts.items, name, key === SEVERAL ? key : `${itemsKey}.${key}`);
      parts.isPlain &&= inner.isPlain && inner.items.size === 0;
    } else parts.isPlain &&= isEmpty(inner);
  }

  return collect;
}
