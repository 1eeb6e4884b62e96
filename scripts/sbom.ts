import { join } from 'node:path';
import { licenceOf, productionBom } from './production.ts';

/** The software bill of materials of what the service runs with to standard output, its licences to standard error. */
const bom = productionBom(join(import.meta.dirname, '..'));
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

const licences = new Map<string, number>();
for (const one of bom.components) {
  const licence = licenceOf(one) ?? 'none';
  licences.set(licence, (licences.get(licence) ?? 0) + 1);
}
const told = [...licences].sort(([, a], [, b]) => b - a).map(([licence, count]) => `${licence}: ${count}`);
process.stderr.write(`${bom.components.length} packages; ${told.join(', ')}\n`);
