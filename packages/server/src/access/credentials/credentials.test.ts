import { expect, it } from 'vitest';
import { commonScopes } from '@doorward/decision/app-scopes';

it.each<[string, string[] | null, string[] | null, string[] | null]>([
  ['neither restricts', null, null, null],
  ['the user alone', null, ['a:b'], ['a:b']],
  ['what both name, in the order of the app', ['a:b', 'c:d', 'e:f'], ['e:f', 'a:b', 'x:y'], ['a:b', 'e:f']],
  ['the app alone, but for built-in pairs', ['a:b', 'Role:Query', 'Zone:x', 'Ae:x'], null, ['a:b']],
  ['a built-in pair that the user named too', ['a:b', 'Role:Query'], ['Role:Query'], ['Role:Query']],
  ['nothing in common', ['a:b'], ['c:d'], []],
  ['nothing at all', [], null, []],
  ['a slug with a capital inside is no built-in', ['aB:c'], null, ['aB:c']],
])('what an app may use: %s', (_, ofApp, consented, expected) => {
  expect(commonScopes(ofApp, consented)).toEqual(expected);
});
