import DataLoader from 'dataloader';
import { getNamedType, isObjectType, type GraphQLObjectType, type GraphQLOutputType } from 'graphql';
import { countOf, none, parentKey } from '../db/relations.ts';
import type { AnyEntity } from '../kernel/entity.ts';
import { projector } from '../kernel/project.ts';
import type { RelatedAccess } from '../kernel/related.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Resolver } from './graphql-schema.ts';

/** Where relations are read, and what of them the caller may be shown. */
export interface Reach {
  readonly scope: ResolvedScope;
  readonly related: RelatedAccess;
}

/**
 * Relations are read in the scope that their root field resolved to, and in batches: every row of an answer
 * carries its origin, and rows read from there inherit it. Rows of two root fields never share a batch.
 */
export interface Origin extends Reach {
  readonly loaders: Map<string, DataLoader<string, unknown>>;
}

/** Rows of one relation for many parents: found rows by parent key, one or a list. */
export type Related = (
  reach: Reach,
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
  const known = shapes.get(type);
  if (known) return known;
  const fields = Object.values(type.getFields());
  const plain = fields.filter((field) => field.extensions['relation'] === undefined);
  const shape = {
    hasRelations: plain.length < fields.length,
    members: plain.flatMap((field) => {
      const target = getNamedType(field.type);
      return isObjectType(target) ? [[field.name, target] as const] : [];
    }),
  };
  shapes.set(type, shape);
  return shape;
}

/** Writes its origin on every row of an answer that has relations. */
export function trace(value: unknown, type: GraphQLOutputType, origin: Origin): void {
  const named = getNamedType(type);
  if (isObjectType(named)) traceObjects(value, named, origin);
}

function traceObjects(value: unknown, type: GraphQLObjectType, origin: Origin): void {
  if (Array.isArray(value)) for (const item of value) traceObjects(item, type, origin);
  else if (isRow(value)) {
    const { hasRelations, members } = shapeOf(type);
    if (hasRelations) value[ORIGIN] = origin;
    for (const [name, target] of members) traceObjects(value[name], target, origin);
  }
}

/** The rows are read once for all places that answer them, and counted at each. */
async function counted(rows: Promise<unknown>, { related: { budget } }: Origin): Promise<unknown> {
  budget.takeRows(countOf(await rows));
  return rows;
}

/** Reads a relation of a row; without a scope there is nothing that the caller may be shown. */
export function relationResolver(entity: AnyEntity, relation: string, related: Related): Resolver {
  const name = `${entity.name}.${relation}`;

  function loaderOf(origin: Origin, type: GraphQLOutputType): DataLoader<string, unknown> {
    const { loaders } = origin;
    const known = loaders.get(name);
    if (known) return known;
    const target = entity.relations[relation]?.to() as AnyEntity;
    const project = projector(target.schema);
    const loader = new DataLoader<string, unknown>(
      async (keys) => {
        const found = await related(origin, entity, relation, keys);
        return keys.map((key) => {
          const rows = found.get(key) ?? none(entity, relation);
          const answer = Array.isArray(rows) ? rows.map(project) : project(rows);
          trace(answer, type, origin);
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
    const { [ORIGIN]: origin, [relation]: given } = row;
    if (given !== undefined) {
      if (origin) trace(given, info.returnType, origin);
      return given;
    }
    const key = origin && parentKey(entity, relation, row);
    return key ? counted(loaderOf(origin, info.returnType).load(key), origin) : none(entity, relation);
  };
}
