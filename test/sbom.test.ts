/** The bill of materials names everything that the service runs with. An audit without an answer does not count as clean. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { auditVerdict, licenceOf, type Bom } from '../scripts/production.ts';

const root = join(import.meta.dirname, '..');
const server = join(root, 'packages/server');
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Record<string, string>;
}
const manifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Resolved as Node does, from the package that imports it. */
function folderOf(name: string, from: string): string {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (at === dirname(at)) throw new Error(`${name} is not installed for ${from}`);
  }
}

function reached(folder: string, match = new Map<string, string>()): Map<string, string> {
  for (const name of Object.keys(manifest(folder).dependencies ?? {})) {
    if (name.startsWith('@doorward/')) continue;
    const at = folderOf(name, folder);
    const { version } = manifest(at);
    if (match.has(at)) continue;
    match.set(at, `${name}@${version}`);
    reached(at, match);
  }
  return match;
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
  const needed = [...new Set(reached(server).values())];
  expect(needed.length).toBeGreaterThan(100);
  expect(needed.filter((item) => !listed.has(item))).toEqual([]);
  expect(bom.components.filter((component) => licenceOf(component) === null)).toEqual([]);
  for (const name of ['vitest', 'oxlint', 'typescript']) expect(text).not.toContain(`"pkg:npm/${name}@`);
});

test('an audit distinguishes findings of production, none, and no response', () => {
  const production = new Set(['node_modules/fastify']);
  const report = (vulnerabilities: object) =>
    JSON.stringify({ vulnerabilities, metadata: { vulnerabilities: {} } });
  const match = (severity: string, node: string) => report({ some: { severity, nodes: [node] } });
  expect(auditVerdict(report({}), production)).toEqual({ kind: 'clean' });
  expect(auditVerdict(match('critical', 'node_modules/fastify'), production)).toEqual({
    kind: 'findings',
    names: ['some (critical)'],
  });
  expect(auditVerdict(match('moderate', 'node_modules/fastify'), production)).toEqual({ kind: 'clean' });
  expect(auditVerdict(match('critical', 'node_modules/vitest'), production)).toEqual({ kind: 'clean' });
  for (const answer of [
    '',
    '{}',
    '{"message":"405 Method Not Allowed"}',
    '{"error":{"code":"ENOAUDIT","summary":"405"}}',
  ])
    expect(auditVerdict(answer, production)).toMatchObject({ kind: 'unanswered' });
});
