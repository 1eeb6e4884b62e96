import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Names the place in the sources for a line of a stack that names one in a bundle, by the source map beside the bundle
 * (ECMA-426). `node --enable-source-maps` does the same for every error as soon as it has a stack, and keeps the map
 * in memory for it, unpacked: fifty megabytes. Here it is read when a failure is logged, and let go.
 *
 * @example `at run (file:///app/dist/main.js:812:77)` → `at run (src/features/roles/operations.ts:41:9)`
 */
export function createSourcePlaces(): (line: string) => string {
  // The same failures come again and again.
  const known = new Map<string, string>();
  return (line) => {
    const [place, url = '', row = '', column = ''] = /(file:\/\/[^\s()]+):(\d+):(\d+)/.exec(line) ?? [];
    if (place === undefined) return line;
    let found = known.get(place);
    if (found === undefined) {
      found = sourceOf(url, Number(row) - 1, Number(column) - 1) ?? place;
      if (known.size >= MOST) known.clear();
      known.set(place, found);
    }
    return line.replace(place, found);
  };
}

const MOST = 1000;

interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/** Undefined where there is no map, or it knows nothing of the place: a trace never fails for the sake of its looks. */
function sourceOf(url: string, row: number, column: number): string | undefined {
  try {
    const map = JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')) as SourceMap;
    const found = lookUp(map.mappings, row, column);
    const source = found && map.sources[found.source];
    return source === undefined
      ? undefined
      : `${source.replace(/^(\.\.\/)+/, '')}:${found?.row}:${found?.column}`;
  } catch {
    return undefined;
  }
}

const digits = new Map(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].map((digit, value) => [
    digit.charCodeAt(0),
    value,
  ]),
);
const SEMICOLON = 0x3b;
const COMMA = 0x2c;

/**
 * The last mapping of the line that begins at or before the column. Everything but the column goes on from line to
 * line, so the text is walked from its start, and nothing of it is kept. Rows and columns of the answer count from 1.
 */
export function lookUp(
  mappings: string,
  row: number,
  column: number,
): { source: number; row: number; column: number } | undefined {
  // Column, source, row and column there, name.
  const fields: [number, number, number, number, number] = [0, 0, 0, 0, 0];
  let found: { source: number; row: number; column: number } | undefined;
  let line = 0;
  let at = 0;
  while (at < mappings.length && line <= row) {
    const code = mappings.charCodeAt(at);
    if (code === SEMICOLON) {
      line++;
      fields[0] = 0;
    }
    if (code === SEMICOLON || code === COMMA) {
      at++;
      continue;
    }
    let field = 0;
    for (let next = digits.get(mappings.charCodeAt(at)); next !== undefined; field++) {
      let value = 0;
      for (let shift = 0, more = true; more && next !== undefined; shift += 5) {
        value += (next & 31) << shift;
        more = next >= 32;
        next = digits.get(mappings.charCodeAt(++at));
      }
      fields[field] = (fields[field] ?? 0) + (value & 1 ? -(value >> 1) : value >> 1);
    }
    if (line !== row) continue;
    if (fields[0] > column) break;
    if (field > 1) found = { source: fields[1], row: fields[2] + 1, column: fields[3] + 1 };
  }
  return found;
}
