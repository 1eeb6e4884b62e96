import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { buildService, startService, type Service } from '../../../../scripts/service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The data directory of a service with the demo data, as a tar archive. */
    demoArchive: string;
  }
}

const tar = (options: readonly string[]) => promisify(execFile)('tar', options);

/** Builds the service and the console, and creates the demo data. Each test file starts a service on a copy of it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildService();
  const home = await mkdtemp(join(tmpdir(), 'doorward-demo-'));
  const dataDir = join(home, 'data');
  const database = join(dataDir, 'database');
  await mkdir(dataDir);
  await mkdir(database, { mode: 0o700 });
  await tar(['-xf', project.getProvidedContext().archive, '-C', database]);
  const service = await startService({ dataDir, env: { DEV_SEED: 'true' } });
  await demoData(service);
  await service.stop();
  const archive = join(home, 'demo.tar');
  await tar(['-cf', archive, '-C', dataDir, '.']);
  project.provide('demoArchive', archive);
  return () => rm(home, { recursive: true, force: true });
}

/** Resolves when the service has created its demo data. */
async function demoData({ output }: Service): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!output().includes('answers ALLOWED')) {
    if (performance.now() > deadline) throw new Error(`the service created no demo data:\n${output()}`);
    await setTimeout(50);
  }
}

/** A data directory with the demo data. The caller deletes it. */
export async function demoDataDir(archive: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'doorward-data-'));
  await tar(['-xf', archive, '-C', directory]);
  return directory;
}
