import { and, eq, isNull, or, type SQL } from 'drizzle-orm';
import type { AnyEntity } from '../../kernel/entity.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import { column } from './entity-columns.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';

/** SQL condition: the row is visible in the scope, because it belongs to it or is a built-in row of its level. */
export function visible(entity: AnyEntity, scope: ResolvedScope): SQL {
  const { alternatives, live } = visibleParts(entity, scope);
  return and(or(...alternatives), live) as SQL;
}

/**
 * The conditions of `visible`, separately, for lists: PostgreSQL can read each alternative in index order, but not
 * their OR.
 */
export function visibleParts(
  entity: AnyEntity,
  scope: ResolvedScope,
): { readonly alternatives: readonly SQL[]; readonly live: SQL | undefined } {
  const live = entity.columns['deletedAt'] ? isNull(entity.columns['deletedAt']) : undefined;
  const within = entity.within?.(scope);
  if (within) return { alternatives: [within], live };
  const tenant = column(entity, 'tenantId');
  const own = eq(tenant, scope.nodeId);
  if (!entity.columns['isSystem']) return { alternatives: [own], live };
  const level = entity.columns['level'];
  const builtIn = and(eq(tenant, SYSTEM_NODE), level ? eq(level, scope.level) : undefined) as SQL;
  return { alternatives: [own, builtIn], live };
}
