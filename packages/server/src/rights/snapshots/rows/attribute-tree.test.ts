import { expect, it } from 'vitest';
import { attributeTree, pick } from './attribute-tree.ts';

/** Of a row, a snapshot carries exactly the attributes that conditions read. */
const values = {
  name: 'Ada',
  email: null,
  metadata: { team: { name: 'a', salary: 5 }, list: [{ name: 'x' }], level: 0 },
};
const picked = (...paths: string[]) => pick(attributeTree(paths, 'user'), values);

it.each([
  [['user.name', 'role.name'], { name: 'Ada' }],
  [['user.email'], { email: null }],
  [['user.metadata.team.name'], { metadata: { team: { name: 'a' } } }],
  [['user.metadata.team', 'user.metadata.team.name'], { metadata: { team: { name: 'a', salary: 5 } } }],
  [['user.metadata.team.name', 'user.metadata.team'], { metadata: { team: { name: 'a', salary: 5 } } }],
  [['user.metadata.level', 'user.unknown', 'user.name.first'], { metadata: { level: 0 } }],
  [['user.metadata.list.0.name', 'user.metadata.other'], {}],
  [['user.metadata'], { metadata: values.metadata }],
  [[], {}],
])('%j', (paths, expected) => {
  expect(picked(...paths)).toEqual(expected);
});

it('has its members in one order, whatever the order of the paths', () => {
  const paths = ['user.name', 'user.metadata.level', 'user.email', 'user.metadata.team.name'];
  expect(JSON.stringify(picked(...paths.toReversed()))).toBe(JSON.stringify(picked(...paths)));
});

it('reads no inherited member', () => {
  expect(picked('user.toString', 'user.metadata.hasOwnProperty')).toEqual({});
});
