import type { Command } from '../command.ts';
import type { Column } from '../output/table.ts';
import { contextOf, contextOption } from './question.ts';
import { permissionOf } from './subject.ts';

const columns: readonly Column[] = [
  { name: 'user', of: (row) => (row['subject'] as { id: string }).id, kind: 'id' },
  { name: 'reason' },
  { name: 'permission', of: (row) => (row['matchedPermission'] as { name: string }).name },
];

export const whoCan: Command = {
  path: ['who-can'],
  summary: 'Every user who may do something in the scope now',
  description: 'Needs Authorization:Check and User:Query.',
  arguments: { '<permission>': '<resource>:<action>' },
  options: contextOption,
  async run(run, [permission = ''], options) {
    const { connection, terminal, signal } = run;
    const asked = permissionOf(permission);
    const context = await contextOf(run, options);
    const doorward = await connection.decisions();
    const items = [];
    for await (const item of doorward.whoCan(asked, context, { signal })) items.push({ ...item });
    terminal.list(items, columns, null);
  },
};
