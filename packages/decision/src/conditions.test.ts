import { describe, expect, it } from 'vitest';
import { assertCondition, canonicalCondition, compileCondition, ConditionError } from './conditions.ts';

describe('compileCondition', () => {
  it('lists every path and reference once, with their values', () => {
    const compiled = compileCondition({
      Equals: { 'resource.ownerId': '{{user.id}}', 'resource.missing': 1 },
      Or: [{ Not: { In: { 'user.id': ['a', { $ref: 'scope.id' }] } } }],
    });
    const attributes = { user: { id: 'u1' }, scope: { id: 's1' }, resource: { ownerId: null } };
    expect(compiled.paths).toEqual(['resource.ownerId', 'user.id', 'resource.missing', 'scope.id']);
    expect(compiled.context(attributes)).toStrictEqual({
      'resource.ownerId': null,
      'user.id': 'u1',
      'scope.id': 's1',
    });
  });

  it('is unconditional for null and {} only', () => {
    for (const raw of [null, {}]) {
      const compiled = compileCondition(raw);
      expect([compiled.unconditional, compiled.paths]).toEqual([true, []]);
      expect([compiled.evaluate({}), compiled.context({})]).toEqual(['true', {}]);
    }
    for (const raw of [undefined, [], '', 0, false, 'null', { And: [] }]) {
      const compiled = compileCondition(raw);
      expect([compiled.unconditional, compiled.evaluate({})]).toEqual([false, 'unknown']);
      expect([compiled.paths, compiled.context({})]).toEqual([[], {}]);
    }
  });

  it('answers the same if the values are read first, also for a condition that does not parse', () => {
    const user = { id: 'u1' };
    const [own, none] = [compileCondition({ Equals: { 'user.id': 'u1' } }), compileCondition({ And: [] })];
    const values = own.read({ user });
    expect([values, own.truthOf(values), own.contextOf(values)]).toEqual([
      ['u1'],
      'true',
      { 'user.id': 'u1' },
    ]);
    expect([none.read({ user }), none.truthOf([]), none.contextOf([])]).toEqual([[], 'unknown', {}]);
    expect(compileCondition(null).truthOf([])).toBe('true');
  });

  it.each<[unknown, boolean, boolean]>([
    [{ Equals: { 'role.name': 'a' } }, true, false],
    [{ Equals: { 'resource.ownerId': '{{group.id}}' } }, false, true],
    [{ Equals: { 'user.role': 'role.name', 'resource.group': 'group.name' } }, false, false],
    [null, false, false],
    [[], false, false],
  ])('knows whether %j reads the role or the group', (raw, readsRole, readsGroup) => {
    expect(compileCondition(raw)).toMatchObject({ readsRole, readsGroup });
  });

  it('compiles an object once', () => {
    const condition = { Equals: { 'user.id': 'u1' } };
    expect(compileCondition(condition)).toBe(compileCondition(condition));
    expect(compileCondition({ ...condition })).not.toBe(compileCondition(condition));
  });

  it('is never met if it throws when it is read', () => {
    const broken = {
      get Equals(): never {
        throw new Error('unreadable');
      },
    };
    expect(compileCondition(broken).evaluate({})).toBe('unknown');
    expect(canonicalCondition(broken)).toBe('unreadable');
  });
});

describe('canonicalCondition', () => {
  const same = (left: unknown, right: unknown) => canonicalCondition(left) === canonicalCondition(right);

  it('ignores order of members, spelling of references, and null against {}', () => {
    expect([null, {}].map(canonicalCondition)).toEqual(['null', 'null']);
    expect(same({ Equals: { 'user.id': '{{user.id}}' } }, { Equals: { 'user.id': '{{user.name}}' } })).toBe(
      false,
    );
    expect(
      same(
        { In: { 'user.id': ['{{user.name}}'] }, Equals: { 'user.b': 1, 'user.a': { $ref: 'role.id' } } },
        { Equals: { 'user.a': '{{role.id}}', 'user.b': 1 }, In: { 'user.id': [{ $ref: 'user.name' }] } },
      ),
    ).toBe(true);
  });

  it('reads an object once', () => {
    let reads = 0;
    const condition = {
      get Equals() {
        reads++;
        return { 'user.id': 'u1' };
      },
    };
    expect(same(condition, condition)).toBe(true);
    expect(reads).toBe(1);
  });

  it('distinguishes everything else', () => {
    const all = [
      null,
      undefined,
      [],
      { Not: {} },
      { Equals: { 'user.id': 'a' } },
      { Equals: { 'user.id': 1 } },
      { Equals: { 'user.id': '1' } },
      { Equals: { 'user.id': 'user.id' } },
      { Equals: { 'user.id': '{{user.id}}' } },
      { Equals: { 'user.id': '{{user}}' } },
      { Equals: { 'user.id': '{{user.id' } },
      { Equals: { 'user.id': '{{user.idxx' } },
      { Equals: { 'user.id': 'xxuser.id}}' } },
      { Equals: { 'user.id': 'xxuser.idxx' } },
      { Equals: { 'user.id': { $ref: 'user.id', also: 1 } } },
      { Equals: { 'user.id': { $ref: '{{user.id}}' } } },
      { NotEquals: { 'user.id': 'a' } },
      { In: { 'user.id': ['a', 'b'] } },
      { In: { 'user.id': ['b', 'a'] } },
    ];
    expect(new Set(all.map(canonicalCondition)).size).toBe(all.length);
  });
});

describe('assertCondition', () => {
  it.each([null, {}, { Equals: { 'resource.ownerId': '{{user.id}}' } }])('accepts %j', (condition) => {
    expect(() => assertCondition(condition)).not.toThrow();
  });

  it('names each problem by its place and kind, and no value', () => {
    const refuse = () => assertCondition({ Equals: { 'user.x': ['secret'] }, Matches: {} }, 'policy');
    expect(refuse).toThrow(ConditionError);
    expect(refuse).toThrow('Not a condition: policy.Equals.user.x (operand), policy.Matches (operator).');
  });

  it('names them below "condition" by default, in an error with its own name', () => {
    let caught: unknown;
    try {
      assertCondition({ Matches: {} });
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({
      name: 'ConditionError',
      problems: [{ path: 'condition.Matches', code: 'operator' }],
    });
  });
});
