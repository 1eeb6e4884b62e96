import { once } from 'node:events';
import { errorJson, errorLines } from './error-form.ts';
import { record, separated, table, type Column, type Row } from './table.ts';
import { visible, visibleJson } from './text.ts';
import type { ShownFault } from '../fault.ts';
import type { Io, Output } from '../environment/io.ts';

interface OutputFlags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: 'auto' | 'always' | 'never';
}

type Streams = Pick<Io, 'stdin' | 'stdout' | 'stderr' | 'env'>;

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Prints everything that a run outputs: results to stdout, everything else to stderr. */
export class Terminal {
  readonly isJson: boolean;
  readonly #isQuiet: boolean;
  readonly #io: Streams;
  readonly #color: OutputFlags['color'];
  #spinner: NodeJS.Timeout | null = null;
  #spins = false;

  constructor({ json, quiet, color }: OutputFlags, io: Streams) {
    this.isJson = json;
    this.#isQuiet = quiet;
    this.#io = io;
    this.#color = color;
  }

  /** Whether a person can be asked: stdin and stderr are terminals, and this isn't CI. */
  get canAsk(): boolean {
    const { stdin, stderr, env } = this.#io;
    return Boolean(stdin.isTTY && stderr.isTTY && !env['CI']);
  }

  /** Prints a result as text, or as JSON with `--json`. */
  answer(text: string, data: unknown): void {
    if (this.isJson) this.json(data);
    else this.#out(text);
  }

  json(data: unknown): void {
    this.#out(visibleJson(data, this.#io.stdout.isTTY ? 2 : undefined));
  }

  /** Prints one row. */
  record(row: Row, columns: readonly Column[]): void {
    if (this.isJson) this.json(row);
    else if (this.#io.stdout.isTTY) record(row, columns, Date.now()).forEach((line) => this.#out(line));
    else columns.forEach((column) => this.#out(`${column.name}\t${separated([column], row)}`));
  }

  /** Prints a list, or one page of it. */
  list(rows: readonly Row[], columns: readonly Column[], nextCursor: string | null): void {
    if (this.isJson) return this.json({ items: rows, nextCursor });
    if (!this.#io.stdout.isTTY) return rows.forEach((row) => this.#out(separated(columns, row)));
    if (rows.length === 0) return this.note('Nothing found.');
    for (const line of table(columns, rows, this.#io.stdout.columns ?? Infinity, Date.now())) this.#out(line);
    if (nextCursor !== null) this.note(`More follow: --all, or --cursor ${visible(nextCursor)}`);
  }

  /** Prints one item of an endless stream. */
  item(row: Row, columns: readonly Column[]): void {
    if (this.isJson) return this.#out(visibleJson(row));
    this.#out(columns.map((column) => separated([column], row)).join(this.#io.stdout.isTTY ? '  ' : '\t'));
  }

  /** Prints text to stdout even with `--json`, and ends the line: a document, a script or a secret. */
  raw(text: string): void {
    this.#out(text);
  }

  /** Writes a stream of any size to stdout, with backpressure. */
  async bytes(chunks: Iterable<string> | AsyncIterable<string | Uint8Array>): Promise<void> {
    this.stopSpinner();
    const { stdout } = this.#io;
    for await (const chunk of chunks) if (!stdout.write(chunk)) await once(stdout, 'drain');
  }

  /** Prints a note for people to stderr, unless `--quiet` is given. */
  note(text: string): void {
    if (!this.#isQuiet) this.#err(text);
  }

  /** Prints to stderr what a person must see, even with `--quiet`. */
  say(text: string): void {
    this.#err(text);
  }

  fault(fault: ShownFault): void {
    if (this.isJson) this.#err(errorJson(fault));
    else
      errorLines(fault, (text) => this.paint(text, 31, this.#io.stderr)).forEach((line) => this.#err(line));
  }

  /** Colors a text if the output allows it. The text must be clear without the color. */
  paint(text: string, color: number, stream: Output = this.#io.stdout): string {
    const { NO_COLOR: none, FORCE_COLOR: force, CI: ci, TERM: term } = this.#io.env;
    const auto = force ? force !== '0' : !none && !ci && term !== 'dumb' && stream.isTTY;
    const isOn = this.#color === 'always' || (this.#color === 'auto' && auto);
    return isOn ? `\u001b[${color}m${text}\u001b[0m` : text;
  }

  /** Shows a spinner if the work takes longer than 0.4 seconds. */
  async waiting<T>(work: Promise<T>): Promise<T> {
    this.#startSpinner();
    try {
      return await work;
    } finally {
      this.stopSpinner();
    }
  }

  stopSpinner(): void {
    if (this.#spinner) clearInterval(this.#spinner);
    this.#spinner = null;
    if (this.#spins) this.#io.stderr.write('\r\u001b[K');
    this.#spins = false;
  }

  #startSpinner(): void {
    const { stdout, stderr, env } = this.#io;
    const isShown = stderr.isTTY && stdout.isTTY && !this.#isQuiet && !env['CI'];
    if (!isShown || this.isJson || this.#spinner) return;
    let tick = 0;
    this.#spinner = setInterval(() => {
      if (++tick < 4) return;
      this.#spins = true;
      stderr.write(`\r${frames[tick % frames.length]}`);
    }, 100);
    this.#spinner.unref();
  }

  #out(text: string): void {
    this.stopSpinner();
    this.#io.stdout.write(`${text}\n`);
  }

  #err(text: string): void {
    this.stopSpinner();
    this.#io.stderr.write(`${text}\n`);
  }
}
