import type { PGlite } from '@electric-sql/pglite';
import { Duplex } from 'node:stream';

/**
 * The embedded database as the other end of a connection: the driver of PostgreSQL writes the messages of the protocol,
 * and reads the answers. Both kinds of database therefore share one driver, with its prepared statements, its pool and
 * its types. The members of a socket that the driver calls are here, too.
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

  /** Neither keeps the process running, as a socket would. */
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  /** Answers are pushed as soon as there are any. */
  override _read(): void {}

  override _write(message: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#answer(message).then(() => done(), done);
  }

  /** The messages of a statement, or of several, arrive together and are answered at once. */
  override _writev(messages: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#answer(Buffer.concat(messages.map(({ chunk }) => chunk))).then(() => done(), done);
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  async #answer(messages: Buffer): Promise<void> {
    // The database runs on this thread and answers without a turn of the event loop, so a backlog of statements would hold up
    // every request.
    await this.#pause();
    const { buffer, byteOffset, length } = await this.#database.execProtocolRaw(messages);
    if (length > 0) this.push(Buffer.from(buffer, byteOffset, length));
  }
}
