import { z } from 'zod';
import { refusal } from '../../values.ts';

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 10;

/** `context.resource`: any JSON object within 64 KB and depth 10 (authorization §7.1). */
export const contextResource = z.record(z.string(), z.unknown()).check((payload) => {
  if (isDeeper(payload.value, MAX_DEPTH)) payload.issues.push(refusal('too_deep', payload.value));
  else if (JSON.stringify(payload.value).length > MAX_BYTES)
    payload.issues.push(refusal('too_long', payload.value));
});

/** Whether objects and lists are nested deeper than so many levels. */
function isDeeper(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
