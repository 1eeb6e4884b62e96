import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** Words that readers did not understand, and that must not come back. docs/glossary.md says what to write instead. */
const root = join(import.meta.dirname, '..');

/** As a part of any name, for example in `loadStanding`. */
const parts = new Set(
  (
    'anew asked carrier carriers entrant fell felled felling giving heard holdings impostor occasion occasions ' +
    'rehearsal rehearse rehearsed standing standings surroundings told touch touched touches wear wearer wearers ' +
    'wears worn'
  ).split(' '),
);
/** As the whole name of a variable: it says nothing about what the variable holds. */
const wholes = new Set(['found', 'known', 'one']);

/** In comments and in texts. "they" is for a person; a sentence names who acts. */
const phrases =
  /\b(?:anew|anybody|entrants?|felling|goes by|he|him|himself|his|impostors?|in the name of|nobody|occasions?|rehears\w+|second wall|somebody|surroundings|takes? part|told|wears?|wearers?|whoever|worn)\b/gi;

/** A member of the encrypted JSON of a sign-in flow, which lasts for ten minutes: both versions of an upgrade read it. */
const stored = new Set(['asked']);

/** Texts in other languages, in which these are other words. */
const translated = /i18n\/|texts\.ts$|-mail\.ts$/;

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => file !== 'test/language.test.ts' && existsSync(join(root, file)));

const sourceOf = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);

const lineOf = (source: ts.SourceFile, position: number): number =>
  source.getLineAndCharacterOfPosition(position).line + 1;

function namesIn(file: string): string[] {
  const source = sourceOf(file);
  const bad: string[] = [];
  const visit = (node: ts.Node): void => {
    const named = node as ts.Node & { readonly name?: ts.Node };
    if (named.name && ts.isIdentifier(named.name) && !ts.isPropertyAccessExpression(node)) {
      const { text } = named.name;
      const isVariable = ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node);
      const words = text.split(/(?=[A-Z])|_/).map((word) => word.toLowerCase());
      if (!stored.has(text) && ((isVariable && wholes.has(text)) || words.some((word) => parts.has(word))))
        bad.push(`${file}:${lineOf(source, named.name.getStart())} ${text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return bad;
}

function phrasesIn(file: string): string[] {
  const source = sourceOf(file);
  const bad: string[] = [];
  const report = (text: string, position: number): void => {
    for (const [phrase] of text.matchAll(phrases)) bad.push(`${file}:${lineOf(source, position)} ${phrase}`);
  };
  for (const { index, 0: comment } of source.text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/gm))
    report(comment, index);
  const isTest = /\.test\.ts$|(?:^|\/)test\//.test(file);
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node)
    )
      report(node.text, node.getStart());
    ts.forEachChild(node, visit);
  };
  if (!isTest && !translated.test(file)) visit(source);
  return bad;
}

describe('words that must not come back', () => {
  it('are in no name', () => {
    expect(files.flatMap(namesIn)).toEqual([]);
  });

  it('are in no comment and in no text', () => {
    expect(files.flatMap(phrasesIn)).toEqual([]);
  });
});
