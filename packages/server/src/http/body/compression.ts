import { LRUCache } from 'lru-cache';
import { buffer } from 'node:stream/consumers';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isNotModified } from '../etag.ts';

/*
 * Compresses content that is the same for all clients: the API document, the files of the explorers, styles and
 * scripts. Each file is compressed once and cached. API responses and pages with form tokens are never compressed: an
 * attacker who can insert text and observe the length could find secrets in them (BREACH).
 */

type Encoding = 'br' | 'gzip';

/** Shorter texts fit into one or two packets anyway. */
const MIN_BYTES = 1024;
/** The compressed files of both explorers take a tenth of this. */
const CACHE_BYTES = 32 * 1024 * 1024;
const BROTLI_QUALITY = 9;

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
};

/** The encoding that the client prefers (RFC 9110 §12.5.3); brotli if it accepts both equally, because it is smaller. */
export function pickEncoding(accepted: string | undefined): Encoding | undefined {
  if (!accepted) return undefined;
  const qualities = new Map<string, number>();
  for (const range of accepted.toLowerCase().split(',', 20)) {
    const [coding = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    qualities.set(coding, quality === undefined ? 1 : Number(quality));
  }
  const qualityOf = (coding: Encoding) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  const [br, gz] = [qualityOf('br'), qualityOf('gzip')];
  if (!(br > 0) && !(gz > 0)) return undefined;
  return gz > br ? 'gzip' : 'br';
}

const cache = new LRUCache<string, Buffer>({
  maxSize: CACHE_BYTES,
  sizeCalculation: (bytes, key) => bytes.length + key.length,
});

async function compressAndCache(key: string, encoding: Encoding, bytes: Buffer): Promise<Buffer> {
  const result = await compressors[encoding](bytes);
  cache.set(key, result);
  return result;
}

const hashes = new LRUCache<string, string>({ max: 200 });

function hashOf(text: string): string {
  const hash = hashes.get(text) ?? createHash('sha256').update(text).digest('base64url');
  hashes.set(text, hash);
  return hash;
}

/** Sends a text that may change with the version of the service; responds 304 if the client already has it. */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  text: string,
): FastifyReply | Promise<FastifyReply> {
  const isWorthwhile = text.length >= MIN_BYTES;
  const encoding = isWorthwhile ? pickEncoding(request.headers['accept-encoding']) : undefined;
  const hash = hashOf(text);
  // Each encoding is a different representation and needs its own ETag (RFC 9110 §8.8.3).
  const etag = encoding ? `"${hash}-${encoding}"` : `"${hash}"`;
  if (isWorthwhile) reply.header('vary', 'Accept-Encoding, Origin');
  if (isNotModified(etag, request, reply)) return reply.code(304).send();
  if (!encoding) return reply.type(type).send(text);
  reply.type(type).header('content-encoding', encoding);
  const cached = cache.get(etag);
  if (cached) return reply.send(cached);
  return compressAndCache(etag, encoding, Buffer.from(text)).then((bytes) => reply.send(bytes));
}

const textual = /^(?:text\/|application\/(?:javascript|json|manifest\+json|wasm)|image\/svg\+xml|font\/ttf)/;

/**
 * Compresses the files that the routes of this scope serve from disk. The first request for each file waits for the
 * compression.
 */
export function compressFiles(scope: FastifyInstance): void {
  const wanted = ({ method, headers }: FastifyRequest): Encoding | undefined =>
    method === 'GET' && headers.range === undefined && headers['if-none-match'] === undefined
      ? pickEncoding(headers['accept-encoding'])
      : undefined;
  scope.addHook('onSend', async (request, reply, payload) => {
    const type = reply.getHeader('content-type');
    if (typeof type !== 'string' || !textual.test(type)) return payload;
    reply.header('vary', 'Accept-Encoding, Origin');
    const encoding = wanted(request);
    const length = Number(reply.getHeader('content-length'));
    const isFile = reply.statusCode === 200 && payload instanceof Readable;
    if (!encoding || !isFile || length < MIN_BYTES) return payload;
    const key = `${request.url.split('?')[0]} ${encoding} ${String(reply.getHeader('etag'))}`;
    const cached = cache.get(key);
    // The unread stream must release its file.
    if (cached) payload.destroy();
    const body = cached ?? (await compressAndCache(key, encoding, await buffer(payload)));
    reply.headers({ 'content-encoding': encoding, 'content-length': body.length });
    return body;
  });
}
