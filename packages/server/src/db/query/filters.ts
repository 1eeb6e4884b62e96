import { eq, type SQL } from 'drizzle-orm';
import type { AnyEntity } from '../../kernel/entity.ts';
import { column } from './entity-columns.ts';

/** An equality filter on one column; none if the value is undefined. */
export const equals = (entity: AnyEntity, name: string, value: unknown): SQL | undefined =>
  value === undefined ? undefined : eq(column(entity, name), value);

export const builtInFilter = (entity: AnyEntity, isSystem: boolean | undefined): SQL | undefined =>
  equals(entity, 'isSystem', isSystem);
