import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const words = ['order', 'orders', 'invoice', 'DATABASE_URL', 'AUTH_PASSWORD_MIN_LENGTH'];

test.each([
  ['ordr', 'order'],
  ['odrer', 'order'],
  ['orderss', 'orders'],
  ['invioce', 'invoice'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['AUTH_PASSWORD_MINLENGTH', 'AUTH_PASSWORD_MIN_LENGTH'],
  ['customer', undefined],
  ['a'.repeat(129), undefined],
])('%s: %s', (word, expected) => expect(nearest(word, words)).toBe(expected));
