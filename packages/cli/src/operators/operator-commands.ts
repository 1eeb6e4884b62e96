import type { Client } from '@doorward/node/client';
import type { Command } from '../command.ts';
import type { Options } from '../settings/options.ts';
import { usageFault } from '../fault.ts';
import { assertCanConfirm } from '../input/confirm.ts';
import { makeChange } from '../nouns/change.ts';
import { withoutDryRun } from '../nouns/noun.ts';
import { environmentOptions } from '../installation/service-environment.ts';
import type { Row } from '../output/table.ts';
import type { Run } from '../run.ts';
import {
  addOnMachine,
  isRemovable,
  listOnMachine,
  noteConfigured,
  operatorColumns,
  removeOnMachine,
  whereOperatorsAre,
} from './machine.ts';

const INSTALLATION = { tenant: 'installation', id: '00000000-0000-0000-0000-000000000000' } as const;

const inInstallation = (run: Run): Promise<Client> =>
  run.connection.client({ scope: INSTALLATION, changes: true });

const reasonOption = {
  '--reason <text>': 'why, in 10 to 500 characters; it is audited, and other operators read it',
};

function reasonIn(options: Options): string {
  const reason = options.text('reason');
  if (reason === undefined)
    throw usageFault('Over the API an operator is added and removed with a reason.', '--reason "…"');
  return reason;
}

const machineNote =
  'Where the service is installed, it works on the database if you give --env-file or --data-dir. Without them, --url, --profile or a variable such as DOORWARD_URL lets it work over the API with your sign-in. Without these too, it works on the database if DATABASE_URL or DATA_DIR is set or you have not signed in, else over the API. While the service uses its embedded database, it works over the API.';

const list: Command = {
  path: ['operator', 'list'],
  summary: 'The operators of the installation',
  description: `Those of its configuration (OPERATORS) too. ${machineNote}`,
  options: environmentOptions,
  async run(run, _args, options) {
    const items = await whereOperatorsAre(run, options, {
      onMachine: () => listOnMachine(run, options),
      async overApi() {
        const { api } = await inInstallation(run);
        return (await api.operators({}, { signal: run.signal })).items;
      },
    });
    run.terminal.list(items, operatorColumns, null);
  },
};

/** Returns the id of an installation role by its short name, such as `support`. @throws Fault for an unknown name */
async function roleIdOf({ api }: Client, word: string, signal: AbortSignal): Promise<string> {
  const { roles } = await api.installation({}, { signal });
  const role = roles.find(({ name }) => name.toLowerCase() === `installation ${word.toLowerCase()}`);
  if (role) return role.id;
  throw usageFault('--role names no role of the installation.', 'operator, support or auditor');
}

const add: Command = {
  path: ['operator', 'add'],
  summary: 'Make a user an operator of the installation',
  description: `${machineNote} Over the API the user must have verified the address, and you must be an operator who has signed in a moment ago. In the database an address that no user has verified is prepared: its user becomes operator after they verify it.`,
  arguments: { '<email>': 'an address of the user' },
  options: {
    '--role <role>': 'operator (default), support or auditor',
    ...reasonOption,
    ...environmentOptions,
  },
  examples: [
    'doorward operator add ada@example.com --env-file service.env',
    'doorward operator add ada@example.com --role support --reason "Ada joins the support team"',
  ],
  async run(run, [email = ''], options) {
    const operator = await whereOperatorsAre(run, options, {
      onMachine: () => addOnMachine(run, options, email),
      async overApi() {
        const reason = reasonIn(options);
        const doorward = await inInstallation(run);
        const roleId = await roleIdOf(doorward, options.text('role') ?? 'operator', run.signal);
        return makeChange(run, doorward, {
          change: withoutDryRun('createOperator'),
          input: { email, roleId, reason },
        });
      },
    });
    if (operator) run.terminal.record(operator, operatorColumns);
  },
};

const remove: Command = {
  path: ['operator', 'remove'],
  summary: 'Remove an operator, effective at once',
  description: `An operator of the configuration ends there: take the address out of OPERATORS, and start the service again. ${machineNote} The last one stays; in the database --yes removes them too.`,
  arguments: { '<email>': 'the address of the operator; over the API also the id of the user' },
  options: { ...reasonOption, ...environmentOptions },
  examples: ['doorward operator remove ada@example.com --reason "Ada has left the team"'],
  async run(run, [named = ''], options) {
    assertCanConfirm(run);
    const removed = await whereOperatorsAre(run, options, {
      onMachine: () => removeOnMachine(run, options, named),
      overApi: () => removeOverApi(run, options, named),
    });
    if (removed) run.terminal.record(removed, operatorColumns.slice(0, 3));
  },
};

async function removeOverApi(run: Run, options: Options, named: string): Promise<Row | null> {
  const reason = reasonIn(options);
  const doorward = await inInstallation(run);
  const { items } = await doorward.api.operators({}, { signal: run.signal });
  const match = items.find(
    ({ email, userId }) => email?.toLowerCase() === named.toLowerCase() || userId === named.toLowerCase(),
  );
  if (!match) throw usageFault('No operator has this address or id.', 'doorward operator list');
  const removed = await makeChange(run, doorward, {
    change: withoutDryRun('deleteOperator'),
    input: { userId: match.userId, reason },
    question: `Remove the operator ${match.name}?`,
  });
  if (removed && items.some((each) => each.userId === match.userId && !isRemovable(each)))
    noteConfigured(run);
  return removed;
}

/**
 * Commands for the operators of the installation. They use the API with an operator's sign-in or, on the machine of
 * the service, its database.
 */
export const operatorCommands: readonly Command[] = [list, add, remove];
