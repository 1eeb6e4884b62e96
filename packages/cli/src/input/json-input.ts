import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';
import { readStdin } from './prompt.ts';

/** Reads a JSON object given as text, as `@file`, or as `-` for stdin. */
export async function jsonObject(
  run: Pick<Run, 'stdin' | 'cwd'>,
  flag: string,
  text: string,
): Promise<Record<string, unknown>> {
  if (text === '-') return parsedObject(flag, await readStdin(run));
  return parsedObject(flag, text.startsWith('@') ? await fileText(run, flag, text.slice(1)) : text);
}

/** Parses a JSON object. @throws Fault if the text isn't one */
export function parsedObject(flag: string, source: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw usageFault(`${flag} is not valid JSON: ${(error as Error).message.slice(0, 100)}.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageFault(`${flag} must be a JSON object.`);
  return value as Record<string, unknown>;
}

export async function fileText({ cwd }: Pick<Run, 'cwd'>, flag: string, path: string): Promise<string> {
  return readFile(resolve(cwd, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageFault(`${flag}: ${path} cannot be read (${error.code ?? error.name}).`);
  });
}
