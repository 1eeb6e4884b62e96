import type { Command } from '../../command.ts';
import type { Options } from '../../settings/options.ts';
import { usageFault } from '../../fault.ts';
import type { Row } from '../../output/table.ts';
import type { Run } from '../../run.ts';
import { assertCanConfirm } from '../../input/confirm.ts';
import { makeChange } from '../change.ts';
import { findId, findRow, idOfRow, argumentHelp } from '../find.ts';
import { labelOf } from './noun-commands.ts';
import { withoutDryRun, type Change } from '../noun.ts';
import { allNouns, keys } from '../nouns.ts';
import { openSecretTarget, secretOptions } from '../secret-output.ts';

const create: Command = {
  path: ['keys', 'create'],
  summary: 'Create an API key, whose secret is shown once',
  options: {
    '--name <name>': 'what it is for',
    '--role <role>': 'id or name of the role that limits it; default: all that its user may do',
    '--user <user>': 'id of the user it acts for; default: you',
    '--expires <time>': '90d, 12h, or a date such as 2030-01-31',
    '--cidr <network...>': 'network that it works from; several times for several',
    '--description <text>': 'more about it',
    ...secretOptions,
  },
  examples: ['doorward keys create --name ci --role Deployer --expires 90d --out ci.secret'],
  async run(run, _args, options) {
    const expires = options.text('expires');
    const fields = {
      name: options.text('name'),
      description: options.text('description'),
      userId: options.text('user'),
      ...(expires === undefined ? {} : { expiresAt: timeOf(expires) }),
      ...(options.list('cidr').length === 0 ? {} : { allowedCidrs: options.list('cidr') }),
    };
    const doorward = await run.connection.inScope({ changes: true });
    const roles = allNouns.find(({ word }) => word === 'roles');
    const role = options.text('role');
    const roleId = role === undefined || !roles ? undefined : await findId(run, doorward, roles, role);
    await withSecret(run, options, { change: withoutDryRun('createApiKey'), input: { ...fields, roleId } });
  },
};

const rotate: Command = {
  path: ['keys', 'rotate'],
  summary: 'Give a key another secret, after a question',
  arguments: { '<key>': argumentHelp(keys) },
  options: { '--grace <seconds>': 'how long the old secret still works', ...secretOptions },
  async run(run, [name = ''], options) {
    assertCanConfirm(run);
    const grace = graceOf(options);
    const row = await findRow(run, await run.connection.inScope(), keys, name);
    await withSecret(run, options, {
      change: withoutDryRun('rotateApiKey'),
      input: { id: idOfRow(keys, row), ...grace },
      question: `Replace the secret of the key ${labelOf(keys, row)}?`,
    });
  },
};

const revoke: Command = {
  path: ['keys', 'revoke'],
  summary: 'End a key, after a question; it stays in lists',
  arguments: { '<key>': argumentHelp(keys) },
  options: { '--reason <text>': 'for the audit log' },
  async run(run, [name = ''], options) {
    assertCanConfirm(run);
    const doorward = await run.connection.inScope({ changes: true });
    const row = await findRow(run, doorward, keys, name);
    const reason = options.text('reason');
    const done = await makeChange(run, doorward, {
      change: withoutDryRun('revokeApiKey'),
      input: { id: idOfRow(keys, row), ...(reason === undefined ? {} : { reason }) },
      question: `Revoke the key ${labelOf(keys, row)}? What uses it is refused at once.`,
    });
    if (done) run.terminal.record(done, keys.columns);
  },
};

interface SecretChange {
  readonly change: Change;
  readonly input: Row;
  readonly question?: string;
  readonly secret?: string;
}

/** Makes a change whose result contains a secret. Opens the output for the secret before the secret exists. */
export async function withSecret(
  run: Run,
  options: Options,
  { secret = 'clientSecret', ...intent }: SecretChange,
  columns = keys.columns,
): Promise<void> {
  const doorward = await run.connection.inScope({ changes: true });
  const target = run.flags.dryRun ? null : await openSecretTarget(run, options);
  const row = await makeChange(run, doorward, intent).catch(async (error: unknown) => {
    await target?.discard();
    throw error;
  });
  if (row) await target?.deliver(row, secret, columns);
}

export function graceOf(options: Options): { readonly graceSeconds?: number } {
  const text = options.text('grace');
  if (text === undefined) return {};
  if (!/^\d{1,8}$/.test(text)) throw usageFault('--grace is a number of seconds.');
  return { graceSeconds: Number(text) };
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses an expiry such as `90d` (from now) or a date, and returns it as an ISO time. */
function timeOf(text: string): string {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const time = count === undefined ? Date.parse(text) : Date.now() + Number(count) * (unitMs[unit] ?? 0);
  if (Number.isNaN(time) || (count === undefined && !/^\d{4}-\d\d-\d\d/.test(text)))
    throw usageFault('--expires takes 90d, 12h, 30m or a date such as 2030-01-31.');
  return new Date(time).toISOString();
}

export const keyCommands: readonly Command[] = [create, rotate, revoke];
