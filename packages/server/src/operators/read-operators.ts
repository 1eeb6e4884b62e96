import { sql } from 'drizzle-orm';
import type { z } from 'zod';
import { installationRoles } from '../access/installation-roles.ts';
import { operatorRows, type OperatorRules } from '../access/operators.ts';
import { rowsOf } from '../db/statements/rows.ts';
import type { Operator, OperatorSource } from '../schema/operators/operator.ts';
import type { Executor } from '../kernel/scoped-db.ts';

export const operatorRoleOf = (roleId: string) => ({
  id: roleId,
  name: installationRoles.find(({ id }) => id === roleId)?.name ?? '',
});

/** All operators, in the order in which they were added. */
export async function readOperators(
  tx: Executor,
  rules: OperatorRules,
): Promise<z.output<typeof Operator>[]> {
  const rows = await rowsOf<{
    userId: string;
    name: string;
    email: string | null;
    roleId: string;
    source: z.output<typeof OperatorSource>;
    createdBy: string | null;
    createdAt: string | Date;
  }>(
    tx,
    sql`select u.id as "userId", u.name, u.email, r.role_id as "roleId", r.source,
        r.created_by as "createdBy", r.created_at as "createdAt"
      from ${operatorRows(rules)} r join users u on u.id = r.user_id
      order by r.created_at, u.id, r.source`,
  );
  return rows.map(({ roleId, createdAt, ...row }) => ({
    ...row,
    role: operatorRoleOf(roleId),
    createdAt: new Date(createdAt),
  }));
}
