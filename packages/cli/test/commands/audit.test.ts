import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyWebhook } from '@doorward/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDoorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import { startWorld, type World } from '../support/service/world.ts';

let world: World;
let file: string;

beforeAll(async () => {
  world = await startWorld({ SECURITY_RATE_LIMIT_EXPORT_MAX: '100' });
  file = join(await emptyFolder(), 'audit.ndjson');
});
afterAll(() => world.service.close());

const linesOf = async (path: string): Promise<string[]> =>
  (await readFile(path, 'utf8')).trimEnd().split('\n');

describe('audit export', () => {
  test('writes a file that only its owner can read, and that proves itself', async () => {
    const exported = await world.run(['audit', 'export', '-o', file]);
    expect([exported.code, exported.stdout]).toEqual([0, '']);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const lines = await linesOf(file);
    expect(exported.stderr).toBe(`${lines.length} lines written to ${file}.\n`);
    const verified = await world.run(['audit', 'verify', file]);
    expect(verified.stdout).toMatch(
      new RegExp(`^OK .*: ${lines.length} entries, 1 to ${lines.length}, are one chain\\.`),
    );
    expect(verified.code).toBe(0);
  });

  test('continues a file that was cut, even within a line', async () => {
    const before = await readFile(file);
    await truncate(file, before.length - 900);
    const { code, stderr } = await world.run(['audit', 'export', '-o', file]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^\d+ lines added to/)]);
    expect((await readFile(file)).subarray(0, before.length)).toEqual(before);
    const { proven } = await world.json<{ proven: boolean }>(['audit', 'verify', file]);
    expect(proven).toBe(true);
  });

  test('prints lines, and csv', async () => {
    const { stdout } = await world.run(['audit', 'export', '--from', '2020-01-01']);
    expect(stdout.split('\n')[0]).toBe((await linesOf(file))[0]);
    expect((await world.run(['audit', 'export', '--format', 'csv'])).stdout).toMatch(/^id,|sequence,/);
    expect((await world.run(['audit', 'export', '--from', 'soon'])).code).toBe(2);
  });

  test('keeps a file that is something else', async () => {
    const other = join(await emptyFolder(), 'notes.txt');
    for (const text of ['my notes\n', 'my notes', 'my notes\nmore']) {
      await writeFile(other, text);
      expect((await world.run(['audit', 'export', '-o', other])).code).toBe(2);
      expect(await readFile(other, 'utf8')).toBe(text);
    }
    const owner = `account:${world.project.scope.id.split(':')[0]}`;
    const foreign = await world.run(['audit', 'export', '-o', file, '-s', owner]);
    expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining('is the log of')]);
  });
});

describe('audit verify', () => {
  const changed = async (edit: (lines: string[]) => string[]): Promise<string> => {
    const path = join(await emptyFolder(), 'changed.ndjson');
    await writeFile(path, `${edit(await linesOf(file)).join('\n')}\n`);
    return path;
  };

  test('names the first bad entry', async () => {
    const path = await changed((lines) =>
      lines.map((line, at) => (at === 1 ? line.replace('success', 'failed') : line)),
    );
    const { code, stdout } = await world.run(['audit', 'verify', path]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^BAD {2}line 2, entry 2: changed\./)]);
    const json = await world.run(['audit', 'verify', path, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ proven: false, fault: { line: 2, kind: 'changed' } });
    const missing = await world.run(['audit', 'verify', await changed((lines) => lines.toSpliced(1, 1))]);
    expect([missing.code, missing.stdout]).toEqual([1, expect.stringContaining('missing before it')]);
    expect((await world.run(['audit', 'verify', await changed((lines) => lines.slice(0, -2))])).code).toBe(1);
    expect(
      (await world.run(['audit', 'verify', '--open-end', await changed((lines) => lines.slice(0, -2))])).code,
    ).toBe(0);
    expect(
      (await world.run(['audit', 'verify', '--filtered', await changed((lines) => lines.toSpliced(1, 1))]))
        .code,
    ).toBe(0);
  });

  test('takes the last hash and the keys of the service', async () => {
    const { hash } = JSON.parse((await linesOf(file)).at(-1) ?? '') as { hash: string };
    expect((await world.run(['audit', 'verify', file, '--expect-last', hash])).code).toBe(0);
    expect((await world.run(['audit', 'verify', file, '--expect-last', 'f'.repeat(64)])).code).toBe(1);
    const jwks = `${world.service.url}/.well-known/audit-jwks.json`;
    expect((await world.run(['audit', 'verify', file, '--jwks', jwks])).stdout).toContain(
      'no signature covers it',
    );
    expect((await world.run(['audit', 'verify', file, '--jwks', file])).code).toBe(2);
    expect((await world.run(['audit', 'verify', file, '--jwks', `${world.service.url}/nowhere`])).code).toBe(
      2,
    );
  });
});

describe('events tail', () => {
  test('prints events as they happen, until Ctrl-C', async () => {
    await world.json(['groups', 'create', '--set', 'name=before']);
    const command = startDoorward(['events', 'tail', '--types', 'group.*', '--json'], {
      env: world.owner,
    });
    const verbose = startDoorward(['events', 'tail', '--types', 'group.*', '--since', '1h'], {
      env: world.owner,
    });
    await verbose.printed(/group\.created.*before/);
    await world.json(['groups', 'create', '--set', 'name=after']);
    await command.printed(/\n/);
    command.interrupt();
    const { code, stdout } = await command.ended;
    expect(code).toBe(130);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string; data: { name: string } }).data.name),
    ).toEqual(['after']);
    await verbose.printed(/group\.created.*after/);
    verbose.interrupt();
    expect((await verbose.ended).code).toBe(130);
  });

  test('forwards events to this computer as signed webhooks', async () => {
    const received: { headers: IncomingHttpHeaders; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        received.push({ headers: request.headers, body });
        response.writeHead(received.length === 1 ? 204 : 302, { location: 'http://127.0.0.1:9/' }).end();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const command = startDoorward(
      ['events', 'tail', '--types', 'group.*', '--since', 'all', '--forward', url],
      {
        env: world.owner,
      },
    );
    const [, secret = ''] = await command.printed(/signing secret of this run: (whsec_\S+)/);
    await world.json(['groups', 'create', '--set', 'name=forwarded']);
    await command.printed(/^302 {2}group\.created/m);
    const [first] = received;
    const event = verifyWebhook(first?.body ?? '', first?.headers ?? {}, secret);
    expect(event).toMatchObject({ type: 'group.created' });
    expect(() => verifyWebhook(`${first?.body} `, first?.headers ?? {}, secret)).toThrow();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    // The receiver may be restarted meanwhile.
    await world.json(['groups', 'create', '--set', 'name=lost']);
    await command.printed(/^not sent \(ECONNREFUSED\) {2}group\.created/m);
    command.interrupt();
    const { code, stdout, stderr } = await command.ended;
    expect(code).toBe(130);
    expect(stdout).not.toContain(secret);
    expect(stderr.split(secret)).toHaveLength(2);
  });

  test.each([
    'http://192.0.2.1/',
    'http://localhost.example.com/',
    'http://127.0.0.1.example.com/',
    'http://[::ffff:192.0.2.1]/',
    'http://user:pass@127.0.0.1/',
    'ftp://127.0.0.1/',
    'hook',
  ])('forwards nothing to %s', async (url) => {
    const { code, stderr } = await world.run(['events', 'tail', '--forward', url]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--forward')]);
    expect(stderr).not.toContain('whsec_');
  });

  test('refuses types and times that there are not', async () => {
    expect((await world.run(['events', 'tail', '--types', 'grup.*'])).code).toBe(2);
    expect((await world.run(['events', 'tail', '--since', 'lunch'])).code).toBe(2);
  });
});
