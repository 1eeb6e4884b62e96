import ts from 'typescript';
import { regexMutations } from './regex.ts';

/**
 * What is put in the place of an expression, a block or a case: the set that Stryker has by default, and one more for
 * SQL. A mutation is a range of the file and the text that stands there instead.
 */
export interface Mutation {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const { SyntaxKind: Kind } = ts;

const swapped = new Map<ts.SyntaxKind, readonly string[]>([
  [Kind.PlusToken, ['-']],
  [Kind.MinusToken, ['+']],
  [Kind.AsteriskToken, ['/']],
  [Kind.SlashToken, ['*']],
  [Kind.PercentToken, ['*']],
  [Kind.GreaterThanGreaterThanToken, ['<<']],
  [Kind.AmpersandToken, ['|']],
  [Kind.LessThanToken, ['<=', '>=']],
  [Kind.LessThanEqualsToken, ['<', '>']],
  [Kind.GreaterThanToken, ['>=', '<=']],
  [Kind.GreaterThanEqualsToken, ['>', '<']],
  [Kind.EqualsEqualsEqualsToken, ['!==']],
  [Kind.ExclamationEqualsEqualsToken, ['===']],
  [Kind.AmpersandAmpersandToken, ['||']],
  [Kind.BarBarToken, ['&&']],
  [Kind.QuestionQuestionToken, ['&&']],
  [Kind.PlusEqualsToken, ['-=']],
  [Kind.MinusEqualsToken, ['+=']],
  [Kind.QuestionQuestionEqualsToken, ['&&=']],
  [Kind.BarBarEqualsToken, ['&&=']],
]);

/** Operators whose result is a truth, or is used as one. */
const truths = new Set([
  Kind.LessThanToken,
  Kind.LessThanEqualsToken,
  Kind.GreaterThanToken,
  Kind.GreaterThanEqualsToken,
  Kind.EqualsEqualsEqualsToken,
  Kind.ExclamationEqualsEqualsToken,
  Kind.AmpersandAmpersandToken,
  Kind.BarBarToken,
]);

/** Another method, or '' for the object itself without the call. */
const methods = new Map([
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['toLowerCase', 'toUpperCase'],
  ['toUpperCase', 'toLowerCase'],
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['sort', ''],
  ['toSorted', ''],
  ['filter', ''],
  ['slice', ''],
  ['trim', ''],
  ['charAt', ''],
]);

/** All mutations of one node, not of what is inside it. */
export function mutationsOf(node: ts.Node, file: ts.SourceFile): Mutation[] {
  const whole = (...texts: string[]) =>
    texts.map((text) => ({ start: node.getStart(file), end: node.end, text }));
  const around = (node: ts.Node, ...texts: string[]) =>
    texts.map((text) => ({ start: node.getStart(file), end: node.end, text }));

  if (ts.isBinaryExpression(node)) {
    const { operatorToken } = node;
    const joinsText = [node.left, node.right].some(ts.isStringLiteralLike);
    return [
      ...(joinsText ? [] : (swapped.get(operatorToken.kind) ?? [])).flatMap((other) =>
        isAssignment(node)
          ? around(operatorToken, other)
          : whole(`(${node.left.getText(file)}) ${other} (${node.right.getText(file)})`),
      ),
      ...(truths.has(operatorToken.kind) ? whole('true', 'false') : []),
    ];
  }
  if (ts.isConditionalExpression(node)) return around(node.condition, 'true', 'false');
  if (ts.isIfStatement(node)) return around(node.expression, 'true', 'false');
  if (ts.isWhileStatement(node)) return around(node.expression, 'false');
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) return around(node.body, 'undefined');
  if (ts.isBlock(node)) return node.statements.length > 0 ? whole('{}') : [];
  if (ts.isCaseOrDefaultClause(node)) {
    const [first] = node.statements;
    return first ? [{ start: first.getStart(file), end: node.end, text: '' }] : [];
  }
  if (node.kind === Kind.TrueKeyword) return whole('false');
  if (node.kind === Kind.FalseKeyword) return whole('true');
  if (ts.isPrefixUnaryExpression(node)) {
    const operand = node.operand.getText(file);
    if (node.operator === Kind.ExclamationToken) return whole(operand);
    if (node.operator === Kind.MinusToken) return whole(`+${operand}`);
  }
  if (ts.isPostfixUnaryExpression(node))
    return whole(`${node.operand.getText(file)}${node.operator === Kind.PlusPlusToken ? '--' : '++'}`);
  if (ts.isArrayLiteralExpression(node)) return whole(node.elements.length > 0 ? '[]' : '["another"]');
  if (ts.isObjectLiteralExpression(node)) return node.properties.length > 0 ? whole('{}') : [];
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node))
    return whole(node.text === '' ? '"another"' : '""');
  if (ts.isTemplateExpression(node)) return whole('""');
  if (ts.isRegularExpressionLiteral(node)) return whole(...regexMutations(node.text));
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { name, expression } = node.expression;
    const other = methods.get(name.text);
    if (other === '') return [{ start: expression.end, end: node.end, text: '' }];
    if (other !== undefined) return around(name, other);
  }
  return [];
}

export const isAssignment = ({ operatorToken: { kind } }: ts.BinaryExpression): boolean =>
  kind >= Kind.FirstAssignment && kind <= Kind.LastAssignment;

/** `a?.b` → `a.b`, for one link of a chain. */
export function unchained(node: ts.Node, file: ts.SourceFile): Mutation[] {
  if (
    !ts.isPropertyAccessExpression(node) &&
    !ts.isElementAccessExpression(node) &&
    !ts.isCallExpression(node)
  )
    return [];
  const token = node.questionDotToken;
  if (!token) return [];
  const text = ts.isPropertyAccessExpression(node) ? '.' : '';
  return [{ start: token.getStart(file), end: token.end, text }];
}
