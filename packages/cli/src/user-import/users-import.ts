import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';
import { operationOf } from '../nouns/invoke.ts';
import type { Client } from '@doorward/node/client';
import { fileFormats, readUsers, type FileFormat } from './read-users.ts';
import { sendUsers, type Counts } from './send-users.ts';

export const usersImport: Command = {
  path: ['users', 'import'],
  summary: 'Import users of another service with their passwords',
  description:
    'Reads CSV, JSON Lines or a JSON list, including password hashes. Invalid users are reported and skipped; the rest are imported. Addresses that already have a user are skipped, so after an interruption run the command again. --dry-run only validates. You need the role Installation Operator and permission to create users in the project.',
  arguments: { '<file>': 'file with the users' },
  options: { '--format <format>': 'csv, jsonl or json; default: by the file extension' },
  examples: ['doorward users import users.csv --dry-run', 'doorward users import users.jsonl'],
  async run(run, [path = ''], options) {
    const format = formatOf(path, options.text('format'));
    const doorward = await run.connection.inScope();
    const counts: Counts = { created: 0, existing: 0, claimed: 0, refused: [] };
    const roles = await roleIds(run, doorward);
    const sending = {
      ...{ run, doorward, counts, shownHints: new Set<string>() },
      roleOf: (name: string) => roles.get(name.toLowerCase()),
    };
    try {
      await sendUsers(sending, readUsers(run, path, format));
    } catch (error) {
      if (counts.created > 0 && !run.flags.dryRun)
        run.terminal.say(`${counts.created} users were imported; the same command goes on from there.`);
      throw error;
    }
    run.terminal.answer(summaryOf(run, counts), counts);
    return counts.refused.length > 0 ? exitCodes.negative : exitCodes.done;
  },
};

function formatOf(path: string, named: string | undefined): FileFormat {
  const given = named ?? /\.(\w+)$/.exec(path)?.[1]?.toLowerCase();
  const format = fileFormats.find((name) => name === (given === 'ndjson' ? 'jsonl' : given));
  if (format) return format;
  throw usageFault('Unknown file format.', 'add --format csv, --format jsonl or --format json');
}

async function roleIds(run: Run, doorward: Client): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for await (const row of operationOf(doorward, 'roles').each?.({}, run) ?? [])
    ids.set(String(row['name']).toLowerCase(), String(row['id']));
  return ids;
}

function summaryOf({ flags }: Run, { created, existing, claimed, refused }: Counts): string {
  const verb = flags.dryRun ? 'would be imported' : 'were imported';
  const counted = [
    `${created} ${verb}`,
    `${existing} existed already`,
    ...(claimed > 0 ? [`${claimed} addresses belong to a registration that has not proved them`] : []),
    `${refused.length} refused`,
  ];
  return `${counted.join(', ')}.`;
}
