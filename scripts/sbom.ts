import { join } from 'node:path';
import { licenceOf, productionBom } from './production.ts';

/** Writes the software bill of materials of the service to standard output, and its licences to standard error. */
const bom = productionBom(join(import.meta.dirname, '..'));
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

const licences = new Map<string, number>();
for (const component of bom.components) {
  const licence = licenceOf(component) ?? 'none';
  licences.set(licence, (licences.get(licence) ?? 0) + 1);
}
const reported = [...licences]
  .sort(([, a], [, b]) => b - a)
  .map(([licence, count]) => `${licence}: ${count}`);
process.stderr.write(`${bom.components.length} packages; ${reported.join(', ')}\n`);
