/* Checks that an active operator could act in an emergency, and that the audit log was exported recently. */

import { sql } from 'drizzle-orm';
import type { Config } from '../../config/config.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { activeOperators } from '../../people/operators.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { counted, ok, warn, type Check } from './check.ts';

export async function checkOperators(db: Executor, { operators }: Config): Promise<Check> {
  const count = (await activeOperators(db, operators)).length;
  return count > 0
    ? ok('operators', counted(count, 'active operator'))
    : warn('operators', 'the installation has no operator', 'set OPERATORS: docs/operating/operators.md');
}

const DAY_MS = 86_400_000;
const OLD_DAYS = 30;

export async function checkExports(db: Executor, now: () => number): Promise<Check> {
  const [row] = await rowsOf<{ at: string | null }>(
    db,
    sql`select max(occurred_at)::text as at from audit_log
      where operation in ('exportAuditLogs', 'exportInstallationAuditLogs') and outcome = 'success'`,
  );
  const fix = 'doorward audit export -o <file>, and keep the file elsewhere';
  if (!row || row.at === null) return warn('audit-export', 'the audit log was never exported', fix);
  const days = Math.floor((now() - Date.parse(row.at)) / DAY_MS);
  const text = `the audit log was exported ${days === 0 ? 'today' : `${counted(days, 'day')} ago`}`;
  return days > OLD_DAYS ? warn('audit-export', text, fix) : ok('audit-export', text);
}
