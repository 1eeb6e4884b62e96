import { Transform, type TransformCallback } from 'node:stream';
import { fail } from '../errors.ts';

/** A body that is passed on as it arrives, and fails with PAYLOAD_TOO_LARGE once it exceeds its limit. */
export class CappedBody extends Transform {
  /** Bytes received so far; Fastify compares them with `Content-Length`. */
  receivedEncodedLength = 0;
  readonly #most: number;

  constructor(body: NodeJS.ReadableStream, mostBytes: number) {
    super();
    this.#most = mostBytes;
    body.on('error', (error: Error) => this.destroy(error));
    body.pipe(this);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.receivedEncodedLength += chunk.length;
    if (this.receivedEncodedLength > this.#most) done(fail('PAYLOAD_TOO_LARGE'));
    else done(null, chunk);
  }
}
