import { readFile, rename, writeFile } from 'node:fs/promises';

/** Where the worker continues after a restart. */
export const readPosition = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

/** The file is either the old or the new one, also after a crash. */
export async function savePosition(file: string, position: string): Promise<void> {
  await writeFile(`${file}.next`, position);
  await rename(`${file}.next`, file);
}
