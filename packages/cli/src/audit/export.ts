import type { FileHandle } from 'node:fs/promises';
import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { Fault, usageFault } from '../fault.ts';
import type { Run } from '../run.ts';
import { scopeText } from '../settings/scope-text.ts';
import { openExport, type LastEntry } from './resumed-file.ts';

/** A resumed export starts this long before the last entry, because entries aren't stored in time order. */
const OVERLAP_MS = 60_000;

export const auditExport: Command = {
  path: ['audit', 'export'],
  summary: 'Download the audit log of the scope, oldest first',
  description:
    'Without -o it goes to stdout. A file of ndjson that exists is continued after its last entry, so a cut download is completed by the same command. doorward audit verify proves the file.',
  options: {
    '--from <time>': 'entries since, for example 2030-01-31',
    '--to <time>': 'entries until',
    '--format <format>': 'ndjson (default) or csv',
    '-o, --out <file>': 'a file that only you can read',
  },
  async run(run, _args, options) {
    const format = options.text('format') ?? 'ndjson';
    if (format !== 'ndjson' && format !== 'csv') throw usageFault('--format is ndjson or csv.');
    const [from, to] = [timeOf('--from', options.text('from')), timeOf('--to', options.text('to'))];
    const path = options.text('out');
    const scope = await run.connection.scope();
    const { api } = await run.connection.inScope({ changes: true });
    const opened = path === undefined ? null : await openExport(run, path);
    const { file, last } = opened ?? { file: null, last: null };
    try {
      if (last) assertContinues(last, format, scope ?? null);
      await opened?.cutIncompleteLine();
      const start = last ? new Date(Date.parse(last.occurredAt) - OVERLAP_MS).toISOString() : from;
      const input = {
        format,
        ...(start === undefined ? {} : { from: start }),
        ...(to === undefined ? {} : { to }),
      } as const;
      const answer = await (scope?.tenant === 'installation'
        ? api.exportInstallationAuditLogs(input, { signal: run.signal })
        : api.exportAuditLogs(input, { signal: run.signal }));
      const count = await save(run, linesOf(answer), file, last);
      if (path !== undefined)
        run.terminal.note(`${count} lines ${last ? 'added to' : 'written to'} ${path}.`);
    } finally {
      await file?.close();
    }
  },
};

function timeOf(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(time))
    throw usageFault(`${flag} takes a date or time such as 2030-01-31 or 2030-01-31T08:00:00Z.`);
  return new Date(time).toISOString();
}

function assertContinues(
  last: LastEntry,
  format: string,
  scope: Parameters<typeof scopeText>[0] | null,
): void {
  if (format !== 'ndjson') throw usageFault('The file exists, and csv cannot be continued.');
  if (scope && last.scope !== scopeText(scope))
    throw usageFault(`The file is the log of ${last.scope}.`, 'give another file, or that scope');
}

/** Writes the entries that the file doesn't have yet. @returns the number of lines written */
async function save(
  { signal, terminal }: Run,
  lines: AsyncIterable<string>,
  file: FileHandle | null,
  last: LastEntry | null,
): Promise<number> {
  let count = 0;
  for await (const line of lines) {
    signal.throwIfAborted();
    if (last && count === 0) {
      const { sequence, previousHash } = JSON.parse(line) as { sequence: number; previousHash: string };
      if (sequence <= last.sequence) continue;
      if (sequence !== last.sequence + 1 || previousHash !== last.hash)
        throw new Fault(
          exitCodes.conflict,
          'NOT_CONTINUED',
          'The log does not continue the file.',
          'export to another file',
        );
    }
    count++;
    if (file) await file.write(`${line}\n`);
    else await terminal.bytes([`${line}\n`]);
  }
  return count;
}

async function* linesOf(answer: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const piece of answer.body ?? []) {
      const lines = (rest + decoder.decode(piece as Uint8Array, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    if (error instanceof Fault || (error as Error).name !== 'TypeError') throw error;
    throw new Fault(
      exitCodes.notReached,
      'CUT',
      'The download was cut.',
      'the same command with -o continues the file',
    );
  }
  if (rest !== '') yield rest;
}
