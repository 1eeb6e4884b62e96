import { hash } from '@node-rs/bcrypt';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../../server/src/db/statements/rows.ts';
import { emptyFolder } from '../support/folder.ts';
import { startWorldOfOperator } from '../support/service/operator-world.ts';
import type { World } from '../support/service/world.ts';

/** A file with the users of another service becomes users of a project, whatever happens on the way. */
let world: World;
let folder: string;
const password = 'three lanterns in the harbour';

beforeAll(async () => {
  world = await startWorldOfOperator();
  folder = await emptyFolder();
});
afterAll(() => world.service.close());

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const usersAt = async (domain: string) =>
  (
    await rowsOf<{ email: string }>(
      world.service.app.database.pool,
      sql`select email from users where email like ${`%@${domain}`} order by email`,
    )
  ).map(({ email }) => email);

const signIn = (email: string) =>
  world.service.app.raw('login', { provider: 'email', providerId: email, providerData: { password } });

describe('doorward users import', () => {
  test('reads CSV, with roles by name and metadata', async () => {
    const passwordHash = await hash(password, { cost: 4 });
    const path = await file(
      'users.csv',
      `\ufeffEmail,email_verified,Name,Password Hash,roles,metadata.externalId\n` +
        `ida@csv.test,true,"Ida, of Shop",${passwordHash},Project Viewer; project admin,u-1\n` +
        `\nole@csv.test,yes,,,,\n`,
    );
    const checked = await world.run(['users', 'import', path, '--dry-run']);
    expect(checked).toEqual({
      code: 0,
      stdout: '2 would be imported, 0 existed already, 0 refused.\n',
      stderr: '',
    });
    expect(await usersAt('csv.test')).toEqual([]);

    expect(await world.run(['users', 'import', path])).toEqual({
      code: 0,
      stdout: '2 were imported, 0 existed already, 0 refused.\n',
      stderr: '',
    });
    expect((await signIn('ida@csv.test')).ok).toBe(true);
    const ida = await world.json<Record<string, unknown>>(['users', 'get', 'ida@csv.test']);
    expect(ida).toMatchObject({
      name: 'Ida, of Shop',
      emailVerified: true,
      metadata: { externalId: 'u-1' },
    });
    expect(await world.json(['users', 'get', 'ole@csv.test'])).toMatchObject({
      name: 'ole',
      emailVerified: true,
    });
    const again = await world.json(['users', 'import', path]);
    expect(again).toEqual({ created: 0, existing: 2, claimed: 0, refused: [] });
  });

  test('names wrong lines and imports the others', async () => {
    const users = Array.from({ length: 300 }, (_, at) =>
      JSON.stringify({ email: `user${at}@lines.test`, emailVerified: true }),
    );
    users[3] = '{"email": ';
    users[4] = '[]';
    users[10] = JSON.stringify({ email: 'nowhere', emailVerified: true });
    users[11] = JSON.stringify({ email: 'user11@lines.test', passwordHash: 'md5:5f4d' });
    users[12] = JSON.stringify({
      email: 'user12@lines.test',
      emailVerified: true,
      roles: ['Nobody\u001b[2J'],
    });
    users[260] = JSON.stringify({ email: 'user260@lines.test', emailVerified: true, phone: '1' });
    users[270] = JSON.stringify({ email: 'USER269@lines.test', emailVerified: true });
    const path = await file('users.jsonl', users.join('\n'));
    const { code, stdout, stderr } = await world.run(['users', 'import', path]);
    expect(stdout).toBe('293 were imported, 0 existed already, 7 refused.\n');
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').sort()).toEqual([
      expect.stringMatching(/^hint: passwordHash: use a hash of bcrypt /),
      'line 11: email: This has the wrong format.',
      'line 12: passwordHash: This has the wrong format.',
      'line 13: roles: There is no role Nobody\\u{1b}[2J.',
      'line 261: phone: This field is not known.',
      'line 271: email: This was given twice.',
      'line 4: This is not a JSON object.',
      'line 5: This is not a JSON object.',
    ]);
    expect(await usersAt('lines.test')).toHaveLength(293);
  });

  test.each([
    ['a list', (users: readonly unknown[]) => users],
    ['an object with a list', (users: readonly unknown[]) => ({ realm: 'shop', users })],
  ])('imports %s of JSON', async (kind, wrap) => {
    const domain = kind === 'a list' ? 'list.test' : 'object.test';
    const users = [{ email: `ida@${domain}`, emailVerified: true }, 'ole', { email: 'nowhere' }];
    const path = await file(`${domain}.json`, `\uFEFF${JSON.stringify(wrap(users), null, 2)}`);
    const { code, stdout, stderr } = await world.run(['users', 'import', path]);
    expect([code, stdout]).toEqual([1, '1 were imported, 0 existed already, 2 refused.\n']);
    expect(stderr.trim().split('\n').sort()).toEqual([
      'user 2: This is not a JSON object.',
      'user 3: email: This has the wrong format.',
    ]);
    expect(await usersAt(domain)).toHaveLength(1);
  });

  test('says what it cannot do before it sends anything', async () => {
    const wrong = async (path: string, ...more: string[]) => {
      const { code, stderr } = await world.run(['users', 'import', path, ...more]);
      return `${code} ${stderr}`;
    };
    expect(await wrong(join(folder, 'missing.csv'))).toContain('2 error: ');
    expect(await wrong(join(folder, 'missing.jsonl'))).toMatch(/^2 .*cannot be read \(ENOENT\)/);
    expect(await wrong(await file('users.xls', ''))).toContain('Unknown file format.');
    expect(await wrong(await file('phone.csv', 'email,phone\n'))).toContain('The column phone is not known.');
    expect(await wrong(await file('nameless.csv', 'name\nIda\n'))).toContain(
      'The first line names no column email.',
    );
    expect(await wrong(await file('broken.csv', 'email,name\na@b.test,"Ida\n'))).toMatch(
      /^2 .*is not valid CSV/,
    );
    expect(await wrong(await file('single.json', '{"email": "a@b.test"}'))).toContain('has no list of users');
    expect(await wrong(await file('broken.json', '[{]'))).toMatch(/^2 .*is not valid JSON/);
    const path = await file('one.csv', 'email,emailVerified\none@key.test,true\n');
    const { code, stderr } = await world.run(['users', 'import', path], {
      env: { ...world.key, DOORWARD_TOKEN: '' },
    });
    expect([code, stderr]).toEqual([4, expect.stringContaining('SESSION_REQUIRED')]);
    expect(await usersAt('key.test')).toEqual([]);
  });
});
