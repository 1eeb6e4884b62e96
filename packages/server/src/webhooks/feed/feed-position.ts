/**
 * The sequence of the last event read from each node, by the last 48 bits of the node's id. These bits are random, and
 * keep a position over many projects short. If two projects of an organization ever had the same 48 bits, events would
 * be repeated, never omitted.
 */
export type FeedPosition = ReadonlyMap<string, number>;

/** Returns the last 48 bits of an id. The statement of the feed computes them as `right(id::text, 12)`. */
export const idSuffix = (nodeId: string): string => nodeId.slice(-12);

/** Returns a position as short text for the cursor. */
export function encodePosition(position: ReadonlyMap<string, number>): string {
  return [...position]
    .map(([suffix, sequence]) => Buffer.from(suffix, 'hex').toString('base64url') + sequence.toString(36))
    .join('.');
}

/** Returns the position that `encodePosition` wrote. Empty text is the beginning of the feed. */
export function decodePosition(text: string): Map<string, number> {
  const entries = text === '' ? [] : text.split('.');
  return new Map(
    entries.map((entry) => [
      Buffer.from(entry.slice(0, 8), 'base64url').toString('hex'),
      parseInt(entry.slice(8), 36),
    ]),
  );
}
