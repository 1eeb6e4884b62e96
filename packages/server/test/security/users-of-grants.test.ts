import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * In a granted scope `projectId` is the vendor's project, whose users are other people than those of the customer. SQL
 * about users of a project therefore takes their node from `usersNodeOf`.
 */
const root = join(import.meta.dirname, '../../src');
const mixed = /project_user(?:s|_roles)\b[^;\n]*\bprojectId\b/;

/** Snapshots are made of projects alone: `snapshotScope` refuses the scope of a grant. */
const exempt = ['rights/snapshots/rows/user-rows.ts'];

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .map((path) => path.split('\\').join('/'))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

describe('users of a project', () => {
  it('are read from the node that usersNodeOf names', () => {
    const offending = files.filter(({ text }) => mixed.test(text)).map(({ path }) => path);
    expect(offending).toEqual(exempt);
  });

  it.each([
    'where exists (select 1 from project_users p where p.tenant_id = ${projectId}::uuid)',
    'where exists (select 1 from project_user_roles p where p.tenant_id = ${scope.projectId})',
    "['project_users', projectId],",
  ])('are noticed in %s', (line) => expect(mixed.test(line)).toBe(true));
});
