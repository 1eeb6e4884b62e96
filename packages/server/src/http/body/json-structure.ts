const MAX_DEPTH = 32;
/**
 * Maximum number of members of an object or list. The largest value that an operation accepts, a `context.resource` of
 * 64 KiB, cannot have more. A larger one is an attempt to make parsing or validation slow.
 */
const MAX_MEMBERS = 32_768;

/** Checks whether JSON text is too deep or has too many members, before recursive code handles it. */
export function structureFault(text: string): 'too_deep' | 'too_long' | undefined {
  const members = new Uint32Array(MAX_DEPTH + 1);
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x2c) {
      const count = (members[depth] ?? 0) + 1;
      if (count > MAX_MEMBERS) return 'too_long';
      members[depth] = count;
    } else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_DEPTH) return 'too_deep';
      members[depth] = 1;
    } else if (char === 0x7d || char === 0x5d) depth--;
  }
  return undefined;
}
