import { describe, expect, it } from 'vitest';
import type { Attributes } from './conditions-eval.ts';
import { failureOf, proposeSettings } from './conditions-failure.ts';

const given: Attributes = {
  user: { id: 'u1', level: 3, teams: ['a', 'b'], on: true, mixed: [{}, 'm'] },
  resource: { status: 'final', amount: 10, tags: ['x'], mixed: [{}, 'm'], deep: { n: 1 } },
};
const isDraft = { Equals: { 'resource.status': 'draft' } };
const isFinal = { Equals: { 'resource.status': 'final' } };
const isMissing = { Equals: { 'resource.missing': 1 } };
const status = { operator: 'Equals', path: 'resource.status', actual: 'final' };
const draft = { ...status, expected: 'draft', outcome: 'false' };

describe('the comparison that made a condition fail', () => {
  it.each<[string, unknown, unknown]>([
    ['alone', isDraft, draft],
    [
      'a missing attribute',
      isMissing,
      { operator: 'Equals', path: 'resource.missing', expected: 1, outcome: 'unknown' },
    ],
    [
      'a missing reference',
      { Equals: { 'resource.status': '{{user.missing}}' } },
      { ...status, outcome: 'unknown' },
    ],
    ['the false one of an And', { And: [isFinal, isDraft, isMissing] }, draft],
    [
      'the unknown one of an And',
      { And: [isFinal, isMissing] },
      { operator: 'Equals', path: 'resource.missing', expected: 1, outcome: 'unknown' },
    ],
    ['the first of an Or', { Or: [isDraft, { Equals: { 'resource.amount': 1 } }] }, draft],
    [
      'the unknown one of an Or',
      { Or: [isDraft, isMissing] },
      { operator: 'Equals', path: 'resource.missing', expected: 1, outcome: 'unknown' },
    ],
    [
      'under a Not',
      { Not: isFinal },
      { ...status, operator: 'Not Equals', expected: 'final', outcome: 'false' },
    ],
    ['under two Nots', { Not: { Not: isDraft } }, draft],
    [
      'under three',
      { Not: { Not: { Not: isFinal } } },
      { ...status, operator: 'Not Equals', expected: 'final', outcome: 'false' },
    ],
    [
      'the true one of an Or under a Not',
      { Not: { Or: [isDraft, isFinal] } },
      { ...status, operator: 'Not Equals', expected: 'final', outcome: 'false' },
    ],
    ['of several paths', { Equals: { 'resource.amount': 10, 'resource.status': 'draft' } }, draft],
    [
      'with a list',
      { In: { 'resource.status': ['draft', '{{user.id}}'] } },
      { ...draft, operator: 'In', expected: ['draft', 'u1'] },
    ],
  ])('%s', (_, condition, expected) => {
    expect(failureOf(condition, given)).toStrictEqual(expected);
  });

  it('is undefined if the condition is met, is unconditional, or does not parse', () => {
    for (const condition of [isFinal, null, {}, { Bad: 1 }, undefined])
      expect(failureOf(condition, given)).toBeUndefined();
  });
});

describe('proposed values', () => {
  const proposed = (condition: unknown, limit = 100) =>
    [...proposeSettings(condition, given)].slice(0, limit).map(({ path: { text }, value }) => [text, value]);
  const about = (path: string, ...values: unknown[]) => values.map((value) => [path, value]);

  it.each<[string, unknown, unknown[]]>([
    ['a text', isDraft, about('resource.status', 'draft', null, '')],
    [
      'a number, and what is next to it',
      { NumericLessThan: { 'resource.amount': 5 } },
      about('resource.amount', 5, 6, 4, null, ''),
    ],
    ['a truth, and the other', { Equals: { 'user.on': false } }, about('user.on', false, true, null, '')],
    [
      'the items of a list',
      { In: { 'resource.status': ['a', 1] } },
      about('resource.status', 'a', 1, 2, 0, null, ''),
    ],
    [
      'one more of what is contained',
      { Contains: { 'user.teams': 'c' } },
      about('user.teams', ['a', 'b', 'c'], []),
    ],
    [
      'the first, where nothing is there to be in',
      { Contains: { 'user.none': 'c' } },
      about('user.none', ['c'], []),
    ],
    [
      'not what contains a list',
      { Contains: { 'user.teams': '{{user.teams}}' } },
      [...about('user.teams', ['a', 'b', 'a', 'b'], []), ...about('user.teams', 'a', 'b')],
    ],
    [
      'either side of a reference',
      { Equals: { 'resource.amount': '{{user.level}}' } },
      [...about('resource.amount', 3, 4, 2, null, ''), ...about('user.level', 10, 11, 9)],
    ],
    [
      'what is referred to, if it is missing',
      { Equals: { 'resource.amount': '{{user.none}}' } },
      about('user.none', 10, 11, 9),
    ],
    [
      'the other side, if the attribute is missing',
      { Equals: { 'resource.none': '{{user.id}}' } },
      about('resource.none', 'u1', null, ''),
    ],
    ['nothing, if both are', { Equals: { 'resource.none': '{{user.none}}' } }, []],
    [
      'a list that is referred to, with the value in it',
      { In: { 'resource.status': '{{user.teams}}' } },
      [...about('resource.status', 'a', 'b', null, ''), ...about('user.teams', ['a', 'b', 'final'], [])],
    ],
    [
      'the same for texts',
      { StringNotIn: { 'resource.status': '{{user.teams}}' } },
      [...about('resource.status', 'a', 'b', null, ''), ...about('user.teams', ['a', 'b', 'final'], [])],
    ],
    [
      'a list where there is none',
      { NotIn: { 'resource.status': '{{user.none}}' } },
      about('user.none', ['final'], []),
    ],
    [
      'and for texts',
      { StringIn: { 'resource.status': '{{user.id}}' } },
      [...about('resource.status', 'u1', null, ''), ...about('user.id', ['final'], [])],
    ],
    [
      'an item that is referred to',
      { In: { 'resource.status': ['{{user.id}}', 'k'] } },
      [...about('resource.status', 'u1', 'k', null, ''), ...about('user.id', 'final')],
    ],
    [
      'an item to be contained',
      { Contains: { 'resource.tags': '{{user.id}}' } },
      [...about('resource.tags', ['x', 'u1'], []), ...about('user.id', 'x')],
    ],
    [
      'nothing for what is no value',
      { Equals: { 'resource.deep': '{{user.id}}' } },
      about('resource.deep', 'u1', null, ''),
    ],
    [
      'nor for what contains nothing',
      { Contains: { 'resource.status': '{{user.id}}' } },
      about('resource.status', ['u1'], []),
    ],
    [
      'of a list what is a value',
      { In: { 'resource.status': '{{user.mixed}}' } },
      [...about('resource.status', 'm', null, ''), ...about('user.mixed', [{}, 'm', 'final'], [])],
    ],
    [
      'and of what contains',
      { Contains: { 'resource.mixed': '{{user.id}}' } },
      [...about('resource.mixed', [{}, 'm', 'u1'], []), ...about('user.id', 'm')],
    ],
    [
      'each leaf, in order',
      { Not: { Or: [isDraft, { And: [isFinal] }] } },
      [...about('resource.status', 'draft', null, ''), ...about('resource.status', 'final', null, '')],
    ],
    ['nothing for what cannot be met', { Bad: 1 }, []],
    ['nothing for what always is', null, []],
  ])('%s', (_, condition, expected) => {
    expect(proposed(condition)).toEqual(expected);
  });

  it('are the first five of a list, and limited to the requested number', () => {
    const many = { In: { 'resource.status': Array.from('abcdefgh') } };
    expect(proposed(many)).toEqual(about('resource.status', 'a', 'b', 'c', 'd', 'e', null, ''));
    expect(proposed(many, 2)).toEqual(about('resource.status', 'a', 'b'));
    expect(proposed(many, 0)).toEqual([]);
    const teams = { user: { id: 'u1' }, resource: { list: Array.from('abcdefgh') } };
    const contained = [...proposeSettings({ Contains: { 'resource.list': '{{user.id}}' } }, teams)];
    expect(contained.slice(2).map(({ value }) => value)).toEqual(Array.from('abcde'));
  });

  it('are never a number that equals the current one after rounding', () => {
    const at = (value: number) =>
      [...proposeSettings({ Equals: { 'resource.n': value } }, {})].map(({ value: item }) => item);
    expect(at(Number.MAX_SAFE_INTEGER)).toEqual([2 ** 53 - 1, 2 ** 53 - 2, null, '']);
    expect(at(-Number.MAX_SAFE_INTEGER)).toEqual([1 - 2 ** 53, 2 - 2 ** 53, null, '']);
    expect(at(0.5)).toEqual([0.5, 1.5, -0.5, null, '']);
  });
});
