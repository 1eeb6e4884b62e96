import type { Client } from '@doorward/node/client';
import { exitCodes } from '../exit-codes.ts';
import { Fault, usageFault } from '../fault.ts';
import type { Row } from '../output/table.ts';
import type { Run } from '../run.ts';
import { isId } from '../settings/scope-text.ts';
import { operationOf } from './invoke.ts';
import { targetOf, type Noun } from './noun.ts';

/** Describes the argument that names a row, for the help. */
export const argumentHelp = ({ singular, namedBy }: Noun): string =>
  namedBy === undefined
    ? `id of the ${singular}`
    : `id of the ${singular}, or its ${typeof namedBy === 'string' ? wordOf(namedBy) : 'address'}`;
const wordOf = (member: string): string => (member === 'email' ? 'address' : member);

export const idOfRow = ({ idOf }: Noun, row: Row): string => (idOf ? idOf(row) : String(row['id']));

/** Returns an id in lower case. @throws Fault if the text isn't an id */
export function assertId(text: string): string {
  if (isId(text)) return text.toLowerCase();
  throw usageFault('This is not an id.', 'lists show ids in their first column');
}

/** Returns the id of the row that an argument names. @throws Fault if no row has this name, or several do */
export async function findId(run: Run, doorward: Client, noun: Noun, text: string): Promise<string> {
  if (isId(text)) return text.toLowerCase();
  return idOfRow(noun, await findNamed(run, doorward, noun, text));
}

/** Reads the row that an argument names, by its id or its name. @throws Fault if there is none */
export async function findRow(run: Run, doorward: Client, noun: Noun, text: string): Promise<Row> {
  const { get } = noun;
  if (isId(text) && get)
    return (await operationOf(doorward, get)(targetOf(noun, text.toLowerCase()), run)) as Row;
  if (isId(text)) {
    for await (const row of operationOf(doorward, noun.list).each?.({}, run) ?? [])
      if (idOfRow(noun, row) === text.toLowerCase()) return row;
    throw missing(noun);
  }
  return findNamed(run, doorward, noun, text);
}

async function findNamed(run: Run, doorward: Client, noun: Noun, text: string): Promise<Row> {
  const { namedBy, list } = noun;
  if (namedBy === undefined) throw usageFault(`${text} is not an id.`, `doorward ${noun.word} list`);
  const named = (row: Row): unknown => (typeof namedBy === 'string' ? row[namedBy] : namedBy(row));
  const matches: Row[] = [];
  // The service refuses to search for a single character.
  const filter = [...text].length < 2 ? {} : { search: text };
  for await (const row of operationOf(doorward, list).each?.(filter, run) ?? [])
    if (String(named(row)).toLowerCase() === text.toLowerCase()) matches.push(row);
  const [row, ...others] = matches;
  if (!row) throw missing(noun);
  if (others.length > 0)
    throw usageFault(
      `Several ${noun.word} have this name.`,
      `give an id: ${matches.map((match) => idOfRow(noun, match)).join(', ')}`,
    );
  return row;
}

const missing = ({ singular, word }: Noun): Fault =>
  new Fault(
    exitCodes.notFound,
    'NOT_FOUND',
    `There is no such ${singular} in the scope.`,
    `doorward ${word} list`,
  );
