import { z } from 'zod';
import type { Entity, Fields } from '../../kernel/entity.ts';
import { deleted } from './examples.ts';

/**
 * An event type (events §3); each is declared once. `data` of an event has exactly the members of its schema: the
 * recorder projects it, so that no secret reaches an event by mistake. An event of an undeclared type cannot be
 * recorded.
 */
export interface EventType {
  readonly name: string;
  readonly description: string;
  /** Whether webhooks get it only if their subscription names it. The feed always contains it. */
  readonly optIn: boolean;
  /** The schema of `data`. */
  readonly schema: z.ZodType;
  /** The noun, if `data` has exactly its public fields. */
  readonly noun: string | undefined;
  /** An example of `data`. */
  readonly example: Readonly<Record<string, unknown>>;
}

const nouns = new WeakMap<z.ZodType, string>();

/** Returns the schema of a noun's public fields, without its relations. */
export function publicFields<F extends Fields>({ name: noun, fields }: Entity<F>): Entity<F>['schema'] {
  const shape = Object.entries(fields).flatMap(([name, { out }]) => (out ? [[name, out]] : []));
  const schema = z.object(Object.fromEntries(shape)) as Entity<F>['schema'];
  nouns.set(schema, noun);
  return schema;
}

/** The data of an example. Members that can be null may be left out. */
type PartialExample<T> = { [M in keyof T as null extends T[M] ? never : M]: T[M] } & {
  [M in keyof T as null extends T[M] ? M : never]?: T[M];
};

const examplesOf = (field: z.ZodType): readonly unknown[] =>
  (field.meta()?.examples as readonly unknown[] | undefined) ?? [];

/** Adds the members that the example leaves out, each with the first example of its field, or null. */
function completed(schema: z.ZodType, given: object): Readonly<Record<string, unknown>> {
  const fields = schema instanceof z.ZodObject ? (schema.shape as Readonly<Record<string, z.ZodType>>) : {};
  const absent = Object.entries(fields).filter(([member]) => !(member in given));
  const firsts = absent.map(([member, field]) => [member, examplesOf(field)[0] ?? null]);
  return { ...given, ...(Object.fromEntries(firsts) as Record<string, unknown>) };
}

export const eventType = <S extends z.ZodType<Record<string, unknown>>>(
  name: string,
  description: string,
  schema: S,
  exampleData: PartialExample<z.output<S>>,
): EventType => ({
  name,
  description,
  schema,
  noun: nouns.get(schema),
  example: completed(schema, exampleData),
  optIn: false,
});

export const optIn = (type: EventType): EventType => ({ ...type, optIn: true });

export function createUpdateDelete<S extends z.ZodType<Record<string, unknown>>>(
  noun: string,
  subject: string,
  schema: S,
  exampleData: PartialExample<z.output<S>>,
): EventType[] {
  return [
    eventType(`${noun}.created`, `${subject} was created.`, schema, exampleData),
    eventType(`${noun}.updated`, `${subject} was changed; \`changes\` shows how.`, schema, exampleData),
    eventType(`${noun}.deleted`, `${subject} was deleted.`, schema, deleted(exampleData)),
  ];
}
