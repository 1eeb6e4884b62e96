import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chanceFrom } from '../support/cases/chance.ts';
import { instrument, type Mutant } from './instrument.ts';

/** A sample of faults from the whole service, and the sources with those faults built in. */
export interface Sample {
  readonly faults: readonly Mutant[];
  /** Source texts by path. They also contain faults outside the sample, which are never activated. */
  readonly texts: Readonly<Record<string, string>>;
}

/** The faults that a test file reaches. */
export interface FileCoverage {
  readonly test: string;
  readonly ms: number;
  readonly reached: readonly number[];
  /** Faults reached when the service is loaded. */
  readonly loading: readonly number[];
}

const sources = 'packages/server/src';

/** Picks random faults; the same sources, count and seed always give the same ones. */
export function sampleOf(root: string, count: number, seed: number): Sample {
  const paths = readdirSync(join(root, sources), { recursive: true })
    .map((name) => `${sources}/${String(name)}`)
    .filter((path) => /(?<!\.test|\.d)\.ts$/.test(path))
    .sort();
  const sourceOf = (path: string): string => readFileSync(join(root, path), 'utf8');
  const places = paths.flatMap((path) =>
    instrument(path, sourceOf(path), 0).mutants.map(({ id }) => ({ path, id })),
  );
  const chance = chanceFrom(seed);
  const chosen = new Set<(typeof places)[number]>();
  while (chosen.size < Math.min(count, places.length)) chosen.add(chance.pick(places));
  const faults: Mutant[] = [];
  const texts: Record<string, string> = {};
  let firstId = 1;
  for (const path of new Set([...chosen].map((place) => place.path).sort())) {
    const { text, mutants } = instrument(path, sourceOf(path), firstId);
    texts[path] = text;
    const ids = new Set([...chosen].filter((place) => place.path === path).map(({ id }) => id + firstId));
    faults.push(...mutants.filter(({ id }) => ids.has(id)));
    firstId += mutants.length;
  }
  return { faults, texts };
}
