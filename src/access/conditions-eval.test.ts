import { describe, expect, it } from 'vitest';
import type { Attributes } from './conditions-eval.ts';
import { parseCondition } from './conditions-parse.ts';
import { compileCondition } from './conditions.ts';

const context: Attributes = {
  user: {
    id: 'u1',
    emailVerified: true,
    metadata: { dept: 'sales', level: 5, active: true, code: '7', teams: ['a', 'b'] },
  },
  role: { id: 'r1', name: 'Editor', metadata: { region: 'eu' } },
  group: { id: 'g1', name: 'Docs', metadata: {} },
  scope: { tenant: 'organizationProject', id: 'o1:p1', organizationId: 'o1', projectId: 'p1' },
  resource: {
    id: 'd1',
    ownerId: 'u1',
    dept: 'sales',
    amount: 100,
    limit: '100',
    labels: ['x', 'y'],
    ids: [1, 2],
    status: 'draft',
    title: '',
    archived: false,
    parent: { id: 'd0', owner: null },
    empty: [],
  },
};

/** Authorization §7.3, as written there; 'refused' = 400 when written, never met when stored. */
const golden: readonly (readonly [number, string, 'true' | 'false' | 'unknown' | 'refused'])[] = [
  [1, 'null', 'true'],
  [2, '{}', 'true'],
  [3, '{"Equals":{"resource.ownerId":"u1"}}', 'true'],
  [4, '{"Equals":{"resource.ownerId":"{{user.id}}"}}', 'true'],
  [5, '{"Equals":{"resource.ownerId":{"$ref":"user.id"}}}', 'true'],
  [6, '{"Equals":{"resource.missing":"x"}}', 'unknown'],
  [7, '{"NotEquals":{"resource.missing":"x"}}', 'unknown'],
  [8, '{"Not":{"Equals":{"resource.missing":"x"}}}', 'unknown'],
  [9, '{"Equals":{"resource.missing":{"$ref":"user.metadata.missing"}}}', 'unknown'],
  [10, '{"Equals":{"resource.amount":100}}', 'true'],
  [11, '{"Equals":{"resource.amount":"100"}}', 'unknown'],
  [12, '{"NotEquals":{"resource.amount":"100"}}', 'unknown'],
  [13, '{"Equals":{"resource.parent.owner":null}}', 'true'],
  [14, '{"Equals":{"resource.parent.owner":"u1"}}', 'false'],
  [15, '{"NotEquals":{"resource.parent.owner":"u1"}}', 'true'],
  [16, '{"Equals":{"resource.archived":false}}', 'true'],
  [17, '{"Equals":{"resource.archived":"false"}}', 'unknown'],
  [18, '{"StringEquals":{"resource.status":"draft"}}', 'true'],
  [19, '{"StringEquals":{"resource.status":"Draft"}}', 'false'],
  [20, '{"StringEquals":{"resource.amount":"100"}}', 'unknown'],
  [21, '{"StringNotEquals":{"resource.status":"final"}}', 'true'],
  [22, '{"StringNotEquals":{"resource.parent.owner":"u1"}}', 'unknown'],
  [23, '{"In":{"resource.status":["draft","open"]}}', 'true'],
  [24, '{"In":{"resource.amount":["100"]}}', 'unknown'],
  [25, '{"NotIn":{"resource.amount":["100"]}}', 'unknown'],
  [26, '{"NotIn":{"resource.status":["final"]}}', 'true'],
  [27, '{"NotIn":{"resource.missing":["final"]}}', 'unknown'],
  [28, '{"In":{"resource.status":{"$ref":"resource.empty"}}}', 'false'],
  [29, '{"NotIn":{"resource.status":{"$ref":"resource.empty"}}}', 'true'],
  [30, '{"In":{"resource.status":["{{user.metadata.missing}}","draft"]}}', 'true'],
  [31, '{"NotIn":{"resource.status":["{{user.metadata.missing}}","final"]}}', 'unknown'],
  [32, '{"In":{"resource.labels":["x"]}}', 'unknown'],
  [33, '{"In":{"resource.status":{"$ref":"resource.dept"}}}', 'unknown'],
  [34, '{"Contains":{"resource.labels":"x"}}', 'true'],
  [35, '{"Not":{"Contains":{"resource.labels":"z"}}}', 'true'],
  [36, '{"Contains":{"resource.status":"dra"}}', 'unknown'],
  [37, '{"Not":{"Contains":{"resource.status":"zz"}}}', 'unknown'],
  [38, '{"Contains":{"resource.ids":"1"}}', 'unknown'],
  [39, '{"Contains":{"resource.empty":"x"}}', 'false'],
  [40, '{"StartsWith":{"resource.status":"dr"}}', 'true'],
  [41, '{"EndsWith":{"resource.title":"x"}}', 'false'],
  [42, '{"StartsWith":{"resource.status":{"$ref":"resource.title"}}}', 'unknown'],
  [43, '{"NumericGreaterThan":{"resource.amount":99.5}}', 'true'],
  [44, '{"NumericLessThanEquals":{"resource.amount":100}}', 'true'],
  [45, '{"NumericEquals":{"resource.limit":100}}', 'unknown'],
  [46, '{"Not":{"NumericEquals":{"resource.limit":100}}}', 'unknown'],
  [47, '{"NumericLessThan":{"user.metadata.level":{"$ref":"resource.amount"}}}', 'true'],
  [48, '{"Equals":{"resource.status":"draft"},"NumericGreaterThan":{"resource.amount":500}}', 'false'],
  [49, '{"Equals":{"resource.status":"draft","resource.dept":"{{user.metadata.dept}}"}}', 'true'],
  [50, '{"Or":[{"Equals":{"resource.missing":1}},{"Equals":{"resource.id":"d1"}}]}', 'true'],
  [51, '{"And":[{"Equals":{"resource.id":"d1"}},{"Equals":{"resource.missing":1}}]}', 'unknown'],
  [52, '{"Not":{"And":[{"Equals":{"resource.id":"d2"}},{"Equals":{"resource.missing":1}}]}}', 'true'],
  [53, '{"Not":{"Or":[{"Equals":{"resource.id":"d2"}},{"Equals":{"resource.missing":1}}]}}', 'unknown'],
  [54, '{"Equals":{"resource.labels.0":"x"}}', 'unknown'],
  [55, '{"Equals":{"role.metadata.region":"eu"},"StringEquals":{"scope.projectId":"p1"}}', 'true'],
  [56, '{"Equals":{"resource.id":"d1"}}', 'unknown'],
  [57, '{"Equals":{"resource.__proto__.x":"y"}}', 'refused'],
  [58, '{"Equals":{}}', 'refused'],
  [58, '{"And":[]}', 'refused'],
  [58, '{"Not":{}}', 'refused'],
  [58, '{"In":{"resource.id":[]}}', 'refused'],
  [59, '{"Matches":{"resource.id":"d.*"}}', 'refused'],
  [60, '{"Equals":{"resource.ownerId":"x{{user.id}}"}}', 'refused'],
];

const truthOf = (raw: unknown, attributes: Attributes = context): string =>
  compileCondition(raw).evaluate(attributes);

const isRefused = (raw: unknown): boolean => parseCondition(raw, '').problems.length > 0;

describe('golden cases', () => {
  it('are all there', () => {
    expect(new Set(golden.map(([number]) => number)).size).toBe(60);
  });

  it.each(golden)('%i: %s is %s', (number, json, expected) => {
    const raw: unknown = JSON.parse(json);
    const { resource: _, ...rest } = context;
    expect(isRefused(raw)).toBe(expected === 'refused');
    expect(truthOf(raw, number === 56 ? rest : context)).toBe(expected === 'refused' ? 'unknown' : expected);
  });
});

describe('truth', () => {
  const resource = (value: unknown): Attributes => ({ resource: { value }, user: { id: 'u1', n: 1 } });
  const op = (operator: string, operand: unknown) => ({ [operator]: { 'resource.value': operand } });

  it.each<[string, unknown, unknown, string]>([
    ['StringIn', 'a', ['a', 'b'], 'true'],
    ['StringIn', 'c', ['a', 'b'], 'false'],
    ['StringIn', null, ['a'], 'unknown'],
    ['StringIn', 1, ['a'], 'unknown'],
    ['StringNotIn', 'c', ['a', 'b'], 'true'],
    ['StringNotIn', 'a', ['a'], 'false'],
    ['StringNotIn', null, ['a'], 'unknown'],
    ['In', null, [null], 'true'],
    ['In', null, ['a'], 'false'],
    ['In', 'a', [1, 'a'], 'true'],
    ['In', 'b', [1, 'a'], 'unknown'],
    ['NotIn', 'b', [1, 'a'], 'unknown'],
    ['In', {}, ['a'], 'unknown'],
    ['Contains', ['a', 1], 'a', 'true'],
    ['Contains', ['a', 1], 'b', 'unknown'],
    ['Contains', ['a', null], 'b', 'false'],
    ['Contains', ['a', {}], 'a', 'unknown'],
    ['Contains', ['a', ['b']], 'a', 'unknown'],
    ['Contains', ['a'], null, 'false'],
    ['Contains', [null], null, 'true'],
    ['Contains', {}, 'a', 'unknown'],
    ['Contains', [], { $ref: 'user.missing' }, 'unknown'],
    ['Contains', ['u1'], '{{user.id}}', 'true'],
    ['Equals', {}, 'a', 'unknown'],
    ['NotEquals', 'b', 'a', 'true'],
    ['NotEquals', {}, null, 'unknown'],
    ['Equals', new Date(0), null, 'unknown'],
    ['Equals', undefined, null, 'unknown'],
    ['Equals', true, 1, 'unknown'],
    ['Equals', 0, false, 'unknown'],
    ['Equals', '\u00e9', 'e\u0301', 'false'],
    ['Equals', '{{user.id}}', { $ref: 'user.id' }, 'false'],
    ['StartsWith', 'abc', 'abc', 'true'],
    ['StartsWith', 'abc', 'abcd', 'false'],
    ['StartsWith', 'abc', 'A', 'false'],
    ['EndsWith', 'abc', 'bc', 'true'],
    ['EndsWith', '', 'a', 'false'],
    ['EndsWith', ['a'], 'a', 'unknown'],
    ['NumericEquals', 1, { $ref: 'user.n' }, 'true'],
    ['NumericEquals', Number.POSITIVE_INFINITY, 1, 'unknown'],
    ['NumericGreaterThan', 1, 1, 'false'],
    ['NumericGreaterThanEquals', 1, 1, 'true'],
    ['NumericLessThan', 1, 1, 'false'],
    ['NumericLessThan', '1', 2, 'unknown'],
    ['NumericLessThanEquals', 2, 1, 'false'],
    ['NumericGreaterThan', null, 1, 'unknown'],
  ])('%s of %j and %j is %s', (operator, value, operand, expected) => {
    expect(isRefused(op(operator, operand))).toBe(false);
    expect(truthOf(op(operator, operand), resource(value))).toBe(expected);
  });

  it('reads a referenced list as data: its texts are no references', () => {
    const attributes = { resource: { value: 'u1' }, user: { id: 'u1', list: ['{{user.id}}'] } };
    expect(truthOf(op('In', { $ref: 'user.list' }), attributes)).toBe('false');
  });

  it('does not cut a character in two', () => {
    const attributes = { resource: { value: '😀', high: '\ud83d', low: '\ude00' } };
    expect(truthOf(op('StartsWith', { $ref: 'resource.high' }), attributes)).toBe('false');
    expect(truthOf(op('EndsWith', { $ref: 'resource.low' }), attributes)).toBe('false');
    expect(truthOf(op('StartsWith', '😀'), attributes)).toBe('true');
  });

  it('sees own members of plain objects only', () => {
    const inherited: unknown = Object.create({ value: 'a' });
    const instance = new (class {
      readonly value = 'a';
    })();
    const bare = Object.assign(Object.create(null) as object, { value: 'a' });
    const condition = op('Equals', 'a');
    expect(truthOf(condition, { resource: inherited })).toBe('unknown');
    expect(truthOf(condition, { resource: instance })).toBe('unknown');
    expect(truthOf(condition, { resource: bare })).toBe('true');
    for (const root of [null, undefined, 'text', ['a'], 1]) {
      expect(truthOf({ Equals: { 'resource.length': 1 } }, { resource: root })).toBe('unknown');
    }
    const inherits = compileCondition({ Equals: { 'resource.toString': 'x' } });
    expect(inherits.context({ resource: {} })).toEqual({});
  });
});
