import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail } from '../../errors.ts';

/**
 * Lets the routes of this scope also accept `multipart/form-data`, which pages without scripts use to send files. Its
 * fields become members like those of any form; a file becomes base64.
 */
export function acceptFiles(scope: FastifyInstance, limitBytes: number): void {
  scope.addContentTypeParser<Buffer>(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: limitBytes },
    async (request: FastifyRequest, body: Buffer) => {
      const type = request.headers['content-type'] ?? '';
      const sent = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
        .formData()
        .catch(() => fail('VALIDATION_ERROR', { details: [{ path: '', code: 'format' }] }));
      if (sent instanceof Error) throw sent;
      const fields: Record<string, string> = {};
      for (const [name, value] of sent) {
        if (name in fields) throw fail('VALIDATION_ERROR', { details: [{ path: name, code: 'duplicate' }] });
        const text =
          typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('base64');
        Object.defineProperty(fields, name, { value: text, enumerable: true });
      }
      return fields;
    },
  );
}
