import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The import rules and budgets of architecture.md, read from the files themselves:
 * `errors ← kernel ← db ← access, crypto, events ← features ← operations ← transport, pages ← app ← main`.
 */
const root = join(import.meta.dirname, '..');

interface Source {
  /** Below `src`, e.g. `features/roles/role.ts`. */
  readonly path: string;
  readonly text: string;
  /** Comments and string contents blanked out, so that words in prose do not count as code. */
  readonly code: string;
  readonly lines: number;
  readonly imports: readonly { readonly to: string; readonly typeOnly: boolean }[];
}

const sources: readonly Source[] = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => path.split('\\').join('/'))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .sort()
  .map((path) => {
    const text = readFileSync(join(root, 'src', path), 'utf8');
    const imports = [
      ...text.matchAll(/^(?:import|export)\s(type\s)?[^;]*?from\s'(\.[^']+)'|import\('(\.[^']+)'\)/gm),
    ].map(([, type, from, dynamic]) => ({
      to: posix.normalize(posix.join(posix.dirname(path), from ?? dynamic ?? '')),
      typeOnly: type !== undefined,
    }));
    return { path, text, code: codeOf(text), lines: text.split('\n').length - 1, imports };
  });

function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, (found) =>
    found.startsWith('/') ? found.replace(/[^\n]/g, ' ') : `'${' '.repeat(Math.max(found.length - 2, 0))}'`,
  );
}

/** The layer of a file is the folder, or the file at the top of `src`. */
const layerOf = (path: string): string => path.split('/')[0] ?? path;

/**
 * What each layer may import beside itself: the strictest rule that holds. A layer that is not here, and an import
 * that is not listed, need a reason in the pull request and a line in architecture.md.
 */
const below: Readonly<Record<string, readonly string[]>> = {
  'errors.ts': [],
  i18n: ['errors.ts'],
  'values.ts': ['errors.ts'],
  kernel: ['errors.ts', 'values.ts', 'nearest.ts'],
  'ids.ts': ['kernel'],
  'config-values.ts': [],
  'config-variables.ts': ['config-values.ts'],
  'nearest.ts': [],
  'config.ts': ['config-values.ts', 'config-variables.ts', 'nearest.ts'],
  'log.ts': [],
  'log-output.ts': ['log.ts'],
  db: ['errors.ts', 'values.ts', 'kernel'],
  access: ['errors.ts', 'values.ts', 'nearest.ts', 'kernel', 'db'],
  crypto: ['errors.ts', 'kernel', 'db', 'config.ts'],
  events: ['errors.ts', 'kernel', 'db', 'crypto'],
  features: ['errors.ts', 'values.ts', 'kernel', 'db', 'access', 'crypto', 'events', 'config.ts'],
  'entities.ts': ['kernel', 'features'],
  'operations.ts': ['kernel', 'features'],
  transport: ['errors.ts', 'kernel', 'db', 'access', 'crypto', 'i18n', 'config.ts'],
  pages: ['errors.ts', 'transport', 'i18n', 'events'],
  'jobs.ts': [],
  'running-app.ts': ['kernel', 'db', 'crypto', 'features', 'config.ts', 'log.ts'],
  'app.ts': [
    'running-app.ts',
    'ids.ts',
    'jobs.ts',
    'errors.ts',
    'kernel',
    'db',
    'access',
    'crypto',
    'events',
    'entities.ts',
    'operations.ts',
    'transport',
    'pages',
    'config.ts',
    'log.ts',
    'features',
  ],
  'dev-seed': ['kernel'],
  'workers.ts': ['log.ts'],
  'banner.ts': ['config.ts'],
  'start-fault.ts': ['config.ts', 'crypto', 'db'],
  'worker-link.ts': ['workers.ts'],
  'main.ts': [
    'app.ts',
    'dev-seed',
    'workers.ts',
    'worker-link.ts',
    'banner.ts',
    'start-fault.ts',
    'kernel',
    'config.ts',
    'log.ts',
    'log-output.ts',
    'db',
    'events',
    'crypto',
  ],
};

/** Imports of these layers are for types only: what they need at run time is handed in. */
const typesOnly: readonly (readonly [from: string, to: string])[] = [
  ['features', 'config.ts'],
  ['transport', 'config.ts'],
  ['running-app.ts', 'kernel'],
  ['running-app.ts', 'db'],
  ['running-app.ts', 'crypto'],
  ['running-app.ts', 'features'],
  ['running-app.ts', 'config.ts'],
  ['running-app.ts', 'log.ts'],
];

const all = (found: (source: Source) => readonly string[]): string[] =>
  sources.flatMap((source) => found(source).map((what) => `src/${source.path}: ${what}`));

describe('imports', () => {
  it('point one way', () => {
    const wrong = all(({ path, imports }) =>
      imports
        .map(({ to }) => to)
        .filter((to) => layerOf(to) !== layerOf(path) && !below[layerOf(path)]?.includes(layerOf(to))),
    );
    expect(wrong).toEqual([]);
  });

  it('have a rule for every layer', () => {
    expect([...new Set(sources.map(({ path }) => layerOf(path)))].sort()).toEqual(Object.keys(below).sort());
  });

  it('of configuration are of its type', () => {
    const wrong = all(({ path, imports }) =>
      imports
        .filter(
          ({ to, typeOnly }) =>
            !typeOnly && typesOnly.some(([a, b]) => a === layerOf(path) && b === layerOf(to)),
        )
        .map(({ to }) => to),
    );
    expect(wrong).toEqual([]);
  });

  it('make no circle between layers', () => {
    const visiting: string[] = [];
    const done = new Set<string>();
    const visit = (layer: string): void => {
      expect(visiting, `${visiting.join(' → ')} → ${layer}`).not.toContain(layer);
      if (done.has(layer)) return;
      visiting.push(layer);
      below[layer]?.forEach(visit);
      visiting.pop();
      done.add(layer);
    };
    Object.keys(below).forEach(visit);
  });

  it('between features are of nouns and their tables, or of what features share', () => {
    const featureOf = (path: string) => path.split('/')[1];
    // A folder without operations is no feature: it holds what several share (identity, memberships).
    const isShared = (path: string) =>
      !sources.some((one) => one.path === `features/${featureOf(path)}/operations.ts`);
    const wrong = all(({ path, imports }) =>
      imports
        .map(({ to }) => to)
        .filter(
          (to) =>
            layerOf(path) === 'features' && layerOf(to) === 'features' && featureOf(path) !== featureOf(to),
        )
        .filter((to) => !isNounFile(to) && !isShared(to)),
    );
    expect(wrong).toEqual([]);
  });

  /** A noun file declares an entity or a table, and imports no operation of its own folder. */
  function isNounFile(path: string): boolean {
    const source = sources.find((one) => one.path === path);
    return (
      source !== undefined &&
      !/\/(operations|store)\.ts$/.test(path) &&
      /\bentity\(|\bpgTable\(/.test(source.code)
    );
  }

  it('of the whole stay with the composition root', () => {
    const wrong = all(({ path, imports }) =>
      imports
        .map(({ to }) => to)
        .filter((to) => ['operations.ts', 'entities.ts', 'app.ts', 'main.ts'].includes(to))
        .filter((to) => path !== 'app.ts' && !(path === 'main.ts' && to === 'app.ts')),
    );
    expect(wrong).toEqual([]);
  });

  it('of decisions are pure: evaluate and conditions know no database, no clock, no ids', () => {
    const pure = [
      'access/evaluate.ts',
      'access/subset.ts',
      'access/conditions.ts',
      'access/conditions-eval.ts',
      'access/conditions-parse.ts',
      'access/conditions-failure.ts',
      'access/explain.ts',
    ];
    for (const path of pure) {
      const source = sources.find((one) => one.path === path);
      expect(source, path).toBeDefined();
      expect(
        source?.imports.map(({ to }) => layerOf(to)).filter((layer) => layer === 'db'),
        path,
      ).toEqual([]);
      expect(source?.code, path).not.toMatch(/\basync\b|\bawait\b|\bDate\b|\bMath\.random\b|from 'node:/);
    }
  });

  it('of HTTP and of SQL stay out of the kernel', () => {
    const wrong = sources
      .filter(({ path }) => path.startsWith('kernel/'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/^import (type )?.*?from '([^.'][^']*)'/gms)]
          .filter(
            ([, type, name]) =>
              type === undefined && /^(fastify|graphql|pg|drizzle-orm|@electric|redis)/.test(name ?? ''),
          )
          .map(([, , name]) => `${path}: ${name}`),
      );
    // The noun reads its columns from the table that it is declared with.
    expect(wrong).toEqual(['kernel/entity.ts: drizzle-orm']);
  });
});

describe('code', () => {
  /** One place each, with its reason beside it. */
  const clocks = new Set([
    // The real clock, handed in where no test clock is.
    'app.ts',
    'events/mailers.ts',
    // Default of a parameter that every caller gives.
    'crypto/jwt.ts',
  ]);

  it('reads the environment in main only', () => {
    expect(
      all(({ path, code }) => (/process\.env\b/.test(code) && path !== 'main.ts' ? ['process.env'] : [])),
    ).toEqual([]);
  });

  it('asks the clock port for the time', () => {
    const asking = all(({ path, code }) =>
      clocks.has(path) ? [] : [...code.matchAll(/\bDate\.now\(\)|\bnew Date\(\)/g)].map(([what]) => what),
    );
    expect(asking).toEqual([]);
    for (const path of clocks)
      expect(sources.find((one) => one.path === path)?.code, path).toMatch(/new Date\(\)|Date\.now/);
  });

  it('draws ids through the port', () => {
    const wrong = all(({ path, code }) =>
      ['app.ts'].includes(path) ? [] : [...code.matchAll(/\bv7\(\)|\bMath\.random\(/g)].map(([what]) => what),
    );
    expect(wrong).toEqual([]);
  });

  it('says nothing on the console outside main', () => {
    expect(
      all(({ path, code }) => (/\bconsole\./.test(code) && path !== 'main.ts' ? ['console'] : [])),
    ).toEqual([]);
  });

  it('has no default exports, no barrels, no enums, no decorators', () => {
    expect(
      all(({ code }) => (/^export default\b|\bas default\b/m.test(code) ? ['default export'] : [])),
    ).toEqual([]);
    expect(sources.map(({ path }) => path).filter((path) => path.endsWith('index.ts'))).toEqual([]);
    expect(all(({ code }) => (/^export \* from/m.test(code) ? ['export *'] : []))).toEqual([]);
    expect(
      all(({ code }) => (/^\s*(export )?(const )?enum |^\s*@\w+\(/m.test(code) ? ['enum or decorator'] : [])),
    ).toEqual([]);
  });

  it('has no any, and silences no rule but these', () => {
    expect(
      all(({ code }) => [...code.matchAll(/(?::|<|\bas)\s*any\b(?!['\w])/g)].map(([what]) => what)),
    ).toEqual([]);
    expect(
      all(({ text }) => [...text.matchAll(/@ts-(ignore|expect-error|nocheck)/g)].map(([what]) => what)),
    ).toEqual([]);
    const silenced = all(({ text }) =>
      [...text.matchAll(/eslint-disable\S* ([^\n]*)/g)].map(([, rule]) => rule ?? ''),
    );
    expect(silenced).toEqual([
      // Filled by declaration merging, so that the kernel knows nothing of the layers above.
      'src/kernel/context.ts: @typescript-eslint/no-empty-object-type',
      'src/kernel/context.ts: @typescript-eslint/no-empty-object-type',
    ]);
  });

  it('has no names that say nothing', () => {
    const vague = /(Service|Manager|Handler|Utils?|Helpers?)$/;
    const files = sources
      .map(({ path }) => path)
      .filter((path) => /(^|\/)(common|utils?|helpers?|managers?|handlers?)(\/|\.ts$)/.test(path));
    expect(files).toEqual([]);
    const exported = /^export (?:abstract )?(?:class|function|interface|type|const) (\w+)/gm;
    const names = all(({ code }) =>
      [...code.matchAll(exported)].map(([, name]) => name ?? '').filter((name) => vague.test(name)),
    );
    expect(names).toEqual([]);
  });
});

describe('sizes', () => {
  const limit = 300;
  /** Tables of data: long because there is much to list. */
  const tables = new Map([
    ['config-variables.ts', 400],
    ['features/notifications/texts.ts', 400],
  ]);
  /** Longer than they may be; the number only ever goes down, and the line goes away with it. */
  const overdue = new Map<string, number>();

  it(`of files stay under ${limit} lines`, () => {
    const long = sources.filter(
      ({ path, lines }) => lines > (tables.get(path) ?? overdue.get(path) ?? limit),
    );
    expect(long.map(({ path, lines }) => `src/${path}: ${lines}`)).toEqual([]);
    const mended = [...overdue.keys()].filter(
      (path) => (sources.find((one) => one.path === path)?.lines ?? 0) <= limit,
    );
    expect(mended, 'take these out of the list').toEqual([]);
  });

  it('of feature folders are readable', () => {
    const folders = new Map<string, number>();
    for (const { path } of sources) {
      const [layer, feature = '', file] = path.split('/');
      if (layer === 'features' && file) folders.set(feature, (folders.get(feature) ?? 0) + 1);
    }
    const told = [...folders].map(([name, count]) => `${name} ${count}`).join(', ');
    process.stdout.write(`architecture: files per feature: ${told}\n`);
    for (const [name, count] of folders) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(count, name).toBeLessThanOrEqual(10);
    }
  });
});
