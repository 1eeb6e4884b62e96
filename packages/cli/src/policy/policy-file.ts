import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Document, LineCounter } from 'yaml';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';
import { filled } from './variables.ts';

/** A policy document, joined from its files and filled in from the environment. */
export interface PolicyFile {
  readonly policy: Readonly<Record<string, unknown>>;
  /** Where a path of the document (`policy.roles.Clerk.groups.0`) is written: `doorward.yaml:12:5`. */
  readonly placeOf: (path: string) => string | undefined;
}

type Value = Readonly<Record<string, unknown>>;

interface Part {
  /** As messages name it. */
  readonly name: string;
  readonly value: Value;
  readonly document: Document;
  readonly lines: LineCounter;
}

export const DEFAULT_FILE = 'doorward.yaml';
const MAX_FILES = 100;
const MAX_DEPTH = 5;
const keyedParts = ['resources', 'permissions', 'groups', 'roles', 'tags', 'apps', 'webhooks'] as const;

/** @throws Fault (exit 2) with file, line and column for what is not YAML, given twice, or outside of the folder */
export async function readPolicy({ env, cwd }: Pick<Run, 'env' | 'cwd'>, path: string): Promise<PolicyFile> {
  const main = resolve(cwd, path);
  const root = dirname(await realpath(main).catch(() => main));
  const parts: Part[] = [];
  await readParts({ path, cwd, root, depth: 0, parts });
  const policy: Record<string, unknown> = {};
  const origins = new Map<string, { part: Part; at: readonly (string | number)[] }>();
  for (const part of parts) {
    for (const [member, value] of Object.entries(part.value)) {
      if (member === 'include') continue;
      if ((keyedParts as readonly string[]).includes(member)) addRows(policy, origins, part, member, value);
      else if (member === 'tests' || member === 'cases') addTests(policy, origins, part, member, value);
      else if (member in policy && part !== parts[0])
        throw usageFault(`${member} is in ${place(part, [member])} and in another file.`);
      // Not by assignment: a member `__proto__` would vanish, and no check would see it.
      else Object.defineProperty(policy, member, { value, enumerable: true, writable: true });
    }
  }
  return { policy: filled(policy, env) as Value, placeOf: (path) => placeOf(path, parts, origins) };
}

interface Reading {
  readonly path: string;
  readonly cwd: string;
  readonly root: string;
  readonly depth: number;
  readonly parts: Part[];
}

async function readParts({ path, cwd, root, depth, parts }: Reading): Promise<void> {
  const part = await readPart({ path, cwd, root });
  parts.push(part);
  if (parts.length > MAX_FILES) throw usageFault(`A policy has at most ${MAX_FILES} files.`);
  const { include = [] } = part.value;
  if (!Array.isArray(include) || include.some((item) => typeof item !== 'string'))
    throw usageFault(`${place(part, ['include'])} include is a list of file names.`);
  if (include.length > 0 && depth === MAX_DEPTH)
    throw usageFault(`${place(part, ['include'])} Files include each other ${MAX_DEPTH} deep at most.`);
  for (const pattern of include as string[]) {
    const paths = await matching(cwd, dirname(path), pattern);
    if (paths.length === 0) throw usageFault(`${place(part, ['include'])} No file is called ${pattern}.`);
    for (const included of paths) await readParts({ path: included, cwd, root, depth: depth + 1, parts });
  }
}

async function readPart({ path, cwd, root }: Pick<Reading, 'path' | 'cwd' | 'root'>): Promise<Part> {
  const { parseDocument, LineCounter } = await import('yaml');
  const real = await realpath(resolve(cwd, path)).catch((error: NodeJS.ErrnoException) => {
    throw usageFault(`${path} cannot be read (${error.code ?? error.name}).`);
  });
  if (!real.startsWith(root + sep)) throw usageFault(`${path} is outside of the folder of the policy.`);
  const text = await readFile(real, 'utf8');
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    schema: 'core',
    uniqueKeys: true,
  });
  const name = relative(cwd, real);
  const [error] = [...document.errors, ...document.warnings];
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw usageFault(`${name}:${line}:${col} ${error.message.split('\n')[0] ?? ''}`);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (fault) {
    throw usageFault(`${name}: ${(fault as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageFault(`${name} is no policy document: it has no members.`);
  return { name, value: value as Value, document, lines };
}

/** The files that a pattern names, sorted; `*` stands for any part of a name. */
async function matching(cwd: string, folder: string, pattern: string): Promise<string[]> {
  if (/^[a-z]+:|^[/\\]/i.test(pattern))
    throw usageFault(`include takes relative names of files, not ${pattern}.`);
  let paths = [folder];
  for (const segment of pattern.split('/')) {
    if (!segment.includes('*')) {
      paths = paths.map((path) => join(path, segment));
      continue;
    }
    const name = new RegExp(`^${segment.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);
    const entries = await Promise.all(
      paths.map(async (path) =>
        (await readdir(resolve(cwd, path)).catch(() => [])).map((entry) => join(path, entry)),
      ),
    );
    paths = entries.flat().filter((path) => name.test(path.split(sep).at(-1) ?? ''));
  }
  return paths.sort();
}

type Origins = Map<string, { part: Part; at: readonly (string | number)[] }>;

function addRows(
  policy: Record<string, unknown>,
  origins: Origins,
  part: Part,
  member: string,
  value: unknown,
) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    policy[member] = value;
    return;
  }
  const rows = (policy[member] ??= {}) as Record<string, unknown>;
  for (const [key, row] of Object.entries(value)) {
    const id = `${member} ${key}`;
    const other = origins.get(id);
    if (other)
      throw usageFault(
        `${member}.${key} is given twice: ${place(other.part, other.at)} and ${place(part, [member, key])}`,
      );
    // `invoice:read:` without a value is a row with defaults.
    Object.defineProperty(rows, key, {
      value: row ?? {},
      enumerable: true,
      configurable: true,
      writable: true,
    });
    origins.set(id, { part, at: [member, key] });
  }
}

function addTests(
  policy: Record<string, unknown>,
  origins: Origins,
  part: Part,
  member: string,
  value: unknown,
) {
  if (!Array.isArray(value)) {
    policy['tests'] = value;
    return;
  }
  const tests = (policy['tests'] ??= []) as unknown[];
  for (const [index, test] of value.entries()) {
    origins.set(`tests ${tests.length}`, { part, at: [member, index] });
    tests.push(test);
  }
}

const place = ({ name, document, lines }: Part, at: readonly (string | number)[]): string => {
  const node = document.getIn(at, true) as { readonly range?: readonly number[] | null } | undefined;
  const start = node?.range?.[0];
  if (start === undefined) return name;
  const { line, col } = lines.linePos(start);
  return `${name}:${line}:${col}`;
};

/** The row that a path begins with, and the deepest of its members that the file has. Keys may contain dots. */
function placeOf(path: string, parts: readonly Part[], origins: Origins): string | undefined {
  const [, member = '', rest = ''] = /^policy\.([^.]+)\.?(.*)$/s.exec(path) ?? [];
  const [first] = parts;
  if (member === '' || !first) return undefined;
  const key = [...origins.keys()]
    .filter((id) => id.startsWith(`${member} `))
    .map((id) => id.slice(member.length + 1))
    .filter((candidate) => rest === candidate || rest.startsWith(`${candidate}.`))
    .sort((a, b) => b.length - a.length)[0];
  const origin = key === undefined ? undefined : origins.get(`${member} ${key}`);
  if (!origin || key === undefined) return place(first, [member]);
  let at = origin.at;
  for (const name of rest
    .slice(key.length + 1)
    .split('.')
    .filter(Boolean)) {
    const next = [...at, /^\d+$/.test(name) ? Number(name) : name];
    if (!origin.part.document.hasIn(next)) break;
    at = next;
  }
  return place(origin.part, at);
}
