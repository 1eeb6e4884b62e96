/**
 * The length of a value as JSON in UTF-8 bytes, computed without serializing it: a row that occurs many times in a
 * response is one object in memory, but its JSON would take memory for each occurrence. Counting stops above
 * `maxBytes`.
 */
export function jsonBytes(value: unknown, maxBytes: number): number {
  let bytes = 0;
  const pending = [value];
  while (pending.length > 0 && bytes <= maxBytes) {
    const entry = pending.pop();
    if (typeof entry === 'string') bytes += textBytes(entry);
    else if (typeof entry !== 'object' || entry === null) bytes += String(entry).length;
    else if (entry instanceof Date) bytes += ISO_BYTES;
    else if (Array.isArray(entry)) {
      bytes += 2 + Math.max(0, entry.length - 1);
      for (const item of entry as unknown[]) pending.push(item);
    } else bytes += 2 + addMembers(entry as Readonly<Record<string, unknown>>, pending);
  }
  return bytes;
}

const ISO_BYTES = '"2026-01-02T03:04:05.006Z"'.length;

/** Counts names and punctuation, and adds the values to `pending`. */
function addMembers(object: Readonly<Record<string, unknown>>, pending: unknown[]): number {
  let bytes = 0;
  for (const name of Object.keys(object)) {
    if (object[name] === undefined) continue;
    bytes += textBytes(name) + (bytes > 0 ? 2 : 1);
    pending.push(object[name]);
  }
  return bytes;
}

/** Printable ASCII without a quote or a backslash needs no escapes. */
const plain = /^[ !#-[\]-~]*$/;
const textBytes = (text: string): number =>
  plain.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
