import type { Command } from '../../command.ts';
import { usageFault } from '../../fault.ts';
import type { Column } from '../../output/table.ts';
import { findId, argumentHelp } from '../find.ts';
import { makeChange } from '../change.ts';
import { pageInput, pageOptions } from './noun-commands.ts';
import { withDryRun } from '../noun.ts';
import { allNouns, users } from '../nouns.ts';

const setRoles: Command = {
  path: ['users', 'set-roles'],
  summary: 'Give a user these roles in the scope, and no other',
  description: 'With --dry-run it shows who would gain and lose what.',
  arguments: { '<user>': argumentHelp(users), '[roles...]': 'ids or names; none takes all roles away' },
  async run(run, [name = '', ...names]) {
    const roles = allNouns.find(({ word }) => word === 'roles');
    if (!roles) return;
    const doorward = await run.connection.inScope({ changes: true });
    const id = await findId(run, doorward, users, name);
    const roleIds = [];
    for (const role of names) roleIds.push(await findId(run, doorward, roles, role));
    const row = await makeChange(run, doorward, { change: withDryRun('updateUser'), input: { id, roleIds } });
    if (row) run.terminal.record(row, users.columns);
  },
};

const columns: readonly Column[] = [
  { name: 'id', kind: 'id' },
  { name: 'kind' },
  { name: 'current', of: ({ isCurrent }) => (isCurrent ? 'current' : '') },
  { name: 'used', of: 'lastUsedAt', kind: 'time' },
  { name: 'expires', of: 'expiresAt', kind: 'time' },
  { name: 'address', of: 'ipAddress' },
  { name: 'agent', of: 'userAgent' },
];

const sessions: Command = {
  path: ['users', 'sessions'],
  summary: 'Your own sessions',
  description: 'The service shows sessions to their user only.',
  arguments: { '[user]': '`me`' },
  options: {
    '--limit <n>': pageOptions['--limit <n>'],
    '--cursor <cursor>': pageOptions['--cursor <cursor>'],
  },
  async run({ connection, terminal, signal }, [user = 'me'], options) {
    if (user !== 'me')
      throw usageFault('The service shows sessions to their user only.', 'doorward users sessions');
    const { api } = await connection.client({});
    const { items, nextCursor } = await api.myUserSessions(pageInput(options), { signal });
    terminal.list(items, columns, nextCursor);
  },
};

export const userCommands: readonly Command[] = [setRoles, sessions];
