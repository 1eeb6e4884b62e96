import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Options } from '../settings/options.ts';
import { usageFault } from '../fault.ts';
import type { Column, Row } from '../output/table.ts';
import type { Run } from '../run.ts';

export const secretOptions = {
  '--secret-only': 'print the secret and nothing else',
  '-o, --out <file>': 'write the secret to a new file that only you can read',
};

/** Where a secret is printed or written. It is opened before the secret exists, because a secret is shown only once. */
interface SecretTarget {
  /** Prints the row, and outputs its secret, which is in the member `secretMember`. */
  readonly deliver: (row: Row, secretMember: string, columns: readonly Column[]) => Promise<void>;
  /** Removes the output file, if there is one, because the change wasn't made. */
  readonly discard: () => Promise<void>;
}

/** Opens the output that the options choose. @throws Fault if the file exists: it is never overwritten */
export async function openSecretTarget(run: Run, options: Options): Promise<SecretTarget> {
  const { terminal } = run;
  const path = options.text('out');
  if (path === undefined) return onTerminal(terminal, options.flag('secretOnly'));
  const file = await openNewFile(run, path);
  return {
    async deliver(row, secretMember, columns) {
      await file.fill(`${String(row[secretMember])}\n`);
      terminal.record({ ...row, [secretMember]: null }, columns);
      terminal.note(`The secret is in ${path}.`);
    },
    discard: file.discard,
  };
}

/** Creates a file that only its owner can read. @throws Fault if the file exists */
export async function openNewFile(
  { cwd }: Pick<Run, 'cwd'>,
  name: string,
): Promise<{ readonly fill: (text: string) => Promise<void>; readonly discard: () => Promise<void> }> {
  const path = resolve(cwd, name);
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? usageFault(`${name} exists, and is not overwritten.`)
      : usageFault(`${name} cannot be written (${error.code ?? error.name}).`);
  });
  return {
    async fill(text) {
      await file.writeFile(text);
      await file.close();
    },
    async discard() {
      await file.close();
      const { rm } = await import('node:fs/promises');
      await rm(path);
    },
  };
}

function onTerminal(terminal: Run['terminal'], secretOnly: boolean): SecretTarget {
  return {
    async deliver(row, secretMember, columns) {
      if (secretOnly) return terminal.raw(String(row[secretMember]));
      terminal.record(row, [...columns, { name: 'secret', of: secretMember, kind: 'id' }]);
      terminal.note('The secret is shown once: store it now.');
    },
    discard: async () => undefined,
  };
}
