import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsIn } from './support/imports.ts';
import { subjects } from './support/subjects.ts';

/**
 * The import rules and budgets of docs/architecture.md, checked in the source files. `below` declares the order of the
 * layers: `errors ← kernel ← schema ← db ← access, crypto, events ← subjects ← operations ← transport, pages ← app ← main`.
 */
const root = join(import.meta.dirname, '..');
const server = 'packages/server/src';

interface Source {
  /** Below `packages/server/src`, e.g. `rights/roles/operations.ts`. */
  readonly path: string;
  readonly text: string;
  /** Comments and string contents are blanked out, so that words in prose do not count as code. */
  readonly code: string;
  readonly lines: number;
  readonly imports: readonly { readonly to: string; readonly typeOnly: boolean }[];
}

const sources: readonly Source[] = readdirSync(join(root, server), { recursive: true, encoding: 'utf8' })
  .map((path) => path.split('\\').join('/'))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .sort()
  .map((path) => {
    const text = readFileSync(join(root, server, path), 'utf8');
    const imports = importsIn(text).map(({ from, typeOnly }) => ({
      to: posix.normalize(posix.join(posix.dirname(path), from)),
      typeOnly,
    }));
    return { path, text, code: codeOf(text), lines: text.split('\n').length - 1, imports };
  });

function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, (match) =>
    match.startsWith('/') ? match.replace(/[^\n]/g, ' ') : `'${' '.repeat(Math.max(match.length - 2, 0))}'`,
  );
}

/** The layer of a file is its first folder, or the file itself at the top. */
const layerOf = (path: string): string => path.split('/')[0] ?? path;

const belowSubjects = [
  'errors.ts',
  'kernel',
  'images',
  'schema',
  'db',
  'access',
  'crypto',
  'events',
  'config',
];
/** `services.ts` imports these subjects, so they can't use it or `declare.ts`. The later ones can. */
const subjectsInServices = ['outgoing', 'providers'];
const subjectRules = Object.fromEntries(
  subjects.map((subject, at) => [
    subject,
    [
      ...belowSubjects,
      ...subjects.slice(0, at),
      ...(subjectsInServices.includes(subject) ? [] : ['services.ts', 'declare.ts']),
    ],
  ]),
);

/**
 * What each layer may import besides itself: the strictest rule that holds. A new layer, and an import that is not
 * listed, need a reason in the pull request and a line in docs/architecture.md.
 */
const below: Readonly<Record<string, readonly string[]>> = {
  'errors.ts': [],
  'languages.ts': [],
  i18n: ['errors.ts'],
  html: [],
  images: [],
  kernel: ['errors.ts'],
  config: ['kernel'],
  schema: ['errors.ts', 'kernel'],
  db: ['errors.ts', 'kernel', 'schema'],
  access: ['errors.ts', 'kernel', 'schema', 'db'],
  crypto: ['errors.ts', 'kernel', 'schema', 'db', 'config'],
  events: ['errors.ts', 'kernel', 'schema', 'db', 'crypto', 'html'],
  ...subjectRules,
  'services.ts': ['kernel', 'db', 'access', 'crypto', 'events', 'config', ...subjectsInServices],
  'declare.ts': ['kernel', 'services.ts'],
  'entities.ts': ['kernel', 'schema'],
  'operations.ts': ['kernel', ...subjects],
  http: ['errors.ts', 'kernel', 'db', 'access', 'crypto', 'i18n', 'config'],
  openapi: ['errors.ts', 'kernel', 'http'],
  rest: ['errors.ts', 'kernel', 'http'],
  graphql: ['errors.ts', 'kernel', 'db', 'i18n', 'http', 'explorer'],
  explorer: ['kernel', 'http', 'html'],
  'transports.ts': [
    'services.ts',
    'kernel',
    'db',
    'config',
    'http',
    'rest',
    'graphql',
    'openapi',
    'explorer',
  ],
  pages: ['errors.ts', 'http', 'i18n', 'html', 'sign-in'],
  runtime: ['kernel', 'db', 'crypto', 'config'],
  'running-app.ts': ['kernel', 'db', 'crypto', 'config', 'runtime', ...subjects],
  'app.ts': [
    'running-app.ts',
    'services.ts',
    'runtime',
    'errors.ts',
    'kernel',
    'db',
    'access',
    'crypto',
    'events',
    'entities.ts',
    'operations.ts',
    'http',
    'transports.ts',
    'pages',
    'config',
    ...subjects,
  ],
  'dev-seed': ['kernel'],
  programs: ['kernel', 'config', 'schema', 'db', 'access', 'crypto', 'events', 'runtime', ...subjects],
  'entry.ts': ['main.ts', 'runtime'],
  'main.ts': ['app.ts', 'dev-seed', 'runtime', 'kernel', 'config', 'db', 'events', 'crypto'],
};

/** Imports of these layers are for types only: their values are injected at run time. */
const typesOnly: readonly (readonly [from: string, to: string])[] = [
  ...subjects.map((subject) => [subject, 'config'] as const),
  ['http', 'config'],
  ['pages', 'sign-in'],
  ['running-app.ts', 'kernel'],
  ['running-app.ts', 'db'],
  ['running-app.ts', 'crypto'],
  ...subjects.map((subject) => ['running-app.ts', subject] as const),
  ['running-app.ts', 'config'],
  ['running-app.ts', 'runtime'],
];

const all = (match: (source: Source) => readonly string[]): string[] =>
  sources.flatMap((source) => match(source).map((what) => `${server}/${source.path}: ${what}`));

describe('imports', () => {
  it('go in one direction', () => {
    const wrong = all(({ path, imports }) =>
      imports
        .map(({ to }) => to)
        .filter(
          (to) =>
            // It imports nothing, so every layer may import it.
            to !== 'languages.ts' &&
            layerOf(to) !== layerOf(path) &&
            !below[layerOf(path)]?.includes(layerOf(to)),
        ),
    );
    expect(wrong).toEqual([]);
  });

  it('have a rule for every layer', () => {
    expect([...new Set(sources.map(({ path }) => layerOf(path)))].sort()).toEqual(Object.keys(below).sort());
  });

  it('of configuration and of page state are type-only', () => {
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

  it('have no cycle between layers', () => {
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

  it('of operations are in the list of all operations only', () => {
    const wrong = all(({ path, imports }) =>
      imports
        .map(({ to }) => to)
        .filter((to) => /(?:^|[/-])operations\.ts$/.test(to) && subjects.includes(layerOf(to)))
        .filter((to) => path !== 'operations.ts' && posix.dirname(to) !== posix.dirname(path)),
    );
    expect(wrong).toEqual([]);
  });

  it('of the whole service are in the composition root only', () => {
    const wrong = all(({ path, imports }) =>
      imports
        .map(({ to }) => to)
        .filter((to) => ['operations.ts', 'entities.ts', 'app.ts', 'main.ts'].includes(to))
        .filter(
          (to) =>
            path !== 'app.ts' &&
            !(path === 'main.ts' && to === 'app.ts') &&
            !(path === 'entry.ts' && to === 'main.ts'),
        ),
    );
    expect(wrong).toEqual([]);
  });

  it('of the decision package stay inside: it imports no service, no library, no clock, no ids', () => {
    const folder = join(root, 'packages/decision/src');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => name.replaceAll('\\', '/'))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
    expect(files).toContain('evaluate.ts');
    for (const name of files) {
      const text = readFileSync(join(folder, name), 'utf8');
      const imported = [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, from]) => from ?? '');
      expect(
        imported.filter(
          (from) => !from.startsWith('.') || posix.join(posix.dirname(name), from).startsWith('..'),
        ),
        name,
      ).toEqual([]);
      expect(codeOf(text), name).not.toMatch(
        /\basync\b|\bawait\b|\bDate\b|\bMath\.random\b|\bimport\(|\bprocess\b|\bBuffer\b/,
      );
    }
  });

  it('of the packages for applications name no file of the service', () => {
    for (const name of ['node', 'browser', 'react', 'cli']) {
      const folder = join(root, 'packages', name, 'src');
      for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (!/(?<!\.test)\.tsx?$/.test(file)) continue;
        const text = readFileSync(join(folder, file), 'utf8');
        expect(
          text.match(/\bfrom '(?:@doorward\/server|[./]*\/server\/)[^']*'/g),
          `${name}/${file}`,
        ).toBeNull();
      }
    }
  });

  it('of HTTP and of SQL are not in the kernel', () => {
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
  /** One file each, with its reason. */
  const clocks = new Set([
    // The real clock, used where no test clock is injected.
    'runtime/time.ts',
    'events/mail/mailers.ts',
    // Default of a parameter that every caller sets.
    'crypto/tokens/jwt.ts',
  ]);

  it('reads the environment in main only', () => {
    expect(
      all(({ path, code }) => (/process\.env\b/.test(code) && path !== 'main.ts' ? ['process.env'] : [])),
    ).toEqual([]);
  });

  it('reads the time from the clock port', () => {
    const asking = all(({ path, code }) =>
      clocks.has(path) ? [] : [...code.matchAll(/\bDate\.now\(\)|\bnew Date\(\)/g)].map(([what]) => what),
    );
    expect(asking).toEqual([]);
    for (const path of clocks)
      expect(sources.find((source) => source.path === path)?.code, path).toMatch(/new Date\(\)|Date\.now/);
  });

  it('creates ids through the port', () => {
    const wrong = all(({ path, code }) =>
      ['app.ts'].includes(path) ? [] : [...code.matchAll(/\bv7\(\)|\bMath\.random\(/g)].map(([what]) => what),
    );
    expect(wrong).toEqual([]);
  });

  it('writes nothing to the console outside of main', () => {
    expect(
      all(({ path, code }) => (/(?<![.\w])console\./.test(code) && path !== 'main.ts' ? ['console'] : [])),
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

  it('has no any, and disables no rule', () => {
    expect(
      all(({ code }) => [...code.matchAll(/(?::|<|\bas)\s*any\b(?!['\w])/g)].map(([what]) => what)),
    ).toEqual([]);
    expect(
      all(({ text }) => [...text.matchAll(/@ts-(ignore|expect-error|nocheck)/g)].map(([what]) => what)),
    ).toEqual([]);
    const silenced = all(({ text }) =>
      [...text.matchAll(/oxlint-disable\S* ([^\n]*)/g)].map(([, rule]) => rule ?? ''),
    );
    expect(silenced).toEqual([]);
  });

  it('declares an operation with at most 36 members', () => {
    const declaration = /^export interface Declaration<[^]*?^}/m.exec(
      readFileSync(join(root, server, 'kernel/operation.ts'), 'utf8'),
    );
    const members = declaration?.[0].match(/^  readonly \w+\??:/gm) ?? [];
    expect(members).toContain('  readonly rest:');
    expect(
      members.length,
      'make it a value of a member, or an adapter in rest/protocols',
    ).toBeLessThanOrEqual(36);
  });

  /** Where no type can say it, with the reason beside it. The numbers only decrease, and go down with what they count. */
  const assertions = { 'as never': 8, 'as unknown as': 2 };
  it.each(Object.entries(assertions))('in all packages says `%s` no more often than today', (what, most) => {
    const asserting = new RegExp(`\\b${what}\\b`, 'g');
    const places = readdirSync(join(root, 'packages'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => {
        const files = readdirSync(join(root, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' });
        return files
          .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
          .map((file) => join('packages', name, 'src', file));
      })
      .flatMap(
        (path) =>
          readFileSync(join(root, path), 'utf8')
            .match(asserting)
            ?.map(() => path) ?? [],
      );
    expect(places, `lower the number, or find a type for it: ${places.join(', ')}`).toHaveLength(most);
  });

  it('has no meaningless names', () => {
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
  /** One idea per folder. */
  const folderLimit = 12;
  /** Folders above that, with their number of files, which may only decrease. */
  const fullFolders = new Map([
    // Its files are the entry points that other packages import by name: their places are public.
    ['packages/decision/src', 18],
  ]);
  /** Tables of data: as long as their content. */
  const tables = new Map([
    ['config/variables.ts', 400],
    ['people/notification-texts/texts.ts', 450],
  ]);
  /** Files above the limit; the number may only decrease, and the line is removed with the excess. */
  const overdue = new Map<string, number>();

  it(`of files stay under ${limit} lines`, () => {
    const long = sources.filter(
      ({ path, lines }) => lines > (tables.get(path) ?? overdue.get(path) ?? limit),
    );
    expect(long.map(({ path, lines }) => `${server}/${path}: ${lines}`)).toEqual([]);
    const mended = [...overdue.keys()].filter(
      (path) => (sources.find((source) => source.path === path)?.lines ?? 0) <= limit,
    );
    expect(mended, 'take these out of the list').toEqual([]);
  });

  it(`of folders stay at ${folderLimit} files`, () => {
    const folders = new Map<string, number>();
    for (const name of ['server', 'console', 'cli', 'node', 'browser', 'react', 'decision']) {
      const source = `packages/${name}/src`;
      for (const path of readdirSync(join(root, source), { recursive: true, encoding: 'utf8' })) {
        if (!/(?<!\.test)\.tsx?$/.test(path)) continue;
        const folder = posix.dirname(posix.join(source, path.replaceAll('\\', '/')));
        folders.set(folder, (folders.get(folder) ?? 0) + 1);
      }
    }
    expect(folders.size).toBeGreaterThan(200);
    for (const name of folders.keys())
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*(\/[a-z0-9]+(-[a-z0-9]+)*)*$/);
    const full = [...folders].filter(([name, count]) => count > (fullFolders.get(name) ?? folderLimit));
    expect(full.map(([name, count]) => `${name}: ${count}`)).toEqual([]);
    const emptied = [...fullFolders].filter(([name, count]) => (folders.get(name) ?? 0) < count);
    expect(emptied, 'lower these numbers, or take them out of the list').toEqual([]);
  });
});
