import { z } from 'zod';
import { jsonSchemaOptions } from '../../../kernel/input/values.ts';
import { Document } from './document.ts';

/** The JSON Schema of a document as a file. The command line reads `include` and joins the files. */
export function policyFileSchema(): Record<string, unknown> {
  const file = Document.safeExtend({
    include: z
      .array(z.string())
      .max(100)
      .optional()
      .describe('Files with further parts; * stands for names.'),
  });
  return {
    ...z.toJSONSchema(file, { ...jsonSchemaOptions, io: 'input' }),
    title: 'Policy of a Doorward project',
  };
}
