import { Transform, type TransformCallback } from 'node:stream';
import { fail } from '../../errors.ts';

/** Passes a body through, and fails with PAYLOAD_TOO_LARGE if it exceeds the limit. */
export class CappedBody extends Transform {
  /** Bytes received so far; Fastify compares them with `Content-Length`. */
  receivedEncodedLength = 0;
  readonly #maxBytes: number;

  constructor(body: NodeJS.ReadableStream, maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
    body.on('error', (error: Error) => this.destroy(error));
    body.pipe(this);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.receivedEncodedLength += chunk.length;
    if (this.receivedEncodedLength > this.#maxBytes) done(fail('PAYLOAD_TOO_LARGE'));
    else done(null, chunk);
  }
}
