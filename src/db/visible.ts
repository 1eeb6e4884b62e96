import { and, eq, isNull, or, type SQL } from 'drizzle-orm';
import type { AnyEntity } from '../kernel/entity.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import { column } from './columns.ts';
import { SYSTEM_NODE } from './nodes.ts';

/** Which rows of a noun a scope sees: its own, and the built-in ones of its level. */
export function visible(entity: AnyEntity, scope: ResolvedScope): SQL {
  const live = entity.columns['deletedAt'] ? isNull(entity.columns['deletedAt']) : undefined;
  if (entity.within) return and(entity.within(scope), live) as SQL;
  const tenant = column(entity, 'tenantId');
  const own = eq(tenant, scope.nodeId);
  const level = entity.columns['level'];
  const builtIn = entity.columns['isSystem']
    ? and(eq(tenant, SYSTEM_NODE), level ? eq(level, scope.level) : undefined)
    : undefined;
  return and(builtIn ? or(own, builtIn) : own, live) as SQL;
}
