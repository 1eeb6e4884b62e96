import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import type { PublishedPackage } from '../../../scripts/package-manifest.ts';
import { writeReleaseFiles } from '../../../scripts/release-files.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A project with every package and every framework that they support. */
    project: string;
    /** A project with the packages alone. */
    bareProject: string;
    tarballs: Readonly<Record<PublishedPackage, string>>;
    /** The package `doorward`: the service. */
    serviceTarball: string;
  }
}

export const root = join(import.meta.dirname, '../../..');
const execute = promisify(execFile);

/** Libraries that are optional for the packages, or that their consumers have anyway. */
const libraries = [
  '@nestjs/common',
  '@nestjs/core',
  '@opentelemetry/api',
  '@types/express',
  '@types/node',
  '@types/react',
  'express',
  'hono',
  'react',
  'react-dom',
  'reflect-metadata',
  'rxjs',
];

/** Builds and packs the packages, and installs the tarballs in two empty projects. */
export default async function setup(vitest: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'doorward-packages-'));
  await run(process.execPath, ['scripts/run.mjs', 'scripts/packages.ts'], root);
  const release = await writeReleaseFiles(root, directory);
  const { doorward, ...tarballs } = release.tarballs;
  vitest.provide('tarballs', tarballs);
  vitest.provide('serviceTarball', doorward);
  const { devDependencies } = (await import('../../../package.json', { with: { type: 'json' } })).default;
  const versions = Object.entries(devDependencies).filter(([name]) => libraries.includes(name));
  // npm takes the React that a peer dependency names; the other peers are optional.
  vitest.provide('bareProject', await install(join(directory, 'bare'), Object.values(tarballs)));
  vitest.provide(
    'project',
    await install(join(directory, 'project'), [
      ...Object.values(tarballs),
      'fastify@5',
      ...versions.map(([name, version]) => `${name}@${version}`),
    ]),
  );
  return () => rm(directory, { recursive: true, force: true });
}

/** A new project with these packages, from tarballs or the registry. No script of a package runs. */
export async function install(directory: string, packages: readonly string[]): Promise<string> {
  await mkdir(directory);
  const manifest = { name: 'consumer', version: '1.0.0', private: true, type: 'module' };
  await writeFile(join(directory, 'package.json'), JSON.stringify(manifest));
  await run(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...packages],
    directory,
  );
  return directory;
}

/** What the command prints. A command that fails fails the test with its output. */
export async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  // Settings of the npm that runs the tests are not for the npm of the project.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  try {
    const { stdout } = await execute(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}
