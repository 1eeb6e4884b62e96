import type { Options } from '../settings/options.ts';
import { Fault } from '../fault.ts';
import { confirm } from '../input/confirm.ts';
import { isServiceInstalled, withPrograms, type OperatorRow } from '../environment/programs.ts';
import { environmentOf } from '../installation/service-environment.ts';
import type { Column, Row } from '../output/table.ts';
import { visible } from '../output/text.ts';
import type { Run } from '../run.ts';

/*
 * Manages operators in the database of the service, on its machine. No token is needed: anyone with access to the
 * database is trusted.
 */

export const operatorColumns: readonly Column[] = [
  { name: 'user', of: 'userId', kind: 'id' },
  { name: 'name' },
  { name: 'email' },
  { name: 'role', of: ({ role }) => (role as { readonly name: string }).name },
  { name: 'source' },
  { name: 'since', of: 'createdAt', kind: 'time' },
];

/**
 * Runs `onMachine` on the database of the service, or `overApi` against a running service. Flags decide first, then
 * environment variables. Without either, a stored sign-in means `overApi`. If another process uses the embedded
 * database and there is a sign-in, `overApi` runs instead.
 */
export async function whereOperatorsAre<T>(
  run: Run,
  options: Options,
  { onMachine, overApi }: { readonly onMachine: () => Promise<T>; readonly overApi: () => Promise<T> },
): Promise<T> {
  if (!(await isOnMachine(run, options))) return overApi();
  try {
    return await onMachine();
  } catch (error) {
    const isInUse = error instanceof Fault && error.code === 'DATABASE_IN_USE';
    if (!isInUse || !(await run.settings.identity())) throw error;
    run.terminal.note(`${error.message.split('. ')[0]}: the running service is asked instead.`);
    return overApi();
  }
}

async function isOnMachine(run: Run, options: Options): Promise<boolean> {
  const { flags, env, settings } = run;
  if (options.text('envFile') !== undefined || options.text('dataDir') !== undefined) return true;
  if (flags.url !== undefined || flags.profile !== undefined) return false;
  const service = ['DOORWARD_URL', 'DOORWARD_PROFILE', 'DOORWARD_TOKEN', 'DOORWARD_CLIENT_ID'];
  if (service.some((name) => env[name])) return false;
  const isNamed = Boolean(env['DATABASE_URL'] || env['DATA_DIR']);
  return (isNamed || !(await settings.identity())) && (await isServiceInstalled(run));
}

export async function listOnMachine(run: Run, options: Options): Promise<readonly Row[]> {
  const machine = { env: await environmentOf(run, options), now: Date.now };
  const operators = await run.terminal.waiting(withPrograms(run, (programs) => programs.operators(machine)));
  if (operators.some(({ source }) => source === 'development'))
    run.terminal.note(
      'The first user (development) is operator only while the service does not run in production; "doorward operator add" makes them one there too.',
    );
  return rowsOf(operators);
}

/** Adds an operator in the database. @returns null after a dry run, which has printed its result */
export async function addOnMachine(run: Run, options: Options, email: string): Promise<Row | null> {
  const machine = { env: await environmentOf(run, options), now: Date.now };
  const [role, reason] = [options.text('role') ?? 'operator', options.text('reason')];
  if (run.flags.dryRun) return notChanged(run, `Would add ${visible(email)} as ${visible(role)}`);
  const sent = { email, role, reason };
  const added = await run.terminal.waiting(
    withPrograms(run, (programs) => programs.addOperator(machine, sent)),
  );
  if (added.source === 'prepared')
    run.terminal.note(
      'No user has verified this address yet: within a minute after one does, they are operator.',
    );
  return rowOf(added);
}

export async function removeOnMachine(run: Run, options: Options, email: string): Promise<Row | null> {
  const machine = { env: await environmentOf(run, options), now: Date.now };
  const before = await run.terminal.waiting(withPrograms(run, (programs) => programs.operators(machine)));
  const named = before.filter((each) => each.email?.toLowerCase() === email.toLowerCase());
  const operator = named.find(isRemovable) ?? named[0];
  if (run.flags.dryRun) return notChanged(run, `Would remove ${visible(operator?.email ?? email)}`);
  await confirm(run, `Remove the operator ${visible(operator?.name ?? email)}?`);
  const sent = { email, reason: options.text('reason'), evenLast: run.flags.yes };
  await run.terminal.waiting(withPrograms(run, (programs) => programs.removeOperator(machine, sent)));
  if (named.some((each) => !isRemovable(each))) noteConfigured(run);
  return operator ? rowOf(operator) : { email };
}

/** Whether `operator remove` can remove this row. An operator in `OPERATORS` who was also added has two rows. */
export const isRemovable = ({ source }: { readonly source: string }): boolean => source !== 'configuration';

export const noteConfigured = (run: Run): void =>
  run.terminal.note(
    'They stay Installation Operator by OPERATORS: take the address out, and start the service again.',
  );

function notChanged({ terminal }: Run, text: string): null {
  terminal.answer(`${text}; nothing was changed.`, { dryRun: true });
  return null;
}

const rowOf = (operator: OperatorRow): Row => ({
  ...operator,
  createdAt: operator.createdAt.toISOString(),
});
const rowsOf = (operators: readonly OperatorRow[]): Row[] => operators.map(rowOf);
