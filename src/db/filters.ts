import { eq, type SQL } from 'drizzle-orm';
import type { AnyEntity } from '../kernel/entity.ts';
import { column } from './columns.ts';

/** An equality on one column, or no filter when nothing was asked. */
export const equals = (entity: AnyEntity, name: string, value: unknown): SQL | undefined =>
  value === undefined ? undefined : eq(column(entity, name), value);

export const builtInFilter = (entity: AnyEntity, isSystem: boolean | undefined): SQL | undefined =>
  equals(entity, 'isSystem', isSystem);
