import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig, type Config } from '../config/config.ts';
import { announceFirstUser, firstUserNotice } from './first-user-link.ts';
import type { LogLine } from './log.ts';

const token = 'hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM';
const base = 'https://access.example.com';

let dataDir: string;
let file: string;
let printed: string[];
let logged: LogLine[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'doorward-link-'));
  file = join(dataDir, 'first-user.txt');
  printed = [];
  logged = [];
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const announce = (issued: string | null | Error, more: Partial<Config> = {}) =>
  announceFirstUser({
    config: { ...loadConfig({}), dataDir, ...more },
    base,
    issue: async () => {
      if (issued instanceof Error) throw issued;
      return issued;
    },
    print: (text) => void printed.push(text),
    log: { warn: (line) => void logged.push(line) },
  });

test('the link has the token in its fragment, and how long a password must be', () => {
  const notice = firstUserNotice(loadConfig({ AUTH_PASSWORD_MIN_LENGTH: '16' }), base, token);
  const link = new URL(/^ {2}(\S+)$/m.exec(notice)?.[1] ?? '');
  expect(link.origin + link.pathname + link.search).toBe(`${base}/console/first-user`);
  expect(Object.fromEntries(new URLSearchParams(link.hash.slice(1)))).toEqual({
    token,
    passwordMinLength: '16',
  });
});

test('without a console the text is the request', () => {
  const notice = firstUserNotice(loadConfig({ CONSOLE_ENABLED: 'false' }), base, token);
  expect(notice).toContain(`POST ${base}/api/auth/first-user`);
  expect(JSON.parse(/^ {2}(\{.*\})$/m.exec(notice)?.[1] ?? '')).toMatchObject({ token });
  expect(notice).not.toContain('/console');
});

test('in a terminal it is printed, and neither logged nor stored', async () => {
  await announce(token);
  expect(printed.join('')).toContain(token);
  expect(logged).toEqual([]);
  expect(await readdir(dataDir)).toEqual([]);
});

test('in production it is in a file for this user only, whatever the file was before', async () => {
  await writeFile(file, 'a former link', { mode: 0o644 });
  await chmod(file, 0o644);
  await announce(token, { production: true });
  expect(printed).toEqual([]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toContain(`${base}/console/first-user#token=${token}`);
  expect(await readdir(dataDir)).toEqual(['first-user.txt']);
  expect(logged).toHaveLength(1);
  expect(logged[0]?.message).toContain(file);
  expect(JSON.stringify(logged)).not.toContain(token);
});

test('with a user nothing is announced, and the file of an earlier start is removed', async () => {
  await announce(token, { production: true });
  logged = [];
  await announce(null, { production: true });
  expect([printed, logged, await readdir(dataDir)]).toEqual([[], [], []]);
});

test.each([
  ['a database that refuses', () => announce(new Error('relation does not exist'), { production: true })],
  [
    'a directory that cannot be written',
    () => announce(token, { production: true, dataDir: '/dev/null/data' }),
  ],
])('%s is logged, without the token, and stops nothing', async (_, work) => {
  await work();
  expect(logged).toMatchObject([{ message: expect.stringMatching(/^no link/) as string }]);
  expect(JSON.stringify(logged)).not.toContain(token);
});
