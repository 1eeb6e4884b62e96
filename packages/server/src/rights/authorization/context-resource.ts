import { z } from 'zod';
import { inexactCode, isInexact } from '@doorward/decision/inexact';
import type { DetailCode } from '../../errors.ts';
import { refusal } from '../../kernel/input/values.ts';

/** The maximum length of the JSON text, in characters. */
export const MAX_CONTEXT_LENGTH = 64 * 1024;
const MAX_DEPTH = 10;

/**
 * `context.resource`: a JSON object of at most 64 K characters and 10 levels, without inexact numbers (authorization
 * §7.1).
 */
export const contextResource = z.record(z.string(), z.unknown()).check((payload) => {
  for (const { code, path } of faultsOfAttributes(payload.value))
    payload.issues.push(refusal(code, payload.value, path));
});

/** Returns the faults in the attributes of a question. */
export function faultsOfAttributes(attributes: Readonly<Record<string, unknown>>): AttributeFault[] {
  if (isDeeperThan(attributes, MAX_DEPTH)) return [{ code: 'too_deep', path: [] }];
  if (JSON.stringify(attributes).length > MAX_CONTEXT_LENGTH) return [{ code: 'too_long', path: [] }];
  return findInexactNumbers(attributes).map(({ path, value }) => ({ code: inexactCode(value), path }));
}

interface AttributeFault {
  readonly code: DetailCode;
  readonly path: string[];
}

/** The maximum number of inexact numbers that one answer reports. */
const MAX_REPORTED = 20;

/**
 * The paths of numbers that JSON may have rounded. They are refused, because a decision about the wrong row is worse
 * than none.
 */
function findInexactNumbers(resource: unknown): { readonly path: string[]; readonly value: number }[] {
  const inexactNumbers: { readonly path: string[]; readonly value: number }[] = [];
  function visit(value: unknown, path: string[]): void {
    if (inexactNumbers.length === MAX_REPORTED) return;
    if (isInexact(value)) inexactNumbers.push({ path, value });
    else if (value !== null && typeof value === 'object') {
      for (const [name, member] of Object.entries(value)) visit(member, [...path, name]);
    }
  }
  visit(resource, []);
  return inexactNumbers;
}

/** Whether objects and lists are nested deeper than `levels`. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}
