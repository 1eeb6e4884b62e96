import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';

/** Where a user is in the file, counted from 1: the line, or the place in the list of a JSON file. */
export type Place = { readonly line: number } | { readonly user: number };

/** An entry of a file of users: what it says, or why it cannot be read. */
export type UserEntry = {
  readonly place: Place;
} & ({ readonly user: Readonly<Record<string, unknown>> } | { readonly problem: string });

export const fileFormats = ['csv', 'jsonl', 'json'] as const;
export type FileFormat = (typeof fileFormats)[number];

/** The users of a file, one after the other, so that its size does not matter. @throws Fault for a file that holds none */
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
  // A file that cannot be opened ends the interface without an error.
  let line = 0;
  for await (const text of failing(lines, input)) {
    line += 1;
    if (text.trim() !== '') yield { place: { line }, ...parsedLine(text) };
  }
}

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

/** A list of users, or an object with one as `users`, as other services export them. */
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

/** The columns of a file, each in any case and with or without `_`; `metadata.plan` is the member `plan` of the metadata. */
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

/** An empty cell says nothing about its member. */
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
