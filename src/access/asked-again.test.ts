import { expect, it } from 'vitest';
import type { Principal } from '../kernel/context.ts';
import type { ScopeInput } from '../kernel/scope.ts';
import { createAskedAgain } from './asked-again.ts';

const ada = { userId: 'ada' } as Principal;
const grace = { userId: 'grace' } as Principal;
const keys = { scope: 'of the scope', rights: 'of the rights' };
const wordsOf = (id: string): ScopeInput => ({ tenant: 'organization', id });

it('knows where the very words of the last question led the same caller', () => {
  const again = createAskedAgain();
  const asked = Object.freeze(wordsOf('one'));
  expect(again.keys(ada, asked)).toBeUndefined();
  again.note(ada, asked, keys);
  expect(again.keys(ada, asked)).toBe(keys);
  expect(again.keys(grace, asked)).toBeUndefined();
  // Equal words are not the same: only those that were looked up are known.
  expect(again.keys(ada, Object.freeze(wordsOf('one')))).toBeUndefined();
});

it('remembers the last words only', () => {
  const again = createAskedAgain();
  const [first, second] = [Object.freeze(wordsOf('one')), Object.freeze(wordsOf('two'))];
  again.note(ada, first, keys);
  again.note(ada, second, { ...keys });
  expect(again.keys(ada, first)).toBeUndefined();
});

it('does not remember words that may come to name another scope', () => {
  const again = createAskedAgain();
  const asked = wordsOf('one');
  again.note(ada, asked, keys);
  expect(again.keys(ada, asked)).toBeUndefined();
});
