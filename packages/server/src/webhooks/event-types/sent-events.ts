import { z } from 'zod';
import { jsonSchemaOptions } from '../../kernel/input/values.ts';
import type { JsonSchema } from '../../kernel/output/json-schema.ts';
import { eventCatalogue, type EventType } from './catalogue.ts';

/** Returns the event types as webhook receivers get them, for the API documentation. */
export const sentEvents = () =>
  [...eventCatalogue.values()].map((type) => ({
    name: type.name,
    description: type.description,
    data: dataOf(type),
  }));

/**
 * Returns a reference to the definition of the noun, in which relations are optional; for other data the schema itself.
 */
function dataOf({ noun, schema }: EventType): JsonSchema {
  if (noun !== undefined) return { $ref: `#/$defs/${noun}` };
  const rendered = z.toJSONSchema(schema, { ...jsonSchemaOptions, io: 'output' }) as JsonSchema;
  // Leaves out `$defs`, because the document defines the same schemas for its responses.
  const { $defs: _, $schema: __, ...data } = rendered;
  return data;
}
