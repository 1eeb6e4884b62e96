import type { FastifyReply, FastifyRequest } from 'fastify';
import { namesEtag } from '../kernel/output/etag.ts';

/** Sets the ETag of the response, and returns whether the client already has this version. */
export function isNotModified(etag: string, { headers }: FastifyRequest, reply: FastifyReply): boolean {
  reply.header('etag', etag);
  return namesEtag(headers['if-none-match'] ?? null, etag);
}
