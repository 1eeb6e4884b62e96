import type { Doorward } from '@doorward/node';
import type { Command, Options } from '../command.ts';
import { usageFault } from '../fault.ts';
import { assertCanConfirm } from '../input/confirm.ts';
import { makeChange } from '../nouns/change.ts';
import { plain } from '../nouns/noun.ts';
import type { Column } from '../output/table.ts';
import type { Run } from '../run.ts';

/** Operators of the installation, over the API, for those who are operators. The first one is in its configuration. */
const INSTALLATION = { tenant: 'installation', id: '00000000-0000-0000-0000-000000000000' } as const;

const columns: readonly Column[] = [
  { name: 'user', of: 'userId', kind: 'id' },
  { name: 'name' },
  { name: 'email' },
  { name: 'role', of: ({ role }) => (role as { readonly name: string }).name },
  { name: 'source' },
  { name: 'since', of: 'createdAt', kind: 'time' },
];

const inInstallation = (run: Run): Promise<Doorward> =>
  run.connection.client({ scope: INSTALLATION, changes: true });

const reasonOption = {
  '--reason <text>': 'why, in 10 to 500 characters; it is audited, and other operators read it',
};

function reasonIn(options: Options): string {
  const reason = options.text('reason');
  if (reason === undefined)
    throw usageFault('An operator is added and removed with a reason.', '--reason "…"');
  return reason;
}

const list: Command = {
  path: ['operator', 'list'],
  summary: 'The operators of the installation',
  description: 'Those of its configuration (OPERATORS) too.',
  async run(run) {
    const { api } = await inInstallation(run);
    const { items } = await api.operators({}, { signal: run.signal });
    run.terminal.list(items, columns, null);
  },
};

/** @throws Fault for a word that is not one of the roles */
async function roleIdOf({ api }: Doorward, word: string, signal: AbortSignal): Promise<string> {
  const { roles } = await api.installation({}, { signal });
  const role = roles.find(({ name }) => name.toLowerCase() === `installation ${word.toLowerCase()}`);
  if (role) return role.id;
  throw usageFault('--role names no role of the installation.', 'operator, support or auditor');
}

const add: Command = {
  path: ['operator', 'add'],
  summary: 'Make a user an operator of the installation',
  description:
    'The user must have verified the address, and you must be an operator who has signed in a moment ago. The first operator is in the configuration of the service: OPERATORS.',
  arguments: { '<email>': 'a verified address of the user' },
  options: { '--role <role>': 'operator (default), support or auditor', ...reasonOption },
  examples: ['doorward operator add ada@example.com --role support --reason "Ada joins the support team"'],
  async run(run, [email = ''], options) {
    const reason = reasonIn(options);
    const doorward = await inInstallation(run);
    const roleId = await roleIdOf(doorward, options.text('role') ?? 'operator', run.signal);
    const change = plain('createOperator');
    const operator = await makeChange(run, doorward, { change, input: { email, roleId, reason } });
    if (operator) run.terminal.record(operator, columns);
  },
};

const remove: Command = {
  path: ['operator', 'remove'],
  summary: 'Remove an operator, effective at once',
  description:
    'An operator of the configuration ends there: take the address out of OPERATORS, and start the service again. The last one stays.',
  arguments: { '<email>': 'the address of the operator, or the id of the user' },
  options: reasonOption,
  examples: ['doorward operator remove ada@example.com --reason "Ada has left the team"'],
  async run(run, [named = ''], options) {
    const reason = reasonIn(options);
    assertCanConfirm(run);
    const doorward = await inInstallation(run);
    const { items } = await doorward.api.operators({}, { signal: run.signal });
    const match = items.find(
      ({ email, userId }) => email?.toLowerCase() === named.toLowerCase() || userId === named.toLowerCase(),
    );
    if (!match) throw usageFault('No operator has this address or id.', 'doorward operator list');
    const removed = await makeChange(run, doorward, {
      change: plain('deleteOperator'),
      input: { userId: match.userId, reason },
      question: `Remove the operator ${match.name}?`,
    });
    if (removed) run.terminal.record(removed, [{ name: 'user', of: 'userId', kind: 'id' }]);
  },
};

export const operatorCommands: readonly Command[] = [list, add, remove];
