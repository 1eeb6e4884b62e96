import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { stories, tags } from '../../../../../test/support/stories.ts';

/** Waiting for concurrent calls is visible in the code; whether they can collide, only the author can say. */
const together = /\bPromise\.(?:all|allSettled)\(/;
const onlyExhaustive =
  /\.(?:runIf\((?:inject\('postgresUrl'\)|isWhole\(\))|skipIf\(!process\.env\['TEST_REDIS_URL'\])\)/;

interface Call {
  readonly kind: string;
  /** The called expression, such as `it.runIf(isWhole())`. */
  readonly callee: string;
  readonly tag: string | undefined;
}

/** A call of `describe`, `it` or `test` with a body. */
function callIn(node: ts.Node): Call | undefined {
  if (!ts.isCallExpression(node) || !node.arguments.some(ts.isArrowFunction)) return undefined;
  const callee = node.expression.getText();
  const kind = /^(?:describe|it|test)\b/.exec(callee)?.[0];
  const options = node.arguments.find(ts.isObjectLiteralExpression)?.getText() ?? '';
  return kind === undefined ? undefined : { kind, callee, tag: /\btags: '(\w+)'/.exec(options)?.[1] };
}

/** The tests of a story that need a tag and have none. */
function untagged(source: string): string[] {
  const file = ts.createSourceFile('story.ts', source, ts.ScriptTarget.Latest, true);
  const helpers: string[] = [];
  const tests: { readonly text: string; readonly only: boolean }[] = [];
  const visit = (node: ts.Node, only: boolean): void => {
    const call = callIn(node);
    if (call?.tag) return;
    const limited = only || onlyExhaustive.test(call?.callee ?? '');
    if (call && call.kind !== 'describe') {
      tests.push({ text: node.getText(), only: limited });
      return;
    }
    const isHelper = ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node);
    if (isHelper && node.name && together.test(node.getText())) helpers.push(node.name.getText());
    ts.forEachChild(node, (child) => visit(child, limited));
  };
  visit(file, false);
  const calls = helpers.map((name) => new RegExp(String.raw`\b${name}\(`));
  return tests
    .filter(({ text, only }) => only || [together, ...calls].some((pattern) => pattern.test(text)))
    .map(({ text }) => text.slice(0, 100));
}

it('every story tags its races, and the tests that the fast suite skips', () => {
  const root = join(import.meta.dirname, '../../../../..');
  const missing = stories()
    .map((path) => ({ path, source: readFileSync(join(root, path), 'utf8') }))
    // Other tests have no database.
    .filter(({ source }) => source.includes('/support/app/app.ts'))
    .filter(({ source }) => together.test(source) || onlyExhaustive.test(source))
    .flatMap(({ path, source }) => untagged(source).map((text) => `${path}: ${text}`));
  expect(missing, `One of the tags ${tags.map(({ name }) => name).join(', ')} is missing`).toEqual([]);
});

describe('a test needs a tag', () => {
  const race = 'await Promise.all([call(), call()]);';
  it.each([
    ['that waits for several calls', `it('x', async () => { ${race} })`],
    ['in a group', `describe('x', () => { it.each([1])('y', async () => { ${race} }) })`],
    ['that calls a helper', `const both = () => ${race}\ntest('x', async () => { await both(); })`],
    ['of the exhaustive suite', `it.runIf(isWhole())('x', async () => undefined)`],
    [
      'in an exhaustive group',
      `describe.runIf(inject('postgresUrl'))('x', () => { it('y', () => undefined) })`,
    ],
  ])('%s', (_name, source) => expect(untagged(source)).toHaveLength(1));

  it.each([
    ['with a tag', `it('x', { tags: 'race' }, async () => { ${race} })`],
    ['whose group has one', `describe('x', { tags: 'race' }, () => { it('y', async () => { ${race} }) })`],
    ['that waits for one call', `it('x', async () => { await call(); })`],
  ])('but not one %s', (_name, source) => expect(untagged(source)).toEqual([]));
});
