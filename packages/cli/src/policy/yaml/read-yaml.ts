import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import type { Document, LineCounter } from 'yaml';
import { usageFault } from '../../fault.ts';
import { faultIn } from './yaml-fault.ts';

/** A file of a policy, with its content and a tree that knows where each member is written. */
export interface YamlFile {
  /** The path of the file, as messages show it. */
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly document: Document;
  readonly lines: LineCounter;
}

/**
 * Reads a file as YAML 1.2 or JSON. Keys are names of rows, so they stay text: `1.10` and `007` are not read as
 * numbers.
 * @throws Fault (exit 2) with file, line and column
 */
export async function readYaml(path: string, name: string): Promise<YamlFile> {
  const yaml = await import('yaml');
  const bytes = await readFile(path);
  if (!isUtf8(bytes)) throw usageFault(`${name}:${placeOfBrokenByte(bytes)} The file isn't valid UTF-8.`);
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(bytes.toString(), {
    lineCounter: lines,
    version: '1.2',
    schema: 'core',
    uniqueKeys: true,
    stringKeys: true,
  });
  const refuse = (offset: number, message: string) => {
    const { line, col } = lines.linePos(offset);
    return usageFault(`${name}:${line}:${col} ${message}`);
  };
  const [error] = [...document.errors, ...document.warnings];
  if (error) throw refuse(error.pos[0], messages[error.code] ?? ownMessage(error.message));
  const fault = faultIn(document, yaml);
  if (fault) throw refuse(fault.offset, fault.message);
  const value: unknown = document.toJS({ maxAliasCount: -1 }) ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse(0, 'A policy document must be a mapping, such as `version: 1`.');
  return { name, value: value as YamlFile['value'], document, lines };
}

/** Replacements for parser messages that mention functions of the parser. */
const messages: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'A second document begins here. Put it into a file of its own, and name that in `include`.',
  NON_STRING_KEY: 'A key has to be plain text.',
};

/** Returns the first line of a parser message, without the position at its end, which is shown anyway. */
const ownMessage = (message: string): string =>
  (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:$/, '');

function placeOfBrokenByte(bytes: Buffer): string {
  let [line, start] = [1, 0];
  for (;;) {
    const end = bytes.indexOf(0x0a, start);
    const text = bytes.subarray(start, end < 0 ? undefined : end);
    if (!isUtf8(text)) {
      // Invalid and truncated characters are both decoded to U+FFFD, so its position is that of the invalid byte.
      const valid = text.toString().indexOf('\ufffd');
      return `${line}:${valid + 1}`;
    }
    line += 1;
    start = end + 1;
  }
}
