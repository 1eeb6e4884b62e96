import { installationRoleIdOf } from '../access/installation-roles.ts';
import { loadConfig, type Config } from '../config/config.ts';
import { openChanges } from '../db/cache/changes.ts';
import type { Database } from '../db/connection/open.ts';
import { prepareDatabase } from '../db/preparation/migrate.ts';
import { seedSystemNode } from '../db/seed.ts';
import { eventData, isFixedMember } from '../webhooks/event-types/catalogue.ts';
import { addByAddress, listByAddress, removeByAddress } from '../operators/by-address.ts';
import { createCommit } from '../events/commit.ts';
import { createTenantQueues } from '../events/outbox/tenant-queues.ts';
import { createRecorder } from '../events/record.ts';
import { createSystemActs, type ActAsSystem } from '../events/system-act.ts';
import { reason as reasonSchema } from '../operators/installation/inputs.ts';
import { email as emailSchema } from '../kernel/input/values.ts';
import type { Clock } from '../kernel/ports.ts';
import { createIds } from '../runtime/ids.ts';
import { readMigrations } from './migrations.ts';
import { openWritable } from './open-writable.ts';

/*
 * Manages operators from the command line, for people with access to the service's database. They need no token. The
 * audit log of the installation names the system as the actor of each change. Running processes see it immediately.
 */

/** The inputs that all functions of this file need. */
interface OnMachine {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const openedBy = ({ env, now }: OnMachine): { readonly config: Config; readonly clock: Clock } => ({
  config: loadConfig(env),
  clock: { now: () => new Date(now()) },
});

/** Thrown if the schema of the database is not that of this version. */
class MigrationsPending extends Error {
  override readonly name = 'MigrationsPending';
}

/** Thrown for an invalid argument of the command line. */
class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
}

interface OperatorAddition {
  readonly email: string;
  /** `operator`, `support` or `auditor`. */
  readonly role: string;
  readonly reason?: string | undefined;
}

interface OperatorRemoval {
  readonly email: string;
  readonly reason?: string | undefined;
  /** Whether even the last Installation Operator may be removed. */
  readonly evenLast: boolean;
}

type Operators = Awaited<ReturnType<typeof listByAddress>>;

/**
 * Lists all operators, and the addresses that wait for their user.
 * @throws ConfigError, DataDirectoryInUse, DatabaseUnusable, MigrationsPending; so do the other exported functions
 */
export function listOperators(machine: OnMachine): Promise<Operators> {
  const { config, clock } = openedBy(machine);
  return withDatabase(config, ({ pool }) => listByAddress(pool, { clock }, config.operators));
}

/** Adds an operator, and returns it or the prepared address. @throws InvalidInput, OperatorRefused */
export async function addOperator(machine: OnMachine, sent: OperatorAddition): Promise<Operators[number]> {
  const { config, clock } = openedBy(machine);
  const address = addressIn(sent.email);
  const addition = { address, roleId: roleIdOf(sent.role), reason: reasonIn(sent.reason) };
  const services = { clock, rules: config.operators };
  return withDatabase(config, async (database) => {
    const days = config.auth.invitationDays;
    const userId = await withActs(database, clock, (actAsSystem) =>
      actAsSystem('addOperator', (act) => addByAddress(act, services, { ...addition, days })),
    );
    const source = userId === null ? 'prepared' : 'commandLine';
    const all = await listByAddress(database.pool, { clock }, config.operators);
    const added = all.find(
      (each) => each.source === source && (userId === null ? each.email === address : each.userId === userId),
    );
    if (!added) throw new Error('the new operator is not among the operators');
    return added;
  });
}

/** Removes an operator, or a prepared address. @throws InvalidInput, OperatorRefused */
export async function removeOperator(machine: OnMachine, sent: OperatorRemoval): Promise<void> {
  const { config, clock } = openedBy(machine);
  const removal = { address: addressIn(sent.email), reason: reasonIn(sent.reason), evenLast: sent.evenLast };
  const services = { clock, rules: config.operators };
  await withDatabase(config, (database) =>
    withActs(database, clock, (actAsSystem) =>
      actAsSystem('removeOperator', (act) => removeByAddress(act, services, removal)),
    ),
  );
}

function addressIn(typed: string): string {
  const { success, data } = emailSchema.safeParse(typed);
  if (!success) throw new InvalidInput('This is not an e-mail address.');
  return data;
}

function reasonIn(typed: string | undefined): string | undefined {
  const { success, data } = reasonSchema.optional().safeParse(typed);
  if (!success) throw new InvalidInput('The reason has 10 to 500 characters.');
  return data;
}

const roles = {
  operator: 'Installation Operator',
  support: 'Installation Support',
  auditor: 'Installation Auditor',
} as const;

function roleIdOf(word: string): string {
  if (!Object.hasOwn(roles, word)) throw new InvalidInput('The role is operator, support or auditor.');
  return installationRoleIdOf(roles[word as keyof typeof roles]);
}

/** Runs `work` on the database. @throws MigrationsPending, DataDirectoryInUse, DatabaseUnusable */
async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const { migrations, unknown } = await readMigrations(config);
  if (unknown > 0 || migrations.some(({ state }) => state === 'pending'))
    throw new MigrationsPending('The schema of the database is not that of this version.');
  const database = await openWritable(config);
  try {
    // Uses the same database roles as the service. Before its first start the installation has no node.
    await prepareDatabase(database, null, async (db) => void (await seedSystemNode(db)));
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Creates the components that record a change. The relay of the service takes the events from the database. */
async function withActs<T>(
  database: Database,
  clock: Clock,
  work: (actAsSystem: ActAsSystem) => Promise<T>,
): Promise<T> {
  const log = (error: unknown): void => void process.stderr.write(`${(error as Error).message}\n`);
  const ids = createIds(clock);
  const transaction: Database['transaction'] = (run) => database.transaction(run);
  const relay = { due: () => true, flush: async () => undefined };
  const changes = await openChanges(database, log);
  try {
    const commit = createCommit({
      record: createRecorder(ids, relay, { data: eventData, isNeverCut: isFixedMember }),
      changes,
      // Only a caller of the API gets a revision.
      revisions: { seal: () => '' },
      queues: createTenantQueues(),
      log,
    });
    return await work(createSystemActs({ transaction, commit, ids }));
  } finally {
    await changes.close();
  }
}
