import { z } from 'zod';
import type { JsonSchema } from '../../kernel/json-schema.ts';
import { jsonSchemaOptions } from '../../values.ts';
import { eventCatalogue, type EventType } from './catalogue.ts';

/** What receivers of webhooks get of each type of event, for the documents. */
export const sentEvents = () =>
  [...eventCatalogue.values()].map((type) => ({
    name: type.name,
    description: type.description,
    data: dataOf(type),
  }));

/** The definition of the noun, whose relations may be absent, or a schema of its own. */
function dataOf({ noun, schema }: EventType): JsonSchema {
  if (noun !== undefined) return { $ref: `#/$defs/${noun}` };
  const rendered = z.toJSONSchema(schema, { ...jsonSchemaOptions, io: 'output' }) as JsonSchema;
  // What it refers to is defined for the answers too.
  const { $defs: _, $schema: __, ...data } = rendered;
  return data;
}
