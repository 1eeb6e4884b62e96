import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockDataDirectory } from './data-lock.ts';

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'doorward-lock-'))));
afterEach(() => rm(directory, { recursive: true }));

const lockOf = () => readFile(join(directory, 'doorward.lock'), 'utf8');
const holdAs = (pid: number) => writeFile(join(directory, 'doorward.lock'), `${pid} -\n`);

test('a process that ends within seconds gives its lock away', async () => {
  const ending = spawn('sleep', ['60']);
  await holdAs(ending.pid as number);
  const locked = lockDataDirectory(directory);
  ending.kill('SIGKILL');
  const release = await locked;
  expect(await lockOf()).toContain(`${process.pid} `);
  await release();
});

test('so does one that was killed, but not collected by its parent', async () => {
  // `exec` replaces the shell by a program that collects nothing.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  await holdAs(Number(line.toString()));
  process.kill(Number(line.toString()), 'SIGKILL');
  const release = await lockDataDirectory(directory);
  await release();
  parent.kill('SIGKILL');
});
