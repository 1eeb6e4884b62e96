import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { auditVerdict, productionPackages } from './production.ts';

/**
 * Asks the registry for known vulnerabilities of the production dependencies. Exit code 1: there are high or critical ones.
 * A registry that does not support audits causes a warning and no failure.
 */
const root = join(import.meta.dirname, '..');
const { stdout } = spawnSync('npm', ['audit', '--json', '--fetch-retries=1', '--fetch-timeout=30000'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  timeout: 120_000,
});
const verdict = auditVerdict(stdout, new Set(productionPackages(root).keys()));
if (verdict.kind === 'clean') process.stdout.write('audit: no high or critical findings\n');
if (verdict.kind === 'unanswered')
  process.stderr.write(
    `WARNING: audit: the registry does not answer audits, nothing is known: ${verdict.why}\n`,
  );
if (verdict.kind === 'findings') {
  process.stderr.write(`audit: ${verdict.names.join(', ')}\n`);
  process.exitCode = 1;
}
