import { describe, expect, it } from 'vitest';
import { assertCondition, canonicalCondition, compileCondition } from './conditions.ts';

describe('compileCondition', () => {
  it('knows every path and reference once, and their values', () => {
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

  it('returns null for null and {} from assertCondition', () => {
    expect([null, {}].map((raw) => assertCondition(raw))).toEqual([null, null]);
    const written = { Equals: { 'user.id': 'u1' } };
    expect(assertCondition(written)).toBe(written);
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

  it('tells the rest apart', () => {
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
