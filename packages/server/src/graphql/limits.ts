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

/*
 * Limits of a document (graphql §1). They are checked before validation, so a type may be unknown. The time is linear
 * in the length of the document, however often fragments are spread.
 */

const MAX_ROOT_FIELDS = 15;
/** How often one selection may contain the same field with subfields. */
const MAX_REPEATS = 10;
const RELATION_FACTOR = 5;
/** Maximum number of selections in one HTTP request, with every fragment expanded wherever it is spread. */
const MAX_SELECTIONS = 5000;
/** Maximum number of introspection fields in one HTTP request. Each of them may read the complete schema. */
const MAX_INTROSPECTIONS = 5;

/** The error for a document that exceeds this limit. */
export const tooComplex = (limit: string) => fail('QUERY_TOO_COMPLEX', { params: { limit } });

/** Refuses a document with too many selections. @throws QUERY_TOO_COMPLEX */
export function assertSelectionLimit(count: number): void {
  if (count <= MAX_SELECTIONS) return;
  throw fail('QUERY_TOO_COMPLEX', {
    params: { limit: `selections > ${MAX_SELECTIONS}` },
    fix: 'Select less, spread fragments in fewer places, or send several requests.',
  });
}

/** Refuses a document with too many introspection fields. @throws QUERY_TOO_COMPLEX */
export function assertIntrospectionLimit(count: number): void {
  if (count > MAX_INTROSPECTIONS) throw tooComplex(`introspection fields > ${MAX_INTROSPECTIONS}`);
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

interface MeasuredDocument {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly fragments: Fragments;
  readonly limits: { readonly depth: number; readonly aliases: number };
}

/**
 * Returns the root fields of an operation with their cost, and the number of selections in all operations of the
 * document.
 * @throws QUERY_TOO_COMPLEX
 */
export function measureFields(
  { schema, document, fragments, limits }: MeasuredDocument,
  selection: SelectionSetNode,
  rootType: GraphQLObjectType,
): { readonly roots: readonly (Measure & { readonly node: FieldNode })[]; readonly selections: number } {
  const { field: measure, below } = createMeasurer(schema, fragments);
  // Checks every definition, because validation also visits operations that do not run and fragments that are not
  // spread.
  let selections = 0;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      const { typeCondition, selectionSet } = definition;
      assertSelectionLimit(below(selectionSet, objectType(schema, typeCondition.name.value)).selections);
    } else if (definition.kind === Kind.OPERATION_DEFINITION) {
      const type = schema.getRootType(definition.operation) ?? undefined;
      selections += below(definition.selectionSet, type).selections;
    }
  }
  assertSelectionLimit(selections);
  const roots = fieldsOf(selection, fragments).map((node) => ({ node, ...measure(node, rootType) }));
  const aliases = roots.reduce((sum, root) => sum + root.aliases, 0);
  if (roots.length > MAX_ROOT_FIELDS) throw tooComplex(`root fields > ${MAX_ROOT_FIELDS}`);
  if (aliases > limits.aliases) throw tooComplex(`aliases > ${limits.aliases}`);
  if (roots.some(({ depth }) => depth > limits.depth)) throw tooComplex(`depth > ${limits.depth}`);
  // Inline fragments are not entered, because their fields belong to the selection around them.
  const enter = ({ selectionSet }: Definition) =>
    void (selectionSet && assertRepeatLimit(selectionSet, fragments));
  visit(document, { Field: enter, OperationDefinition: enter, FragmentDefinition: enter });
  return { roots, selections };
}

/** Collects the fields of a selection and of its fragments. As in execution, each fragment counts once. */
function fieldsOf(
  set: SelectionSetNode,
  fragments: Fragments,
  fields: FieldNode[] = [],
  seen = new Set<SelectionSetNode>(),
): FieldNode[] {
  for (const node of set.selections) {
    if (node.kind === Kind.FIELD) {
      fields.push(node);
      continue;
    }
    const inner = (node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value))?.selectionSet;
    if (!inner || seen.has(inner)) continue;
    seen.add(inner);
    fieldsOf(inner, fragments, fields, seen);
  }
  return fields;
}

interface Measure {
  /** Fields and spreads including this one, with every fragment expanded. */
  readonly selections: number;
  readonly depth: number;
  readonly aliases: number;
  /** The constant part of the cost, and the cost of each item of the page. */
  readonly fixed: number;
  readonly perItem: number;
}

type Parent = GraphQLObjectType | undefined;
type Definition = FieldNode | OperationDefinitionNode | FragmentDefinitionNode;

/**
 * Limits how often a selection repeats a field with subfields: validation compares such fields pairwise, which is slow
 * for many of them. @throws QUERY_TOO_COMPLEX
 */
function assertRepeatLimit(set: SelectionSetNode, fragments: Fragments): void {
  const counts = new Map<string, number>();
  for (const node of fieldsOf(set, fragments)) {
    if (!node.selectionSet) continue;
    const name = (node.alias ?? node.name).value;
    const count = (counts.get(name) ?? 0) + 1;
    if (count > MAX_REPEATS) throw tooComplex(`repeats > ${MAX_REPEATS}`);
    counts.set(name, count);
  }
}

/** Measures each selection once, however often fragments repeat it. */
function createMeasurer(schema: GraphQLSchema, fragments: Fragments) {
  const zero: Measure = { selections: 0, depth: 0, aliases: 0, fixed: 0, perItem: 0 };
  const measures = new Map<SelectionSetNode, Measure>();

  function below(set: SelectionSetNode, parent: Parent): Measure {
    const measured = measures.get(set);
    if (measured) return measured;
    // Ends the recursion if a fragment spreads itself; validation refuses such a fragment later.
    measures.set(set, zero);
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
        zero,
      );
    measures.set(set, total);
    return total;
  }

  function fragment(node: FragmentSpreadNode | InlineFragmentNode, parent: Parent): Measure {
    const definition = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
    if (!definition) return { ...zero, selections: 1 };
    const type = definition.typeCondition ? objectType(schema, definition.typeCondition.name.value) : parent;
    const inner = below(definition.selectionSet, type);
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
    // `__schema` and `__type` do not count for depth and cost; MAX_INTROSPECTIONS limits them.
    if (name.startsWith('__')) return { ...zero, selections, aliases };
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
