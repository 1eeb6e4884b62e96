import { readFile } from 'node:fs/promises';
import { usageFault } from '../fault.ts';
import { readStdin } from './prompt.ts';

/** An object from JSON, from `@file`, or from stdin (`-`). */
export async function jsonObject(flag: string, text: string): Promise<Record<string, unknown>> {
  const source =
    text === '-' ? await readStdin() : text.startsWith('@') ? await fileText(flag, text.slice(1)) : text;
  return parsedObject(flag, source);
}

/** @throws Fault for what is no JSON object */
export function parsedObject(flag: string, source: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw usageFault(`${flag} is no JSON: ${(error as Error).message.slice(0, 100)}.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageFault(`${flag} must be a JSON object.`);
  return value as Record<string, unknown>;
}

export async function fileText(flag: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageFault(`${flag}: ${path} cannot be read (${error.code ?? error.name}).`);
  });
}
