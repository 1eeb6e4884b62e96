/**
 * The length of a value as JSON, in bytes of UTF-8, computed without writing it. Rows that are answered at many places
 * are one object in memory; only their text would use memory for each. Counting stops once it is above `most`.
 */
export function jsonBytes(value: unknown, most: number): number {
  let bytes = 0;
  const left = [value];
  while (left.length > 0 && bytes <= most) {
    const one = left.pop();
    if (typeof one === 'string') bytes += textBytes(one);
    else if (typeof one !== 'object' || one === null) bytes += String(one).length;
    else if (one instanceof Date) bytes += ISO_BYTES;
    else if (Array.isArray(one)) {
      bytes += 2 + Math.max(0, one.length - 1);
      for (const item of one as unknown[]) left.push(item);
    } else bytes += 2 + addMembers(one as Readonly<Record<string, unknown>>, left);
  }
  return bytes;
}

const ISO_BYTES = '"2026-01-02T03:04:05.006Z"'.length;

/** Bytes of names and punctuation; the values are left to be counted. */
function addMembers(object: Readonly<Record<string, unknown>>, left: unknown[]): number {
  let bytes = 0;
  for (const name of Object.keys(object)) {
    if (object[name] === undefined) continue;
    bytes += textBytes(name) + (bytes > 0 ? 2 : 1);
    left.push(object[name]);
  }
  return bytes;
}

/** Printable ASCII without a quote or a backslash is written as it is. */
const plain = /^[ !#-[\]-~]*$/;
const textBytes = (text: string): number =>
  plain.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
