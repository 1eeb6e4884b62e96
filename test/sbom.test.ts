/** The bill of materials names all that the service runs with, and an audit that nobody answered is not taken for a clean one. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { auditVerdict, licenceOf, type Bom } from '../scripts/production.ts';

const root = join(import.meta.dirname, '..');
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Record<string, string>;
}
const manifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** As Node finds it, from the package that asks. */
function folderOf(name: string, from: string): string {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (at === dirname(at)) throw new Error(`${name} is not installed for ${from}`);
  }
}

function reached(folder: string, found = new Map<string, string>()): Map<string, string> {
  for (const name of Object.keys(manifest(folder).dependencies ?? {})) {
    const at = folderOf(name, folder);
    const { version } = manifest(at);
    if (found.has(at)) continue;
    found.set(at, `${name}@${version}`);
    reached(at, found);
  }
  return found;
}

test('npm run sbom lists every package that production reaches, each with its licence, and none of development', () => {
  const text = execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/sbom.ts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const bom = JSON.parse(text) as Bom;
  expect(bom).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'doorward', type: 'application' } },
  });
  const listed = new Set(bom.components.map(({ name, version }) => `${name}@${version}`));
  const needed = [...new Set(reached(root).values())];
  expect(needed.length).toBeGreaterThan(100);
  expect(needed.filter((one) => !listed.has(one))).toEqual([]);
  expect(bom.components.filter((one) => licenceOf(one) === null)).toEqual([]);
  for (const name of ['vitest', 'eslint', 'typescript']) expect(text).not.toContain(`"pkg:npm/${name}@`);
});

test('an audit tells findings of production, none, and no answer apart', () => {
  const production = new Set(['node_modules/fastify']);
  const report = (vulnerabilities: object) =>
    JSON.stringify({ vulnerabilities, metadata: { vulnerabilities: {} } });
  const found = (severity: string, node: string) => report({ some: { severity, nodes: [node] } });
  expect(auditVerdict(report({}), production)).toEqual({ kind: 'clean' });
  expect(auditVerdict(found('critical', 'node_modules/fastify'), production)).toEqual({
    kind: 'findings',
    names: ['some (critical)'],
  });
  expect(auditVerdict(found('moderate', 'node_modules/fastify'), production)).toEqual({ kind: 'clean' });
  expect(auditVerdict(found('critical', 'node_modules/vitest'), production)).toEqual({ kind: 'clean' });
  for (const answer of [
    '',
    '{}',
    '{"message":"405 Method Not Allowed"}',
    '{"error":{"code":"ENOAUDIT","summary":"405"}}',
  ])
    expect(auditVerdict(answer, production)).toMatchObject({ kind: 'unanswered' });
});
