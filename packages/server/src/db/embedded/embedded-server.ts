import type { PGlite } from '@electric-sql/pglite';
import { Duplex } from 'node:stream';

/**
 * The embedded database as the other end of a connection: the PostgreSQL driver writes protocol messages and reads the
 * responses. So both kinds of database share one driver, with its prepared statements, pool and types. Also has the
 * members of a socket that the driver calls.
 */
export class EmbeddedServer extends Duplex {
  readonly #database: PGlite;
  readonly #pause: () => Promise<void> | undefined;

  constructor(database: PGlite, pause: () => Promise<void> | undefined) {
    super();
    this.#database = database;
    this.#pause = pause;
  }

  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  /** `ref` and `unref` do nothing, because this stream does not keep the process running, unlike a socket. */
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  /** Does nothing: responses are pushed as soon as there are any. */
  override _read(): void {}

  override _write(message: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#answer(message).then(() => done(), done);
  }

  /** The messages of one or several statements arrive together, and are processed in one call. */
  override _writev(messages: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#answer(Buffer.concat(messages.map(({ chunk }) => chunk))).then(() => done(), done);
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  async #answer(messages: Buffer): Promise<void> {
    // The database runs on this thread and responds within the same tick, so a backlog of statements would delay all
    // requests.
    await this.#pause();
    const { buffer, byteOffset, length } = await this.#database.execProtocolRaw(messages);
    if (length > 0) this.push(Buffer.from(buffer, byteOffset, length));
  }
}
