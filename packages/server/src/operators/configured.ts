import { sql } from 'drizzle-orm';
import { INSTALLATION_OPERATOR } from '../access/installation-roles.ts';
import { operatorRows, type OperatorRules } from '../access/operators.ts';
import { rowsOf } from '../db/statements/rows.ts';
import type { ActAsSystem } from '../events/system-act.ts';
import type { Services } from '../services.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { installationNode, lockOperators } from '../people/operators.ts';
import { appointPrepared } from './prepared.ts';

/**
 * Records the configured operators and appoints the prepared ones. The service calls it at the start and every minute.
 * Never rejects.
 */
export async function reconcileOperators(
  services: Pick<Services, 'config' | 'clock'>,
  pool: Executor,
  actAsSystem: ActAsSystem,
  log: (error: unknown, message: string) => void,
): Promise<void> {
  await recordConfiguredOperators(services, pool, actAsSystem, log);
  await appointPrepared(services, pool, actAsSystem).catch((error: unknown) =>
    log(error, 'the operators that the command line has prepared could not be appointed'),
  );
}

/**
 * Records which users became operators, or ceased to be operators, by `OPERATORS`: no operation is called for that, but
 * the audit log of the installation must show it. Their rights do not depend on it (`operatorRows`). Never rejects.
 */
const recordConfiguredOperators = (
  { config }: Pick<Services, 'config'>,
  pool: Executor,
  actAsSystem: ActAsSystem,
  log: (error: unknown, message: string) => void,
): Promise<void> =>
  recordChanges(pool, config.operators, actAsSystem).catch((error: unknown) =>
    log(error, 'the operators of the configuration could not be recorded'),
  );

const STORED = 'configuredOperators';

async function recordChanges(pool: Executor, rules: OperatorRules, actAsSystem: ActAsSystem): Promise<void> {
  if (!hasChanged(await compare(pool, rules))) return;
  await actAsSystem('configureOperators', async (act) => {
    const { tx } = act;
    await lockOperators(tx);
    const difference = await compare(tx, rules);
    const { current, added, removed } = difference;
    const recordAbout = (id: string, event: 'operator.added' | 'operator.removed'): void => {
      act.invalidate(`user:${id}`);
      act.record({
        node: installationNode,
        event,
        data: { id, roleId: INSTALLATION_OPERATOR, source: 'configuration', reason: null },
        target: { type: 'Operator', id },
        audited: true,
      });
    };
    for (const id of added) recordAbout(id, 'operator.added');
    for (const id of removed) recordAbout(id, 'operator.removed');
    if (!hasChanged(difference)) return;
    await tx.execute(sql`insert into installation (name, value) values (${STORED}, ${JSON.stringify(current)})
      on conflict (name) do update set value = excluded.value`);
  });
}

interface Difference {
  readonly current: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const hasChanged = ({ added, removed }: Difference): boolean => added.length + removed.length > 0;

async function compare(db: Executor, rules: OperatorRules): Promise<Difference> {
  const rows = await rowsOf<{ id: string }>(
    db,
    sql`select distinct r.user_id as id from ${operatorRows(rules)} r where r.source = 'configuration' order by 1`,
  );
  const current = rows.map(({ id }) => id);
  const [stored] = await rowsOf<{ value: string }>(
    db,
    sql`select value from installation where name = ${STORED}`,
  );
  const before = JSON.parse(stored?.value ?? '[]') as string[];
  return {
    current,
    added: current.filter((id) => !before.includes(id)),
    removed: before.filter((id) => !current.includes(id)),
  };
}
