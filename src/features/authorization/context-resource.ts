import { z } from 'zod';
import { inexactCode, isInexact } from '../../access/inexact.ts';
import { refusal } from '../../values.ts';

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 10;

/** `context.resource`: any JSON object within 64 KB and depth 10 (authorization §7.1). */
export const contextResource = z.record(z.string(), z.unknown()).check((payload) => {
  if (isDeeper(payload.value, MAX_DEPTH)) payload.issues.push(refusal('too_deep', payload.value));
  else if (JSON.stringify(payload.value).length > MAX_BYTES)
    payload.issues.push(refusal('too_long', payload.value));
  else {
    for (const { path, value } of inexactIn(payload.value))
      payload.issues.push(refusal(inexactCode(value), payload.value, path));
  }
});

/** The most faults that an answer names. */
const MAX_NAMED = 20;

/**
 * The places of numbers that JSON may have rounded. They are refused, because a decision about the wrong row is worse
 * than none.
 */
function inexactIn(resource: unknown): { readonly path: string[]; readonly value: number }[] {
  const found: { readonly path: string[]; readonly value: number }[] = [];
  function look(value: unknown, path: string[]): void {
    if (found.length === MAX_NAMED) return;
    if (isInexact(value)) found.push({ path, value });
    else if (value !== null && typeof value === 'object') {
      for (const [name, member] of Object.entries(value)) look(member, [...path, name]);
    }
  }
  look(resource, []);
  return found;
}

/** Whether objects and lists are nested deeper than so many levels. */
function isDeeper(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
