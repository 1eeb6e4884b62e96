import { z } from 'zod';
import { refusal } from '../../values.ts';

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 10;

/** `context.resource`: any JSON object within 64 KB and depth 10 (authorization §7.1). */
export const contextResource = z.record(z.string(), z.unknown()).check((payload) => {
  if (depthOf(payload.value) > MAX_DEPTH) payload.issues.push(refusal('too_deep', payload.value));
  else if (JSON.stringify(payload.value).length > MAX_BYTES)
    payload.issues.push(refusal('too_long', payload.value));
});

/** Stops counting one past the limit: what is nested deeper needs no exact figure. */
function depthOf(value: unknown, depth = 0): number {
  if (value === null || typeof value !== 'object' || depth > MAX_DEPTH) return depth;
  return Math.max(depth + 1, ...Object.values(value).map((member) => depthOf(member, depth + 1)));
}
