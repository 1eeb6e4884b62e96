import { describe, expect, it } from 'vitest';
import { applyChanges, compileSnapshot } from '../../src/policy/compile.ts';
import { limits } from '../../src/policy/rows.ts';
import { SnapshotError } from '../../src/policy/snapshot-error.ts';
import { changes, snapshot } from './documents.ts';

/** What an error says: an operator reads it in a log, far from the document. */
function errorOf(make: () => unknown): SnapshotError {
  try {
    make();
  } catch (error) {
    if (error instanceof SnapshotError) return error;
    throw error;
  }
  throw new Error('The document was not refused.');
}
const saidOf = ({ code, path, message }: SnapshotError) => ({ code, path, message });
const said = (code: string, path: string, problem: string) => ({
  code,
  path,
  message: `${path === '' ? 'The document' : path} ${problem}.`,
});

const resource = { id: 'r', slug: 'order', isSystem: false };
const permission = {
  id: 'p',
  name: 'p',
  resourceId: 'r',
  action: 'read',
  condition: null as unknown,
  createdAt: 1,
};
const group = { id: 'g', name: 'g', permissionIds: ['p'] };
const role = { id: 'x', name: 'x', groupIds: ['g'] };
const user = { id: 'u', roleIds: ['x'] };
const key = { id: 'k', userId: 'u', ofUser: true, roleId: null, expiresAt: null, allowedCidrs: [] };
const whole = {
  resources: [resource],
  permissions: [permission],
  groups: [group],
  roles: [role],
  users: [user],
  keys: [key],
};

/** JSON has no infinite number: one comes only from a caller that does not parse. */
const infinite = () => {
  const claims = snapshot({ users: [{ ...user, attributes: { a: 1 } }] });
  return {
    ...claims,
    users: claims.users.map((row) => ({ ...row, attributes: { a: Number.POSITIVE_INFINITY } })),
  };
};
const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
const withCondition = (condition: unknown) => ({ permissions: [{ ...permission, condition }] });

describe('a snapshot', () => {
  it.each<[string, unknown, ReturnType<typeof said>]>([
    ['no object', 7, said('SHAPE', '', 'is not an object')],
    ['another format', snapshot({ format: 2 }), said('FORMAT', 'format', 'is not 1')],
    ['another audience', snapshot({ aud: 'x' }), said('SHAPE', 'aud', 'is not doorward-snapshot')],
    ['no text', snapshot({ iss: 7 }), said('SHAPE', 'iss', 'is not text')],
    ['no number', snapshot({ sequence: 1.5 }), said('SHAPE', 'sequence', 'is not a whole number')],
    ['a long version', snapshot({ version: 'v'.repeat(65) }), said('SHAPE', 'version', 'is too long')],
    ['no list', snapshot({ nouns: {} }), said('SHAPE', 'nouns', 'is not a list')],
    ['no list of texts', snapshot({ nouns: ['a', 7] }), said('SHAPE', 'nouns.1', 'is not text')],
    [
      'too many items',
      snapshot({ nouns: Array.from({ length: limits.ids + 1 }, () => 'a') }),
      said('SHAPE', 'nouns', `has more than ${limits.ids} items`),
    ],
    ['no object in it', snapshot({ scope: [] }), said('SHAPE', 'scope', 'is not an object')],
    [
      'a scope without text',
      snapshot({ scope: { ...snapshot().scope, organizationId: 7 } }),
      said('SHAPE', 'scope.organizationId', 'is not text'),
    ],
    [
      'no flag',
      snapshot({ resources: [{ ...resource, isSystem: 'no' }] }),
      said('SHAPE', 'resources.0.isSystem', 'is not a boolean'),
    ],
    [
      'a slug with a space',
      snapshot({ resources: [{ ...resource, slug: ' order' }] }),
      said('SHAPE', 'resources.0.slug', 'is not in lower case'),
    ],
    [
      'a permission without a condition',
      snapshot({ ...whole, permissions: [{ ...permission, condition: undefined }] }),
      said('SHAPE', 'permissions.0.condition', 'is missing'),
    ],
    [
      'a condition that is nested too deeply',
      snapshot({ ...whole, ...withCondition(nested(66)) }),
      said('SHAPE', 'permissions.0.condition', 'is nested too deeply'),
    ],
    [
      'an organization that is nested too deeply',
      snapshot({ ...whole, organization: { deep: nested(66) } as never }),
      said('SHAPE', 'organization', 'is nested too deeply'),
    ],
    ['an infinite number', infinite(), said('SHAPE', 'users.0.attributes', 'is not JSON')],
    [
      'metadata that is a list',
      snapshot({ ...whole, roles: [{ ...role, metadata: [] }] }),
      said('SHAPE', 'roles.0.metadata', 'is not an object'),
    ],
    [
      'two rows with one id',
      snapshot({ ...whole, users: [user, user] }),
      said('SHAPE', 'users.1.id', 'is the id of an earlier row'),
    ],
    [
      'an unknown role',
      snapshot({ ...whole, users: [{ ...user, roleIds: ['x', 'y'] }] }),
      said('SHAPE', 'users.0.roleIds.1', 'names no row'),
    ],
    [
      'a role of its own and that of a user',
      snapshot({ ...whole, keys: [{ ...key, roleId: 'x' }] }),
      said('SHAPE', 'keys.0.roleId', 'is set, but the key has the rights of its user'),
    ],
  ])('is refused for %s', (_what, claims, expected) => {
    const error = errorOf(() => compileSnapshot(claims));
    expect(saidOf(error)).toEqual(expected);
    expect(error.name).toBe('SnapshotError');
  });

  it('is taken with a value at the limit', () => {
    const length = limits.ids;
    expect(() =>
      compileSnapshot(
        snapshot({
          ...{ ...whole, ...withCondition({ Equals: { 'resource.open': true } }) },
          version: 'v'.repeat(64),
          nouns: Array.from({ length }, (_, index) => `Noun${index}`),
          users: [{ ...user, roleIds: ['x', 'x'], attributes: { deep: nested(63), off: false } }],
        }),
      ),
    ).not.toThrow();
    expect([...(compileSnapshot(snapshot(whole)).users.get('u')?.roles.ids ?? [])]).toEqual(['x']);
  });
});

describe('changes', () => {
  const policy = () => compileSnapshot(snapshot(whole));
  it.each<[string, object, ReturnType<typeof said>]>([
    ['asking for a whole snapshot', { full: true }, said('NOT_NEXT', 'full', 'asks for a whole snapshot')],
    ['another version', { from: 'v0' }, said('NOT_NEXT', 'from', 'is another version')],
    ['another project', { sub: 'other' }, said('NOT_NEXT', 'sub', 'is another project')],
    ['another issuer', { iss: 'https://other.test' }, said('NOT_NEXT', 'sub', 'is another project')],
    ['a lower sequence', { sequence: 0 }, said('NOT_NEXT', 'sequence', 'is lower than before')],
    ['an earlier time', { asOf: 999 }, said('NOT_NEXT', 'asOf', 'is earlier than before')],
    ['a bad row', { put: { users: [7] } }, said('SHAPE', 'put.users.0', 'is not an object')],
    ['a bad id', { drop: { users: [7] } }, said('SHAPE', 'drop.users.0', 'is not text')],
  ])('are refused for %s', (_what, members, expected) => {
    expect(saidOf(errorOf(() => applyChanges(policy(), changes(members))))).toEqual(expected);
  });

  it('are refused if they leave somebody with a role that they drop, among others that stay', () => {
    const two = compileSnapshot(
      snapshot({
        ...whole,
        roles: [role, { ...role, id: 'y' }],
        users: [{ ...user, roleIds: ['x', 'y'] }],
        keys: [],
      }),
    );
    const error = errorOf(() => applyChanges(two, changes({ drop: { roles: ['y'] } })));
    expect(error.code).toBe('SHAPE');
    expect(two.users.get('u')?.roles.ids).toHaveLength(2);
  });
});
