import ts from 'typescript';
import { isAssignment, mutationsOf, unchained, type Mutation } from './mutations.ts';

/**
 * All mutants of a file in one text: where one could be, the text asks which of them is active. So nothing is built
 * again for a mutant, and which test comes by which of them is known from one run of the unchanged code.
 */
export interface Mutant {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  readonly original: string;
  readonly replacement: string;
  /** Tells mutants that read alike apart: the how-manieth in the file. */
  readonly nth: number;
}

export interface Instrumented {
  readonly text: string;
  readonly mutants: readonly Mutant[];
  /** How many places were left out, by reason. */
  readonly leftOut: ReadonlyMap<string, number>;
}

export function instrument(file: string, source: string, firstId: number): Instrumented {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const seen = new Map<string, number>();
  const leftOut = new Map<string, number>();
  /** By the node around which a choice is put. */
  const hosted = new Map<ts.Node, { id: number; mutation: Mutation }[]>();

  function add(host: ts.Node, mutation: Mutation): void {
    const { start, end, text: replacement } = mutation;
    const existing = hosted.get(host) ?? [];
    if (
      existing.some(
        (item) =>
          item.mutation.start === start && item.mutation.end === end && item.mutation.text === replacement,
      )
    )
      return;
    const original = source.slice(start, end);
    const id = firstId + mutants.length;
    const alike = `${original} → ${replacement}`;
    const nth = (seen.get(alike) ?? 0) + 1;
    seen.set(alike, nth);
    const line = tree.getLineAndCharacterOfPosition(start).line + 1;
    mutants.push({ id, file, line, original, replacement, nth });
    existing.push({ id, mutation });
    hosted.set(host, existing);
  }

  function visit(node: ts.Node): void {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isModuleDeclaration(node)) return;
    for (const mutation of [...mutationsOf(node, tree), ...unchained(node, tree)]) {
      const reason = leftOutBecause(node);
      const host = hostOf(node, mutation, tree);
      if (reason !== undefined) leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
      else if (host) add(host, mutation);
    }
    ts.forEachChild(node, visit);
  }
  visit(tree);

  /** The text of a node with its choices in it. */
  function rendered(node: ts.Node): string {
    const start = node.getStart(tree);
    let at = start;
    let text = '';
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => void children.push(child));
    for (const child of children.sort((a, b) => a.getStart(tree) - b.getStart(tree))) {
      const from = child.getStart(tree);
      if (from < at) continue;
      text += source.slice(at, from) + rendered(child);
      at = child.end;
    }
    text += source.slice(at, node.end);
    const choices = hosted.get(node) ?? [];
    if (ts.isBlock(node)) return choices.reduce((inner, { id }) => `{ if (!__m(${id})) ${inner} }`, text);
    if (ts.isCaseOrDefaultClause(node)) {
      const [choice] = choices;
      const colon = text.indexOf(':', node.statements[0] ? 0 : text.length);
      if (!choice) return text;
      const head = ts.isCaseClause(node) ? `case ${rendered(node.expression)}:` : text.slice(0, colon + 1);
      const body = node.statements.map(rendered).join('\n');
      return `${head} if (!__m(${choice.id})) { ${body} }`;
    }
    const loops =
      !ts.isSourceFile(node) && ts.isWhileStatement(node.parent) && node === node.parent.expression;
    const chosen = choices.reduceRight((otherwise, { id, mutation }) => {
      const other =
        source.slice(start, mutation.start) + mutation.text + source.slice(mutation.end, node.end);
      return `__m(${id}) ? (${other}) : ${otherwise}`;
    }, `(${text})`);
    const choice = choices.length > 0 ? `(${chosen})` : text;
    return loops ? `__l(${choice})` : choice;
  }
  return { text: rendered(tree), mutants, leftOut };
}

/** The smallest part around a mutation that may stand in a choice; a block or a case is its own. */
function hostOf(node: ts.Node, { start, end }: Mutation, tree: ts.SourceFile): ts.Node | undefined {
  if (ts.isBlock(node) || ts.isCaseOrDefaultClause(node)) return node;
  if (ts.isPropertyName(node) && isName(node)) return undefined;
  let inner: ts.Node | undefined = node;
  // The part that is replaced may be inside the node: a condition, the body of a function.
  for (;;) {
    const smaller: ts.Node | undefined = ts.forEachChild(inner, (child) =>
      child.getStart(tree) <= start && child.end >= end ? child : undefined,
    );
    if (!smaller) break;
    inner = smaller;
  }
  for (let node: ts.Node | undefined = inner; node; node = node.parent) if (isChoosable(node)) return node;
  return undefined;
}

const isName = (node: ts.Node): boolean =>
  ((ts.isPropertyAssignment(node.parent) || ts.isPropertySignature(node.parent)) &&
    node.parent.name === node) ||
  (ts.isBindingElement(node.parent) && node.parent.propertyName === node);

function isChoosable(node: ts.Node): boolean {
  if (!ts.isExpression(node) || ts.isOmittedExpression(node) || isName(node)) return false;
  // Identifiers include names of what is declared; nothing is to be chosen there.
  if (ts.isIdentifier(node) || ts.isSpreadElement(node)) return false;
  const { parent } = node;
  if ((ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression === node)
    return !ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node) && !inChain(node);
  if (ts.isTaggedTemplateExpression(parent)) return false;
  if (ts.isTemplateHead(node)) return false;
  if (ts.isBinaryExpression(parent) && parent.left === node && isAssignment(parent)) return false;
  if (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent))
    return (
      parent.operator !== ts.SyntaxKind.PlusPlusToken && parent.operator !== ts.SyntaxKind.MinusMinusToken
    );
  return !inChain(node);
}

/** `a?.b` in `a?.b.c`: on its own, it would end the chain. */
function inChain(node: ts.Node): boolean {
  const { parent } = node;
  const linked =
    ts.isPropertyAccessExpression(parent) ||
    ts.isElementAccessExpression(parent) ||
    ts.isCallExpression(parent);
  return linked && parent.expression === node && (node.flags & ts.NodeFlags.OptionalChain) !== 0;
}

/** What is not mutated, and why. */
function leftOutBecause(node: ts.Node): string | undefined {
  for (let item: ts.Node = node; !ts.isSourceFile(item); item = item.parent) {
    const { parent } = item;
    if (ts.isCallExpression(item) && ts.isPropertyAccessExpression(item.expression)) {
      if (item.expression.name.text === 'meta' && node.pos >= item.arguments.pos)
        return 'documentation of a schema (compared with docs/reference)';
    }
    if (ts.isTaggedTemplateExpression(parent) && item === parent.template && item === node)
      return 'text of a statement as a whole';
    if (ts.isNewExpression(item) && ts.isThrowStatement(parent)) return 'text of an error for developers';
    if (ts.isPropertyAssignment(item) && ts.isIdentifier(item.name) && item.name.text === 'fix')
      return 'text of a hint';
  }
  return undefined;
}
