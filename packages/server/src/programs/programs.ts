import { loadConfig } from '../config/config.ts';
import { assertNotInUse } from '../db/connection/data-lock.ts';
import { diagnose, type DoctorReport, type DoctorRequest } from './doctor.ts';
import { migrateDatabase, readMigrations, type MigrationReport } from './migrations.ts';
import { addOperator, listOperators, removeOperator } from './operators.ts';

/**
 * The functions that the command line runs on the machine of the service, with its configuration and without a token: a
 * person who can read that configuration is trusted. If the service is installed next to it, the command line imports
 * this file by name.
 */
export interface Programs {
  /** Checks that the service could start with this configuration. @throws ConfigError, DataDirectoryInUse */
  readonly assertCanStart: (env: Environment) => Promise<{ readonly appUrl: string; readonly port: number }>;
  /** Lists migrations; changes nothing. @throws ConfigError, DataDirectoryInUse, DatabaseUnusable */
  readonly migrations: (env: Environment) => Promise<MigrationReport>;
  /** Applies the pending migrations. @throws as `migrations`, and NewerDatabase */
  readonly migrate: (env: Environment) => Promise<MigrationReport>;
  readonly doctor: (request: DoctorRequest) => Promise<DoctorReport>;
  readonly operators: typeof listOperators;
  readonly addOperator: typeof addOperator;
  readonly removeOperator: typeof removeOperator;
}

type Environment = Readonly<Record<string, string | undefined>>;

export const programs: Programs = {
  async assertCanStart(env) {
    const { mode, dataDir, appUrl, http } = loadConfig(env);
    if (mode === 'embedded') await assertNotInUse(dataDir);
    return { appUrl, port: http.port };
  },
  migrations: (env) => readMigrations(loadConfig(env)),
  migrate: (env) => migrateDatabase(loadConfig(env)),
  doctor: diagnose,
  operators: listOperators,
  addOperator,
  removeOperator,
};
