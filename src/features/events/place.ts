/**
 * Where a reader of the feed stands: of each tenant node that has events, the sequence of the last one read. Sequences
 * are gapless and become visible in their order, so what is behind such a place can neither change nor grow.
 *
 * A node is known by the last 48 bits of its id, which are random: that keeps the place of many projects short. If
 * two projects of an organization ever shared them, their events would be repeated, never left out.
 */
export type Place = ReadonlyMap<string, number>;

/** The end of an id as the database cuts it off: `right(id::text, 12)`. */
export const tailOf = (nodeId: string): string => nodeId.slice(-12);

export function encodePlace(place: ReadonlyMap<string, number>): string {
  return [...place]
    .map(([tail, sequence]) => Buffer.from(tail, 'hex').toString('base64url') + sequence.toString(36))
    .join('.');
}

export function decodePlace(text: string): Map<string, number> {
  const entries = text === '' ? [] : text.split('.');
  return new Map(
    entries.map((entry) => [
      Buffer.from(entry.slice(0, 8), 'base64url').toString('hex'),
      parseInt(entry.slice(8), 36),
    ]),
  );
}
