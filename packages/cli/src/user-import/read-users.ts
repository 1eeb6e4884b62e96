import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';

/** The position of a user in the file, counted from 1: the line, or the index in the list of a JSON file. */
export type Place = { readonly line: number } | { readonly user: number };

/** A user in the file, or the problem why it can't be read. */
export type UserEntry = {
  readonly place: Place;
} & ({ readonly user: Readonly<Record<string, unknown>> } | { readonly problem: string });

export const fileFormats = ['csv', 'jsonl', 'json'] as const;
export type FileFormat = (typeof fileFormats)[number];

/**
 * Reads the users of a file. CSV and JSON Lines files are streamed and can have any size; JSON files are read whole.
 * @throws Fault if the file can't be read, or isn't valid as a whole
 */
export async function* readUsers(
  { cwd }: Pick<Run, 'cwd'>,
  path: string,
  format: FileFormat,
): AsyncGenerator<UserEntry> {
  const file = resolve(cwd, path);
  try {
    yield* readers[format](file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('CSV_')) throw usageFault(`${path} is not valid CSV: ${message}.`);
    if (code?.startsWith('E')) throw usageFault(`${path} cannot be read (${code}).`);
    throw error;
  }
}

async function* linesOfJson(file: string): AsyncGenerator<UserEntry> {
  const input = createReadStream(file);
  const lines = createInterface({ input, crlfDelay: Infinity });
  let line = 0;
  for await (const text of failing(lines, input)) {
    line += 1;
    if (text.trim() !== '') yield { place: { line }, ...parsedLine(text) };
  }
}

/** Iterates over lines, and throws errors of the stream. readline alone just ends if the file can't be opened. */
function failing(
  lines: ReturnType<typeof createInterface>,
  input: NodeJS.ReadableStream,
): AsyncIterable<string> {
  const failure = new Promise<never>((_, reject) => input.once('error', reject));
  failure.catch(() => undefined);
  const iterator = lines[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.race([failure, iterator.next()]) }),
  };
}

function parsedLine(text: string): { user: Record<string, unknown> } | { problem: string } {
  try {
    return userIn(JSON.parse(text));
  } catch {
    return { problem: NO_OBJECT };
  }
}

const NO_OBJECT = 'This is not a JSON object.';

const userIn = (value: unknown): { user: Record<string, unknown> } | { problem: string } =>
  isObject(value) ? { user: value } : { problem: NO_OBJECT };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a list of users, or an object with the list in `users`, which is what other services export. */
async function* entriesOfJson(file: string): AsyncGenerator<UserEntry> {
  const text = await readFile(file, 'utf8');
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw usageFault(`${basename(file)} is not valid JSON: ${(error as Error).message}.`);
  }
  const users = isObject(content) ? content['users'] : content;
  if (!Array.isArray(users))
    throw usageFault(
      `${basename(file)} has no list of users.`,
      'a JSON file must contain a list of objects, or an object with that list in users',
    );
  for (const [at, value] of users.entries()) yield { place: { user: at + 1 }, ...userIn(value) };
}

async function* linesOfCsv(file: string): AsyncGenerator<UserEntry> {
  const { parse } = await import('csv-parse');
  const input = createReadStream(file);
  const parser = input.pipe(
    parse({ bom: true, columns: membersOf, info: true, skip_empty_lines: true, trim: true }),
  );
  input.once('error', (error) => parser.destroy(error));
  for await (const row of parser as AsyncIterable<{
    info: { lines: number };
    record: Record<string, string>;
  }>)
    yield { place: { line: row.info.lines }, user: userOf(row.record) };
}

/** CSV columns by name: lower case, without spaces, `_` and `-`. Names such as `metadata.plan` are read separately. */
const columns: Readonly<Record<string, string>> = {
  email: 'email',
  emailverified: 'emailVerified',
  name: 'name',
  locale: 'locale',
  passwordhash: 'passwordHash',
  roles: 'roles',
};

function membersOf(header: readonly string[]): string[] {
  const members = header.map((title) => {
    if (/^metadata\../.test(title)) return title;
    const member = columns[title.toLowerCase().replace(/[ _-]/g, '')];
    if (member) return member;
    throw usageFault(
      `The column ${title} is not known.`,
      `columns are ${Object.values(columns).join(', ')} and metadata.<name>`,
    );
  });
  if (!members.includes('email')) throw usageFault('The first line names no column email.');
  return members;
}

/** Converts a row of a CSV file to a user. Empty cells are left out. */
function userOf(row: Readonly<Record<string, string>>): Record<string, unknown> {
  const user: Record<string, unknown> = {};
  const metadata: Record<string, unknown> = {};
  for (const [member, text] of Object.entries(row)) {
    if (text === '') continue;
    if (member.startsWith('metadata.')) metadata[member.slice('metadata.'.length)] = text;
    else if (member === 'emailVerified') user[member] = flags[text.toLowerCase()] ?? text;
    else if (member === 'roles') user[member] = text.split(';').map((role) => role.trim());
    else user[member] = text;
  }
  return Object.keys(metadata).length > 0 ? { ...user, metadata } : user;
}

const flags: Readonly<Record<string, boolean>> = {
  true: true,
  t: true,
  yes: true,
  1: true,
  false: false,
  f: false,
  no: false,
  0: false,
};

const readers: Readonly<Record<FileFormat, (file: string) => AsyncGenerator<UserEntry>>> = {
  csv: linesOfCsv,
  jsonl: linesOfJson,
  json: entriesOfJson,
};
