import type { FastifyReply, FastifyRequest } from 'fastify';

/** Names the version of the answer, and tells whether the caller has it (RFC 9110 §13.1.2: weak forms are equal). */
export function isKnown(etag: string, { headers }: FastifyRequest, reply: FastifyReply): boolean {
  reply.header('etag', etag);
  const known = (headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*');
}
