import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildService } from '../../../../../scripts/service.ts';
import type { Programs } from '../../../src/installation/programs.ts';

/** The programs of the service as they are installed, with the migrations. A build that is current is reused. */
export async function builtPrograms(): Promise<Programs> {
  await buildService();
  const file = join(import.meta.dirname, '../../../../server/dist/programs.js');
  return ((await import(pathToFileURL(file).href)) as { readonly programs: Programs }).programs;
}
