/** The texts that are not mutated, because only people read them: those of schemas and those of errors. */
const described = new Set(['meta', 'describe']);
const texts = new Set(['StringLiteral', 'TemplateLiteral']);

function shouldIgnore({ node, parent, listKey }) {
  if (listKey !== 'arguments') return undefined;
  const { callee } = parent;
  if (callee.type === 'MemberExpression' && described.has(callee.property.name))
    return 'The description of a schema: docs/reference prints it.';
  const isLast = parent.arguments.at(-1) === node;
  if (parent.type === 'NewExpression' && callee.name?.endsWith('Error') && isLast && texts.has(node.type))
    return 'The text of an error.';
  return undefined;
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'texts', value: { shouldIgnore } }];
