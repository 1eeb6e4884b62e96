import { DataDirectoryInUse } from '../db/connection/data-lock.ts';
import type { Config } from '../config/config.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { checkExports, checkOperators } from './checks/operators-and-exports.ts';
import { attempt, skip, type Check } from './checks/check.ts';
import { checkConfiguration } from './checks/configuration.ts';
import { checkDatabase, checkDatabaseClock, checkDisk, checkPooling, checkRoles } from './checks/database.ts';
import { checkEncryptionKey, systemKeyIds } from './checks/keys.ts';
import { checkMail, checkRedis, checkWebhooks } from './checks/outgoing.ts';
import { withReadOnly } from './read-only.ts';

export interface DoctorRequest {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the milliseconds since 1970. */
  readonly now: () => number;
  /** The address for a test mail; if absent, none is sent. */
  readonly sendMail?: string | undefined;
  /** Names of the environment variables that the command line itself reads. */
  readonly ownVariables: readonly string[];
}

/** The results of the checks on this machine, and the data with which the caller checks the service from outside. */
export interface DoctorReport {
  readonly checks: readonly Check[];
  /** Null if the configuration is not usable. */
  readonly appUrl: string | null;
  /** Ids of keys that only this installation publishes; empty if they could not be read. */
  readonly keyIds: readonly string[];
}

/** Checks the configuration and everything that it refers to, without changes. Sends a mail only if requested. */
export async function diagnose({ env, now, sendMail, ownVariables }: DoctorRequest): Promise<DoctorReport> {
  const { config, checks } = checkConfiguration(env, ownVariables);
  if (!config) return { checks, appUrl: null, keyIds: [] };
  const stored = await lookIntoDatabase(config, now);
  const outgoing = [...(await checkMail(config, sendMail)), ...(await checkRedis(config))];
  return { checks: [...checks, ...stored.checks, ...outgoing], appUrl: config.appUrl, keyIds: stored.keyIds };
}

interface Stored {
  readonly checks: readonly Check[];
  readonly keyIds: readonly string[];
}

/** The fix to show for each check that could not run; its message says why. */
const fixes = {
  roles: 'check the roles: docs/operating/postgresql.md',
  clock: 'check that the database still answers, and run doctor again',
  'encryption-key':
    'check the access to the tables, ENCRYPTION_KEY and ENCRYPTION_KEYS_OLD: docs/operating/keys-and-secrets.md',
  operators: 'check the access to the tables, and OPERATORS: docs/operating/operators.md',
  webhooks: 'check the access to the tables, and the addresses of subscriptions: docs/operating/webhooks.md',
  'audit-export': 'check the access to the table audit_log: docs/operating/audit-log.md',
};

async function lookIntoDatabase(config: Config, now: () => number): Promise<Stored> {
  let keyIds: readonly string[] = [];
  const isEmbedded = config.mode === 'embedded';
  const databaseFix = isEmbedded
    ? 'make DATA_DIR readable, or restore a backup: docs/operating/backup-and-restore.md'
    : 'correct DATABASE_URL, or start the database';
  const disk = isEmbedded ? await checkDisk(config.dataDir) : [];
  const checks = await attempt('database', databaseFix, () =>
    withReadOnly(config, async (read, client) => {
      if (!read) return checkDatabase(null);
      const look = (
        name: keyof typeof fixes,
        check: (db: Executor) => Promise<Check | Check[]>,
      ): Promise<Check[]> => attempt(name, fixes[name], () => read(check));
      const database = await attempt('database', databaseFix, () => read(checkDatabase));
      const isReady = database.some(({ name, status }) => name === 'migrations' && status === 'ok');
      return [
        ...database,
        ...(client && isReady ? await look('roles', checkRoles) : []),
        ...(client ? await checkPooling(client, config) : []),
        ...(await look('clock', (db) => checkDatabaseClock(db, now))),
        ...(isReady
          ? [
              ...(await look('encryption-key', (db) => checkEncryptionKey(db, config))),
              ...(await look('operators', (db) => checkOperators(db, config))),
              ...(await look('webhooks', checkWebhooks)),
              ...(await look('audit-export', (db) => checkExports(db, now))),
              ...(await look('encryption-key', async (db) => {
                keyIds = await systemKeyIds(db);
                return [];
              })),
            ]
          : []),
      ];
    }).catch((error: unknown) => {
      if (!(error instanceof DataDirectoryInUse)) throw error;
      return skip('database', `${error.message.split('. ')[0]}: stop that process to check the database`);
    }),
  );
  return { checks: [...checks, ...disk], keyIds };
}
