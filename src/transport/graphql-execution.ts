import {
  execute,
  Kind,
  OperationTypeNode,
  visit,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type ValueNode,
  type VariableDefinitionNode,
  type VariableNode,
} from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';
import { Json } from './graphql-schema.ts';

/** How a document runs: interpreted the first time, compiled from the second on. */

/** The argument of a root field, and the variable that stands for it when the document runs. */
export interface Input {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly node: ValueNode;
}

export function inputsOf(
  nodes: readonly FieldNode[],
  rootType: GraphQLObjectType,
  definitions: readonly VariableDefinitionNode[],
): ReadonlyMap<FieldNode, Input> {
  // With a prefix that is longer than any name in the document, no name can collide.
  const prefix = '_'.repeat(
    1 + Math.max(0, ...definitions.map(({ variable }) => variable.name.value.length)),
  );
  const inputs = new Map<FieldNode, Input>();
  for (const node of nodes) {
    const [argument] = node.arguments ?? [];
    const type = rootType.getFields()[node.name.value]?.args[0]?.type;
    if (argument && type) inputs.set(node, { name: `${prefix}${inputs.size}`, type, node: argument.value });
  }
  return inputs;
}

export type Execute = (
  context: unknown,
  variables: Readonly<Record<string, unknown>>,
  inputs: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

/** Interprets the document the first time and compiles it the second. */
export function executing(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: readonly FragmentDefinitionNode[],
  inputs: ReadonlyMap<FieldNode, Input>,
): Execute {
  let compilable = operation.operation === OperationTypeNode.QUERY;
  const withVariables = <N extends OperationDefinitionNode | FragmentDefinitionNode>(definition: N) =>
    visit<N>(definition, {
      // Variables may stand in directives, text should stand nowhere, and names in `__` are the compiler's own.
      Directive: () => void (compilable = false),
      StringValue: () => void (compilable = false),
      Field(node) {
        const [name, alias] = [node.name.value, node.alias?.value];
        if (alias?.startsWith('__') || (name.startsWith('__') && name !== '__typename')) compilable = false;
        const input = inputs.get(node);
        if (!input) return undefined;
        return {
          ...node,
          arguments: node.arguments?.map((one) => ({ ...one, value: variable(input.name) })),
        };
      },
    });
  const selection = withVariables(operation);
  const documentWith = (definitions: readonly VariableDefinitionNode[]): DocumentNode => ({
    kind: Kind.DOCUMENT,
    definitions: [{ ...selection, variableDefinitions: definitions }, ...fragments.map(withVariables)],
  });
  const ours = [...inputs.values()].map(({ name }): VariableDefinitionNode => ({
    kind: Kind.VARIABLE_DEFINITION,
    variable: variable(name),
    // Already read and checked; checking it again would only cost time.
    type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: Json.name } },
  }));
  const document = documentWith([...(operation.variableDefinitions ?? []), ...ours]);
  let runs = 0;
  let compiled: CompiledQuery | undefined;
  return (contextValue, variables, values) => {
    if (compilable && ++runs === 2) {
      const result = compileQuery(schema, documentWith(ours), undefined, { disableLeafSerialization: true });
      if (isCompiledQuery(result)) compiled = result;
    }
    if (compiled) return compiled.query(undefined, contextValue, values);
    return execute({ schema, document, contextValue, variableValues: { ...variables, ...values } });
  };
}

const variable = (name: string): VariableNode => ({
  kind: Kind.VARIABLE,
  name: { kind: Kind.NAME, value: name },
});
