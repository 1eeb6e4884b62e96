import {
  getNamedType,
  isObjectType,
  Kind,
  visit,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { fail } from '../errors.ts';

/**
 * What a document may cost (graphql.md §1), told from its selections alone and before validation, so that types
 * may be unknown. Work is linear in the document, whatever its fragments do.
 */
const MAX_ROOT_FIELDS = 15;
/** Of one field with members of its own, in one selection. */
const MAX_REPEATS = 10;
const RELATION_FACTOR = 5;
/** Of one HTTP request, with every fragment written out at each place where it is spread. */
const MAX_SELECTIONS = 5000;
/** Of one HTTP request: each may answer with the whole schema, whatever it selects of it. */
const MAX_INTROSPECTIONS = 5;

export const tooComplex = (limit: string) => fail('QUERY_TOO_COMPLEX', { params: { limit } });

export function assertFewSelections(count: number): void {
  if (count <= MAX_SELECTIONS) return;
  throw fail('QUERY_TOO_COMPLEX', {
    params: { limit: `selections > ${MAX_SELECTIONS}` },
    fix: 'Select less, spread fragments in fewer places, or send several requests.',
  });
}

export function assertFewIntrospections(count: number): void {
  if (count > MAX_INTROSPECTIONS) throw tooComplex(`introspection fields > ${MAX_INTROSPECTIONS}`);
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export interface Measured {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly fragments: Fragments;
  readonly limits: { readonly depth: number; readonly aliases: number };
}

/** The root fields of an operation and what each costs; throws QUERY_TOO_COMPLEX. */
export function measuredFields(
  { schema, document, fragments, limits }: Measured,
  selection: SelectionSetNode,
  rootType: GraphQLObjectType,
): { readonly roots: readonly (Measure & { readonly node: FieldNode })[]; readonly selections: number } {
  const { field: measure, below } = measuring(schema, fragments);
  // Validation goes through operations that do not run too, and through fragments that nothing spreads.
  let selections = 0;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      const { typeCondition, selectionSet } = definition;
      assertFewSelections(below(selectionSet, objectType(schema, typeCondition.name.value)).selections);
    } else if (definition.kind === Kind.OPERATION_DEFINITION) {
      const type = schema.getRootType(definition.operation) ?? undefined;
      selections += below(definition.selectionSet, type).selections;
    }
  }
  assertFewSelections(selections);
  const roots = fieldsOf(selection, fragments).map((node) => ({ node, ...measure(node, rootType) }));
  const aliases = roots.reduce((sum, root) => sum + root.aliases, 0);
  if (roots.length > MAX_ROOT_FIELDS) throw tooComplex(`root fields > ${MAX_ROOT_FIELDS}`);
  if (aliases > limits.aliases) throw tooComplex(`aliases > ${limits.aliases}`);
  if (roots.some(({ depth }) => depth > limits.depth)) throw tooComplex(`depth > ${limits.depth}`);
  // What stands in an inline fragment belongs to the selection around it.
  const enter = ({ selectionSet }: Definition) =>
    void (selectionSet && assertFewRepeats(selectionSet, fragments));
  visit(document, { Field: enter, OperationDefinition: enter, FragmentDefinition: enter });
  return { roots, selections };
}

/** Fields of a selection, through fragments; each fragment once, as in execution. */
function fieldsOf(
  set: SelectionSetNode,
  fragments: Fragments,
  found: FieldNode[] = [],
  seen = new Set<SelectionSetNode>(),
): FieldNode[] {
  for (const node of set.selections) {
    if (node.kind === Kind.FIELD) {
      found.push(node);
      continue;
    }
    const inner = (node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value))?.selectionSet;
    if (!inner || seen.has(inner)) continue;
    seen.add(inner);
    fieldsOf(inner, fragments, found, seen);
  }
  return found;
}

export interface Measure {
  /** Fields and spreads, this one included, with every fragment written out. */
  readonly selections: number;
  readonly depth: number;
  readonly aliases: number;
  /** Cost, and cost for each item of the page that the root field answers. */
  readonly fixed: number;
  readonly perItem: number;
}

type Parent = GraphQLObjectType | undefined;
type Definition = FieldNode | OperationDefinitionNode | FragmentDefinitionNode;

/** Validation compares the selections below equal fields in pairs, so many of them would make it slow. */
function assertFewRepeats(set: SelectionSetNode, fragments: Fragments): void {
  const counts = new Map<string, number>();
  for (const node of fieldsOf(set, fragments)) {
    if (!node.selectionSet) continue;
    const name = (node.alias ?? node.name).value;
    const count = (counts.get(name) ?? 0) + 1;
    if (count > MAX_REPEATS) throw tooComplex(`repeats > ${MAX_REPEATS}`);
    counts.set(name, count);
  }
}

/** Measures every selection once, however often fragments repeat it. */
function measuring(schema: GraphQLSchema, fragments: Fragments) {
  const nothing: Measure = { selections: 0, depth: 0, aliases: 0, fixed: 0, perItem: 0 };
  const known = new Map<SelectionSetNode, Measure>();

  function below(set: SelectionSetNode, parent: Parent): Measure {
    const done = known.get(set);
    if (done) return done;
    // A fragment that leads back to itself finds this; validation refuses it.
    known.set(set, nothing);
    const total = set.selections
      .map((node) => (node.kind === Kind.FIELD ? field(node, parent) : fragment(node, parent)))
      .reduce(
        (sum, part) => ({
          selections: sum.selections + part.selections,
          depth: Math.max(sum.depth, part.depth),
          aliases: sum.aliases + part.aliases,
          fixed: sum.fixed + part.fixed,
          perItem: sum.perItem + part.perItem,
        }),
        nothing,
      );
    known.set(set, total);
    return total;
  }

  function fragment(node: FragmentSpreadNode | InlineFragmentNode, parent: Parent): Measure {
    const found = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
    if (!found) return { ...nothing, selections: 1 };
    const type = found.typeCondition ? objectType(schema, found.typeCondition.name.value) : parent;
    const inner = below(found.selectionSet, type);
    return { ...inner, selections: 1 + inner.selections };
  }

  function field(node: FieldNode, parent: Parent): Measure {
    const own = node.alias ? 1 : 0;
    if (!node.selectionSet) return { selections: 1, depth: 1, aliases: own, fixed: 0, perItem: 0 };
    const name = node.name.value;
    const definition = parent?.getFields()[name];
    const inner = below(
      node.selectionSet,
      objectType(schema, definition && getNamedType(definition.type).name),
    );
    const [selections, aliases] = [1 + inner.selections, own + inner.aliases];
    // `__schema` and `__type` are exempt from depth and cost, and have a bound of their own.
    if (name.startsWith('__')) return { ...nothing, selections, aliases };
    const depth = 1 + inner.depth;
    if (name === 'items' && parent && 'nextCursor' in parent.getFields()) {
      return { selections, depth, aliases, fixed: 1, perItem: inner.fixed };
    }
    const factor = definition?.extensions['relation'] === 'many' ? RELATION_FACTOR : 1;
    return { selections, depth, aliases, fixed: 1 + factor * inner.fixed, perItem: factor * inner.perItem };
  }

  return { field, below };
}

function objectType(schema: GraphQLSchema, name: string | undefined): Parent {
  const type = name === undefined ? undefined : schema.getType(name);
  return isObjectType(type) ? type : undefined;
}
