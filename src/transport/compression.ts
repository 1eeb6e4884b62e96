import { LRUCache } from 'lru-cache';
import { buffer } from 'node:stream/consumers';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Compresses what is the same for everybody: the API document, the files of its explorers, and styles and scripts of
 * pages. Each is compressed once and kept. Answers of the API and pages with form tokens are never compressed: their
 * length would let an attacker who can add text, and observe the length, find out secrets beside it (BREACH).
 */
type Encoding = 'br' | 'gzip';

/** Shorter ones fit into a packet or two anyway. */
const WORTHWHILE_BYTES = 1024;
/** The files of both explorers, compressed, take a tenth of this. */
const KEPT_BYTES = 32 * 1024 * 1024;
const BROTLI_QUALITY = 9;

const compressed = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
};

/** The encoding that the client accepts; of two, the one with the smaller result (RFC 9110 §12.5.3). */
export function pickEncoding(accepted: string | undefined): Encoding | undefined {
  if (!accepted) return undefined;
  const qualities = new Map<string, number>();
  for (const range of accepted.toLowerCase().split(',', 20)) {
    const [coding = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((one) => one.startsWith('q='))?.slice(2);
    qualities.set(coding, quality === undefined ? 1 : Number(quality));
  }
  const qualityOf = (coding: Encoding) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  const [br, gz] = [qualityOf('br'), qualityOf('gzip')];
  if (!(br > 0) && !(gz > 0)) return undefined;
  return gz > br ? 'gzip' : 'br';
}

const kept = new LRUCache<string, Buffer>({
  maxSize: KEPT_BYTES,
  sizeCalculation: (bytes, key) => bytes.length + key.length,
});

async function keep(key: string, encoding: Encoding, bytes: Buffer): Promise<Buffer> {
  const small = await compressed[encoding](bytes);
  kept.set(key, small);
  return small;
}

const hashes = new LRUCache<string, string>({ max: 200 });

function hashOf(text: string): string {
  const known = hashes.get(text) ?? createHash('sha256').update(text).digest('base64url');
  hashes.set(text, known);
  return known;
}

/** Answers a text that may change with the next version of the service: 304 to a browser that has it already. */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  text: string,
): FastifyReply | Promise<FastifyReply> {
  const isWorthwhile = text.length >= WORTHWHILE_BYTES;
  const encoding = isWorthwhile ? pickEncoding(request.headers['accept-encoding']) : undefined;
  const hash = hashOf(text);
  // Another coding is another representation, and needs a name of its own (RFC 9110 §8.8.3).
  const etag = encoding ? `"${hash}-${encoding}"` : `"${hash}"`;
  reply.header('etag', etag);
  if (isWorthwhile) reply.header('vary', 'Accept-Encoding, Origin');
  const known = (request.headers['if-none-match'] ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return reply.code(304).send();
  if (!encoding) return reply.type(type).send(text);
  reply.type(type).header('content-encoding', encoding);
  const small = kept.get(etag);
  if (small) return reply.send(small);
  return keep(etag, encoding, Buffer.from(text)).then((bytes) => reply.send(bytes));
}

const textual = /^(?:text\/|application\/(?:javascript|json|manifest\+json|wasm)|image\/svg\+xml|font\/ttf)/;

/** Files that the routes of this scope read from disk. The first reader of each waits for its compression. */
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
    if (!encoding || !isFile || length < WORTHWHILE_BYTES) return payload;
    const key = `${request.url.split('?')[0]} ${encoding} ${String(reply.getHeader('etag'))}`;
    const known = kept.get(key);
    // The stream was opened, but is not read.
    if (known) payload.destroy();
    const small = known ?? (await keep(key, encoding, await buffer(payload)));
    reply.headers({ 'content-encoding': encoding, 'content-length': small.length });
    return small;
  });
}
