/** The largest edit distance at which a word of this length counts as a typing error. */
const maxDistance = (length: number): number => (length < 4 ? 1 : length < 20 ? 2 : 3);

/**
 * Returns the word that the caller most likely meant; undefined if none is similar. Words over 128 characters are not
 * compared.
 */
export function nearest(
  word: string,
  words: Iterable<string>,
  atMost = maxDistance(word.length),
): string | undefined {
  if (word.length > 128) return undefined;
  let match: string | undefined;
  let least = atMost;
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) > least) continue;
    const distance = distanceOf(word, candidate);
    if (distance > least || (distance === least && match !== undefined)) continue;
    match = candidate;
    least = distance;
  }
  return match;
}

/**
 * The edit distance: how many letters to insert, remove, replace or swap with a neighbor (optimal string alignment).
 */
function distanceOf(from: string, to: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[j - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, row] = [row, next];
  }
  return row[to.length] ?? 0;
}
