import type { Command } from '../command.ts';
import type { Column } from '../output/table.ts';
import { subjectArgument, subjectOf } from './subject.ts';

export const permissionColumns: readonly Column[] = [
  { name: 'permission', of: ({ resource, action }) => `${resource as string}:${action as string}` },
  { name: 'condition', of: ({ conditional }) => (conditional ? 'under a condition' : '') },
];

/** The command `doorward permissions [<subject>]`. Its subcommands (list, get, …) belong to the noun `permissions`. */
export const effectivePermissions: Command = {
  path: ['permissions'],
  summary: 'What a subject may do in the scope; and the permissions of roles (list, get, …)',
  arguments: { '[subject]': `${subjectArgument}; default: me` },
  async run({ connection, terminal }, [subject = 'me']) {
    const doorward = await connection.decisions();
    const who = await subjectOf(doorward, subject);
    const held = who ? await doorward.api.userPermissions({ id: who.userId }) : await doorward.permissions();
    if (terminal.isJson) terminal.json(held);
    else terminal.list(held.permissions, permissionColumns, null);
  },
};
