import { exitCodes } from '../exit-codes.ts';
import { Fault } from '../fault.ts';
import type { Env, Io } from './io.ts';

interface MigrationReport {
  readonly migrations: readonly { readonly name: string; readonly state: 'applied' | 'pending' }[];
  readonly unknown: number;
  readonly warnings: readonly string[];
}

export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly message: string;
  readonly fix?: string;
}

/** An operator, or an email address prepared for one whose user hasn't verified it yet. */
export interface OperatorRow {
  readonly userId: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly role: { readonly id: string; readonly name: string };
  readonly source: 'configuration' | 'api' | 'commandLine' | 'development' | 'prepared';
  readonly createdBy: string | null;
  readonly createdAt: Date;
}

interface ProgramInput {
  readonly env: Env;
  readonly now: () => number;
}

/** Functions of the service. This package doesn't depend on it, so they exist only where the service is installed. */
export interface Programs {
  readonly assertCanStart: (env: Env) => Promise<{ readonly appUrl: string; readonly port: number }>;
  readonly migrations: (env: Env) => Promise<MigrationReport>;
  readonly migrate: (env: Env) => Promise<MigrationReport>;
  readonly doctor: (request: {
    readonly env: Env;
    readonly now: () => number;
    readonly sendMail?: string | undefined;
    readonly ownVariables: readonly string[];
  }) => Promise<{
    readonly checks: readonly Check[];
    readonly appUrl: string | null;
    readonly keyIds: readonly string[];
  }>;
  readonly operators: (machine: ProgramInput) => Promise<readonly OperatorRow[]>;
  readonly addOperator: (
    machine: ProgramInput,
    sent: { readonly email: string; readonly role: string; readonly reason: string | undefined },
  ) => Promise<OperatorRow>;
  readonly removeOperator: (
    machine: ProgramInput,
    sent: { readonly email: string; readonly reason: string | undefined; readonly evenLast: boolean },
  ) => Promise<void>;
}

/** The service installed alongside this program. Both functions throw a Fault if none is installed. */
export interface InstalledService {
  readonly programs: () => Promise<Programs>;
  /** Runs the service in this process. */
  readonly start: (env: Env) => Promise<void>;
}

/** Whether the service is installed alongside this program. */
export const isServiceInstalled = ({ service }: Pick<Io, 'service'>): Promise<boolean> =>
  service.programs().then(
    () => true,
    () => false,
  );

/** Calls functions of the installed service. @throws Fault with a matching exit code for errors of the service */
export async function withPrograms<T>(
  { service }: Pick<Io, 'service'>,
  work: (programs: Programs) => Promise<T>,
): Promise<T> {
  const programs = await service.programs();
  try {
    return await work(programs);
  } catch (error) {
    throw faultOf(error);
  }
}

/** Recognizes errors of the service by name, because this package can't import their classes. */
function faultOf(error: unknown): unknown {
  const { name, message } = error as Error;
  if (name === 'ConfigError') return new Fault(exitCodes.usage, 'CONFIG', message);
  if (name === 'DataDirectoryInUse') return new Fault(exitCodes.conflict, 'DATABASE_IN_USE', message);
  if (name === 'DatabaseUnusable') return new Fault(exitCodes.notReached, 'DATABASE_UNUSABLE', message);
  if (name === 'InvalidInput') return new Fault(exitCodes.usage, 'USAGE', message);
  if (name === 'OperatorRefused') return refusedOperator(error as OperatorRefused);
  if (name === 'MigrationsPending')
    return new Fault(
      exitCodes.conflict,
      'MIGRATIONS_PENDING',
      message,
      'doorward migrate; a database of a newer version needs that version',
    );
  if (name === 'NewerDatabase')
    return new Fault(exitCodes.conflict, 'NEWER_DATABASE', message, 'use that version');
  return error;
}

interface OperatorRefused extends Error {
  readonly fault: 'unable' | 'exists' | 'unknown' | 'configured' | 'last';
}

function refusedOperator({ fault, message }: OperatorRefused): Fault {
  if (fault === 'unknown')
    return new Fault(exitCodes.notFound, 'NOT_FOUND', message, 'doorward operator list');
  const hint =
    fault === 'last' ? 'add another operator first; --yes removes this one all the same' : undefined;
  return new Fault(exitCodes.conflict, 'CONFLICT', message, hint);
}
