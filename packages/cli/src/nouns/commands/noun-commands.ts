import type { Command } from '../../command.ts';
import type { Options } from '../../settings/options.ts';
import { exitCodes } from '../../exit-codes.ts';
import { shownFault, usageFault } from '../../fault.ts';
import { visible } from '../../output/text.ts';
import type { Column, Row } from '../../output/table.ts';
import type { Run } from '../../run.ts';
import { assertCanConfirm } from '../../input/confirm.ts';
import { makeChange } from '../change.ts';
import { askOptions, fieldOptions, fieldsText, readFields, secretInput } from '../fields.ts';
import { findId, findRow, idOfRow, argumentHelp } from '../find.ts';
import { operationOf, type Page } from '../invoke.ts';
import { withIds } from '../named-rows.ts';
import { targetOf, type Noun } from '../noun.ts';
import { openSecretTarget, secretOptions } from '../secret-output.ts';

/** Derives the commands of a noun from its declaration. */
export function commandsOf(noun: Noun): Command[] {
  return [
    listCommand(noun),
    ...(noun.get ? [getCommand(noun)] : []),
    ...(noun.create ? [createCommand(noun)] : []),
    ...(noun.update ? [updateCommand(noun)] : []),
    ...(noun.delete ? [deleteCommand(noun)] : []),
  ];
}

export const pageOptions = {
  '--limit <n>': 'rows, 1 to 100; default 50',
  '--all': 'all pages',
  '--cursor <cursor>': 'continue where a page ended',
  '--search <text>': 'rows with this text',
  '--sort <field:order>': 'such as name:desc',
};

/** The number of rows on a page. @throws Fault unless it is 1 to 100 */
export function limitOf(options: Options): number {
  const limit = options.text('limit') ?? '50';
  if (!/^([1-9]\d?|100)$/.test(limit)) throw usageFault('--limit must be 1 to 100.');
  return Number(limit);
}

/** Reads the paging options. @throws Fault for an invalid limit or sort order */
export function pageInput(options: Options): Row {
  const [cursor, search, sort] = [options.text('cursor'), options.text('search'), options.text('sort')];
  const [sortField, order = 'asc', ...more] = sort?.split(':') ?? [];
  if (more.length > 0 || !/^(asc|desc)$/i.test(order))
    throw usageFault('--sort takes <field>, <field>:asc or <field>:desc.');
  return {
    limit: limitOf(options),
    ...(cursor === undefined ? {} : { cursor }),
    ...(search === undefined ? {} : { search }),
    ...(sortField === undefined ? {} : { sortField, sortOrder: order.toUpperCase() }),
  };
}

const listCommand = (noun: Noun): Command => ({
  path: [noun.word, 'list'],
  summary: `${noun.summary}: a page, or all`,
  options: pageOptions,
  async run(run, _args, options) {
    const input = pageInput(options);
    const doorward = await run.connection.inScope();
    const operation = operationOf(doorward, noun.list);
    const { items, nextCursor } = await withRelations(noun, async (relations): Promise<Page> => {
      if (!options.flag('all')) return (await operation({ ...input, ...relations }, run)) as Page;
      const rows: Row[] = [];
      for await (const row of operation.each?.({ ...input, ...relations }, run) ?? []) rows.push(row);
      return { items: rows, nextCursor: null };
    });
    run.terminal.list(items, noun.columns, nextCursor);
  },
});

/** Reads a list with its related rows, or without them if the caller may not read those. */
async function withRelations<T>({ relations }: Noun, read: (input: Row) => Promise<T>): Promise<T> {
  if (!relations) return read({});
  return read({ relations }).catch((error: unknown) => {
    if (shownFault(error).exitCode !== exitCodes.forbidden) throw error;
    return read({});
  });
}

/** Columns that are shown for a single row: those of the list, and more. */
const columnsOf = ({ columns, detailColumns = [] }: Noun): readonly Column[] => [
  ...columns,
  ...detailColumns,
];

/** Adds the members that are derived from the scope, such as the issuer of an app. */
async function completed({ connection, settings }: Run, { derived }: Noun, row: Row): Promise<Row> {
  const scope = derived && (await connection.scope());
  return scope ? { ...row, ...derived(scope, await settings.url()) } : row;
}

const getCommand = (noun: Noun): Command => ({
  path: [noun.word, 'get'],
  summary: `Show one ${noun.singular}`,
  arguments: { [`<${noun.singular.replace(/^API /, '')}>`]: argumentHelp(noun) },
  async run(run, [name = '']) {
    const row = await findRow(run, await run.connection.inScope(), noun, name);
    run.terminal.record(await completed(run, noun, row), columnsOf(noun));
  },
});

const oneOf = ({ singular }: Noun): string => `${/^[aeio]/i.test(singular) ? 'an' : 'a'} ${singular}`;

const createCommand = (noun: Noun): Command => ({
  path: [noun.word, 'create'],
  summary: `Create ${oneOf(noun)}`,
  description: fieldsText(noun),
  options: { ...fieldOptions, ...(noun.secret ? secretOptions : {}) },
  async run(run, _args, options) {
    if (!noun.create) return;
    const fields = await readFields(run, noun, options);
    const secret = noun.asks ? await secretInput(run, noun.asks, options) : {};
    const doorward = await run.connection.inScope({ changes: true });
    const input = { ...(await withIds(run, doorward, fields)), ...secret };
    const target = noun.secret && !run.flags.dryRun ? await openSecretTarget(run, options) : null;
    const created = await makeChange(run, doorward, { change: noun.create, input }).catch(
      async (error: unknown) => {
        await target?.discard();
        throw error;
      },
    );
    const row = created && (await completed(run, noun, created));
    if (row && target && noun.secret && typeof row[noun.secret] === 'string')
      await target.deliver(row, noun.secret, columnsOf(noun));
    else if (row) {
      await target?.discard();
      run.terminal.record(row, columnsOf(noun));
    }
  },
});

const updateCommand = (noun: Noun): Command => ({
  path: [noun.word, 'update'],
  summary: `Change ${oneOf(noun)}`,
  description: fieldsText(noun),
  arguments: { [`<${noun.singular}>`]: argumentHelp(noun) },
  options: { ...fieldOptions, ...(noun.asks ? askOptions : {}) },
  async run(run, [name = ''], options) {
    if (!noun.update) return;
    const secret = noun.asks && options.flag('newSecret') ? await secretInput(run, noun.asks, options) : {};
    const fields = await readFields(run, noun, options);
    if (Object.keys({ ...fields, ...secret }).length === 0)
      throw usageFault('What should change?', '--set name=value, or --from file.json');
    const doorward = await run.connection.inScope({ changes: true });
    const id = await findId(run, doorward, noun, name);
    const input = { ...(await withIds(run, doorward, fields)), ...secret, ...targetOf(noun, id) };
    const row = await makeChange(run, doorward, { change: noun.update, input });
    if (row) run.terminal.record(row, noun.columns);
  },
});

const deleteCommand = (noun: Noun): Command => {
  const word = noun.deleteWord ?? 'delete';
  return {
    path: [noun.word, word],
    summary: `${word === 'remove' ? 'Remove' : 'Delete'} ${oneOf(noun)}, after a question`,
    arguments: { [`<${noun.singular.replace(/^API /, '')}>`]: argumentHelp(noun) },
    async run(run, [name = '']) {
      if (!noun.delete) return;
      assertCanConfirm(run);
      const doorward = await run.connection.inScope({ changes: true });
      const row = await findRow(run, doorward, noun, name);
      const label = labelOf(noun, row);
      const done = await makeChange(run, doorward, {
        change: noun.delete,
        input: targetOf(noun, idOfRow(noun, row)),
        question: `${word === 'remove' ? 'Remove' : 'Delete'} the ${noun.singular} ${label}?`,
        word: noun.isLarge ? String(row['slug']) : undefined,
      });
      if (done)
        run.terminal.answer(
          `${word === 'remove' ? 'Removed' : 'Deleted'} the ${noun.singular} ${label}.`,
          done,
        );
    },
  };
};

/** How questions and messages name a row: its name, if it has one, and its id. */
export function labelOf(noun: Noun, row: Row): string {
  const user = row['user'] as Row | undefined;
  const name = row['name'] ?? user?.['name'] ?? row['url'];
  return `${typeof name === 'string' ? `${visible(name)} ` : ''}${idOfRow(noun, row)}`;
}
