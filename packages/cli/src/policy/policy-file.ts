import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';
import { withVariables } from './variables.ts';
import { readYaml, type YamlFile } from './yaml/read-yaml.ts';

/** A policy document, joined from its files, with environment variables filled in. */
export interface PolicyFile {
  readonly policy: Readonly<Record<string, unknown>>;
  /** Returns where a path of the document (`policy.roles.Clerk.groups.0`) is written: `doorward.yaml:12:5`. */
  readonly placeOf: (path: string) => string | undefined;
}

type Value = Readonly<Record<string, unknown>>;
type Part = YamlFile;

export const DEFAULT_FILE = 'doorward.yaml';
const MAX_FILES = 100;
const MAX_DEPTH = 5;
const keyedParts = ['resources', 'permissions', 'groups', 'roles', 'tags', 'apps', 'webhooks'] as const;

/**
 * Reads a policy document.
 * @throws Fault (exit 2) with file, line and column for invalid YAML, for a key that is given twice, and for a file
 * outside the policy folder
 */
export async function readPolicy({ env, cwd }: Pick<Run, 'env' | 'cwd'>, path: string): Promise<PolicyFile> {
  const main = resolve(cwd, path);
  const root = dirname(await realpath(main).catch(() => main));
  const parts: Part[] = [];
  await readParts({ path, cwd, root, depth: 0, parts, includedAt: undefined });
  const policy: Record<string, unknown> = {};
  const origins = new Map<string, { part: Part; at: readonly (string | number)[] }>();
  for (const part of parts) {
    for (const [member, value] of Object.entries(part.value)) {
      if (member === 'include') continue;
      if ((keyedParts as readonly string[]).includes(member)) addRows(policy, origins, part, member, value);
      else if (member === 'tests' || member === 'cases') addTests(policy, origins, part, member, value);
      else if (member in policy && part !== parts[0])
        throw usageFault(`${member} is in ${place(part, [member])} and in another file.`);
      else policy[member] = value;
    }
  }
  const find = (name: string) => placeOf(name, parts, origins);
  return { policy: withVariables(policy, env, find) as Value, placeOf: find };
}

interface Reading {
  readonly path: string;
  readonly cwd: string;
  readonly root: string;
  readonly depth: number;
  readonly parts: Part[];
  /** Where the including file names this file; undefined for the first file. */
  readonly includedAt: string | undefined;
}

async function readParts(reading: Reading): Promise<void> {
  const { path, cwd, depth, parts, includedAt } = reading;
  if (parts.length === MAX_FILES)
    throw usageFault(`${includedAt ?? path} A policy has at most ${MAX_FILES} files.`);
  const part = await readPart(reading);
  parts.push(part);
  const { include = [] } = part.value;
  if (!Array.isArray(include) || include.some((item) => typeof item !== 'string'))
    throw usageFault(`${place(part, ['include'])} include is a list of file names.`);
  if (include.length > 0 && depth === MAX_DEPTH)
    throw usageFault(`${place(part, ['include'])} Files include each other ${MAX_DEPTH} deep at most.`);
  for (const [index, pattern] of (include as string[]).entries()) {
    const at = place(part, ['include', index]);
    if (/^[a-z]+:|^[/\\]/i.test(pattern))
      throw usageFault(`${at} include takes relative names of files, not ${pattern}.`);
    const paths = await matching(cwd, dirname(path), pattern);
    if (paths.length === 0) throw usageFault(`${at} No file matches ${pattern}.`);
    for (const included of paths)
      await readParts({ ...reading, path: included, depth: depth + 1, includedAt: at });
  }
}

async function readPart({ path, cwd, root, includedAt }: Reading): Promise<Part> {
  const from = includedAt === undefined ? '' : `${includedAt} `;
  const real = await realpath(resolve(cwd, path)).catch((error: NodeJS.ErrnoException) => {
    throw usageFault(`${from}${path} cannot be read (${error.code ?? error.name}).`);
  });
  if (!real.startsWith(root + sep)) throw usageFault(`${from}${path} is outside the policy folder.`);
  if ((await stat(real)).isDirectory()) throw usageFault(`${from}${path} is a folder.`);
  return readYaml(real, relative(cwd, real));
}

/** Returns the files that a pattern matches, sorted. `*` matches any part of a name. */
async function matching(cwd: string, folder: string, pattern: string): Promise<string[]> {
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
    // `invoice:read:` without a value declares a row with default values.
    rows[key] = row ?? {};
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

/** Finds the row that a path starts with, and then the deepest member that its file contains. Keys may contain dots. */
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
    const next = [[...at, name], ...(/^\d+$/.test(name) ? [[...at, Number(name)]] : [])].find((candidate) =>
      origin.part.document.hasIn(candidate),
    );
    if (!next) break;
    at = next;
  }
  return place(origin.part, at);
}
