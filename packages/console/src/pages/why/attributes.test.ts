import { describe, expect, it } from 'vitest';
import type { Scope } from '../../scopes/scope.ts';
import { truthOfCandidate } from './attributes.ts';
import { parseAttributes, type Candidate, type Attributes } from './question.ts';
import type { ExplainedRows, NamedRow } from './rows.ts';

const [owner, project] = ['018f0000-0000-7000-8000-00000000000a', '018f0000-0000-7000-8000-00000000000b'];
const inProject: Scope = { tenant: 'organizationProject', id: `${owner}:${project}` };

const named = (id: string, changes: Partial<NamedRow> = {}): NamedRow => ({
  id,
  name: `name of ${id}`,
  scope: inProject,
  metadata: {},
  ...changes,
});
const byId = (...rows: readonly NamedRow[]): ReadonlyMap<string, NamedRow> =>
  new Map(rows.map((row) => [row.id, row]));
const candidate = (result: Candidate['result']): Candidate => ({
  roleId: 'r1',
  groupId: 'g1',
  permissionId: 'p1',
  result,
});
const rowsWith = (condition: NamedRow['condition'], changes: Partial<ExplainedRows> = {}): ExplainedRows => ({
  user: { ...named('u1'), email: null, emailVerified: false },
  roles: byId(named('r1', { metadata: { level: 3 } })),
  groups: byId(named('g1')),
  permissions: byId(named('p1', condition === undefined ? {} : { condition })),
  ...changes,
});

/** Whether a condition is met by the attributes that the page knows. */
function truth(
  condition: Attributes,
  { scope = inProject, resource = null as Attributes | null } = {},
): boolean {
  const rows = rowsWith(condition);
  const isMet = truthOfCandidate(candidate('met'), rows, scope, resource) !== null;
  const isNotMet = truthOfCandidate(candidate('notMet'), rows, scope, resource) !== null;
  expect(isMet).not.toBe(isNotMet);
  return isMet;
}

describe('truthOfCandidate', () => {
  it('says of each condition inside whether it holds', () => {
    const [yes, no] = [{ Equals: { 'user.id': 'u1' } }, { Equals: { 'role.metadata.level': 4 } }];
    const truthOf = truthOfCandidate(candidate('met'), rowsWith({ Or: [no, yes] }), inProject, null);
    expect(
      [yes, no, { Not: yes }, { Equals: { 'resource.id': '1' } }].map((part) => truthOf?.(part)),
    ).toEqual(['true', 'false', 'false', 'unknown']);
  });

  it.each<[what: string, condition: NamedRow['condition'], changes: Partial<ExplainedRows>]>([
    ['there is no condition', null, {}],
    ['the caller may not read the condition', undefined, {}],
    ['the permission is not known', { Equals: { 'user.id': 'u1' } }, { permissions: byId() }],
    ['the user is not known', { Equals: { 'user.id': 'u1' } }, { user: null }],
    ['the role is not known', { Equals: { 'user.id': 'u1' } }, { roles: byId(named('r2')) }],
    ['the group is not known', { Equals: { 'user.id': 'u1' } }, { groups: byId() }],
  ])('says nothing if %s', (_, condition, changes) => {
    const rows = rowsWith(condition, changes);
    expect(truthOfCandidate(candidate('met'), rows, inProject, null)).toBeNull();
    expect(truthOfCandidate(candidate('notMet'), rows, inProject, null)).toBeNull();
  });

  it('says nothing if the service found another result', () => {
    const rows = rowsWith({ Equals: { 'user.id': 'u1' } });
    expect(truthOfCandidate(candidate('notMet'), rows, inProject, null)).toBeNull();
    // An unknown condition counts as not met.
    const unknown = rowsWith({ Not: { Equals: { 'user.metadata.missing': 1 } } });
    expect(truthOfCandidate(candidate('met'), unknown, inProject, null)).toBeNull();
    expect(truthOfCandidate(candidate('notMet'), unknown, inProject, null)).not.toBeNull();
  });

  it.each<[scope: Scope, Attributes, missing: readonly string[]]>([
    [{ tenant: 'organization', id: owner }, { organizationId: owner }, ['accountId', 'projectId']],
    [{ tenant: 'account', id: owner }, { accountId: owner }, ['organizationId', 'projectId']],
    [inProject, { organizationId: owner, projectId: project }, ['accountId']],
    [
      { tenant: 'accountProject', id: inProject.id },
      { accountId: owner, projectId: project },
      ['organizationId'],
    ],
  ])('reads the attributes of %j as the service does', (scope, members, missing) => {
    for (const [name, value] of Object.entries({ ...scope, ...members }))
      expect([name, truth({ Equals: { [`scope.${name}`]: value } }, { scope })]).toEqual([name, true]);
    // A missing attribute differs from null: no comparison with it is met.
    for (const name of missing)
      for (const operator of ['Equals', 'NotEquals'])
        expect(truth({ [operator]: { [`scope.${name}`]: null } }, { scope })).toBe(false);
  });

  it('reads own members of the resource only', () => {
    const resource = parseAttributes('{"__proto__":{"status":"open"},"kind":"a"}') ?? null;
    expect(truth({ Equals: { 'resource.kind': 'a' } }, { resource })).toBe(true);
    expect(truth({ Equals: { 'resource.status': 'open' } }, { resource })).toBe(false);
    expect(truth({ Not: { Equals: { 'resource.toString': 'a' } } }, { resource })).toBe(false);
  });
});

describe('thingOf', () => {
  it.each(['', ' \n\t'])('takes %j for no resource', (text) => {
    expect(parseAttributes(text)).toBeNull();
  });

  it.each(['null', '[]', '7', '"{}"', 'true', '{', "{'a':1}", '{"a":1,}', 'undefined'])(
    'refuses %s',
    (text) => {
      expect(parseAttributes(text)).toBeUndefined();
    },
  );

  it('reads an object, with white space around it', () => {
    expect(parseAttributes('\n {"a":{"b":["ü"]}} ')).toEqual({ a: { b: ['ü'] } });
    expect(parseAttributes('{}')).toEqual({});
  });
});
