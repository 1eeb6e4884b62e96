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
import { Json } from './schema.ts';

/** The variable that replaces the argument of a root field. */
interface InputVariable {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly node: ValueNode;
}

export function inputVariables(
  nodes: readonly FieldNode[],
  rootType: GraphQLObjectType,
  definitions: readonly VariableDefinitionNode[],
): ReadonlyMap<FieldNode, InputVariable> {
  // The prefix is longer than any variable name in the document, so no names can collide.
  const prefix = '_'.repeat(
    1 + Math.max(0, ...definitions.map(({ variable }) => variable.name.value.length)),
  );
  const inputs = new Map<FieldNode, InputVariable>();
  for (const node of nodes) {
    const [argument] = node.arguments ?? [];
    const type = rootType.getFields()[node.name.value]?.args[0]?.type;
    if (argument && type) inputs.set(node, { name: `${prefix}${inputs.size}`, type, node: argument.value });
  }
  return inputs;
}

type Execute = (
  context: unknown,
  variables: Readonly<Record<string, unknown>>,
  inputs: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

/** Returns a function that interprets the document on its first run, and compiles it on the second if it may. */
export function createExecutor(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: readonly FragmentDefinitionNode[],
  inputs: ReadonlyMap<FieldNode, InputVariable>,
): Execute {
  let isCompilable = operation.operation === OperationTypeNode.QUERY;
  const withVariables = <N extends OperationDefinitionNode | FragmentDefinitionNode>(definition: N) =>
    visit<N>(definition, {
      // Directives may contain variables, string literals are unsafe to compile, and the compiler itself uses names
      // with `__`.
      Directive: () => void (isCompilable = false),
      StringValue: () => void (isCompilable = false),
      Field(node) {
        const [name, alias] = [node.name.value, node.alias?.value];
        if (alias?.startsWith('__') || (name.startsWith('__') && name !== '__typename')) isCompilable = false;
        const input = inputs.get(node);
        if (!input) return undefined;
        return {
          ...node,
          arguments: node.arguments?.map((argument) => ({ ...argument, value: variable(input.name) })),
        };
      },
    });
  const selection = withVariables(operation);
  const documentWith = (definitions: readonly VariableDefinitionNode[]): DocumentNode => ({
    kind: Kind.DOCUMENT,
    definitions: [{ ...selection, variableDefinitions: definitions }, ...fragments.map(withVariables)],
  });
  const inputDefinitions = [...inputs.values()].map(({ name }): VariableDefinitionNode => ({
    kind: Kind.VARIABLE_DEFINITION,
    variable: variable(name),
    // The value is already validated. The type `JSON` avoids a second validation.
    type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: Json.name } },
  }));
  const document = documentWith([...(operation.variableDefinitions ?? []), ...inputDefinitions]);
  let runs = 0;
  let compiled: CompiledQuery | undefined;
  return (contextValue, variables, values) => {
    if (isCompilable && ++runs === 2) {
      const result = compileQuery(schema, documentWith(inputDefinitions), undefined, {
        disableLeafSerialization: true,
      });
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
