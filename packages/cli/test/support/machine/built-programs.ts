import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildService } from '../../../../../scripts/service.ts';
import type { Programs } from '../../../src/environment/programs.ts';

/** The programs of the built service, with the migrations. Reuses an up-to-date build. */
export async function builtPrograms(): Promise<Programs> {
  await buildService();
  const file = join(import.meta.dirname, '../../../../server/dist/programs.js');
  return ((await import(pathToFileURL(file).href)) as { readonly programs: Programs }).programs;
}
