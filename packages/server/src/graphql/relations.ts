import DataLoader from 'dataloader';
import { getNamedType, isObjectType, type GraphQLObjectType, type GraphQLOutputType } from 'graphql';
import { countOf, emptyRelation, parentKey } from '../db/query/relations.ts';
import type { AnyEntity } from '../kernel/entity.ts';
import { projector } from '../kernel/output/projector.ts';
import type { RelatedAccess } from '../kernel/related.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Resolver } from './schema.ts';

/** The scope in which relations are read, and the caller's access to related rows. */
export interface RelationAccess {
  readonly scope: ResolvedScope;
  readonly related: RelatedAccess;
}

/**
 * Each row of a response has an origin: the scope of its root field. Related rows inherit it. Relations are read in
 * that scope and in batches. Rows of different root fields never share a batch.
 */
interface Origin extends RelationAccess {
  readonly loaders: Map<string, DataLoader<string, unknown>>;
}

/** Reads one relation of many parents. Returns a row or a list of rows for each parent key. */
export type Related = (
  access: RelationAccess,
  entity: AnyEntity,
  relation: string,
  keys: readonly string[],
) => Promise<Map<string, unknown>>;

const ORIGIN = Symbol('origin');
type Row = Record<string, unknown> & { [ORIGIN]?: Origin };
const MAX_BATCH = 1000;

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null;

interface Shape {
  readonly hasRelations: boolean;
  readonly members: readonly (readonly [name: string, type: GraphQLObjectType])[];
}
const shapes = new WeakMap<GraphQLObjectType, Shape>();

function shapeOf(type: GraphQLObjectType): Shape {
  const cached = shapes.get(type);
  if (cached) return cached;
  const fields = Object.values(type.getFields());
  const fieldsOfOwn = fields.filter((field) => field.extensions['relation'] === undefined);
  const shape = {
    hasRelations: fieldsOfOwn.length < fields.length,
    members: fieldsOfOwn.flatMap((field) => {
      const target = getNamedType(field.type);
      return isObjectType(target) ? [[field.name, target] as const] : [];
    }),
  };
  shapes.set(type, shape);
  return shape;
}

/** Sets the origin on each row of a response whose type has relations. */
export function attachOrigin(value: unknown, type: GraphQLOutputType, origin: Origin): void {
  const named = getNamedType(type);
  if (isObjectType(named)) attachToObjects(value, named, origin);
}

function attachToObjects(value: unknown, type: GraphQLObjectType, origin: Origin): void {
  if (Array.isArray(value)) for (const item of value) attachToObjects(item, type, origin);
  else if (isRow(value)) {
    const { hasRelations, members } = shapeOf(type);
    if (hasRelations) value[ORIGIN] = origin;
    for (const [name, target] of members) attachToObjects(value[name], target, origin);
  }
}

/** Counts related rows each time they occur in the response, although they are read only once. */
async function countRows(rows: Promise<unknown>, { related: { budget } }: Origin): Promise<unknown> {
  budget.takeRows(countOf(await rows));
  return rows;
}

/** Resolves a relation of a row. Without an origin there is no scope to read in, so the row has no related rows. */
export function relationResolver(entity: AnyEntity, relation: string, related: Related): Resolver {
  const name = `${entity.name}.${relation}`;

  function loaderOf(origin: Origin, type: GraphQLOutputType): DataLoader<string, unknown> {
    const { loaders } = origin;
    const existing = loaders.get(name);
    if (existing) return existing;
    const target = entity.relations[relation]?.to() as AnyEntity;
    const project = projector(target.schema);
    const loader = new DataLoader<string, unknown>(
      async (keys) => {
        const rowsByKey = await related(origin, entity, relation, keys);
        return keys.map((key) => {
          const rows = rowsByKey.get(key) ?? emptyRelation(entity, relation);
          const answer = Array.isArray(rows) ? rows.map(project) : project(rows);
          attachOrigin(answer, type, origin);
          return answer;
        });
      },
      { maxBatchSize: MAX_BATCH },
    );
    loaders.set(name, loader);
    return loader;
  }

  return (parent, _args, _context, info) => {
    const row = parent as Row;
    const { [ORIGIN]: origin, [relation]: answered } = row;
    if (answered !== undefined) {
      if (origin) attachOrigin(answered, info.returnType, origin);
      return answered;
    }
    const key = origin && parentKey(entity, relation, row);
    return key
      ? countRows(loaderOf(origin, info.returnType).load(key), origin)
      : emptyRelation(entity, relation);
  };
}
