import { open, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';

/** The last complete entry in the file of an interrupted export. */
export interface LastEntry {
  readonly sequence: number;
  readonly occurredAt: string;
  readonly hash: string;
  /** The scope of the log, as `<tenant>:<id>`. */
  readonly scope: string;
}

const STEP = 64 * 1024;

interface OpenedExport {
  readonly file: FileHandle;
  /** Null for an empty file. */
  readonly last: LastEntry | null;
  /** Removes an incomplete last line, so that the next entry begins a line. */
  readonly cutIncompleteLine: () => Promise<void>;
}

/**
 * Opens the file of an export to append to it, and changes nothing yet.
 * @throws Fault if the file is not empty, and does not end with an entry
 */
export async function openExport({ cwd }: Pick<Run, 'cwd'>, path: string): Promise<OpenedExport> {
  const file = await open(resolve(cwd, path), 'a+', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw usageFault(`${path} cannot be written (${error.code ?? error.name}).`);
  });
  try {
    const { size } = await file.stat();
    const end = await endOfLine(file, size);
    const cutIncompleteLine = async () => {
      if (end < size) await file.truncate(end);
    };
    if (size === 0) return { file, last: null, cutIncompleteLine };
    if (end === 0) throw notAnExport(path);
    const start = await endOfLine(file, end - 1);
    const text = Buffer.alloc(end - 1 - start);
    await file.read(text, 0, text.length, start);
    return { file, last: entryOf(path, text.toString()), cutIncompleteLine };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Returns the position after the last line feed before `before`; 0 if there is none. */
async function endOfLine(file: FileHandle, before: number): Promise<number> {
  for (let end = before; end > 0; end -= STEP) {
    const start = Math.max(0, end - STEP);
    const piece = Buffer.alloc(end - start);
    await file.read(piece, 0, piece.length, start);
    const at = piece.lastIndexOf(10);
    if (at >= 0) return start + at + 1;
  }
  return 0;
}

function entryOf(path: string, line: string): LastEntry {
  try {
    const { sequence, occurredAt, hash, scope } = JSON.parse(line) as LastEntry & {
      readonly scope: { readonly tenant: string; readonly id: string };
    };
    if (Number.isSafeInteger(sequence) && typeof hash === 'string' && !Number.isNaN(Date.parse(occurredAt)))
      return { sequence, occurredAt, hash, scope: `${scope.tenant}:${scope.id}` };
  } catch {
    // A line that is not JSON gets the same error as JSON that is not an entry.
  }
  throw notAnExport(path);
}

const notAnExport = (path: string) =>
  usageFault(
    `${path} exists, and does not end with an entry of an export.`,
    'give another file, or delete it',
  );
