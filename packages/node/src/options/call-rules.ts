import type { Hooks } from '../contracts/hooks.ts';
import type { Fetch } from '../contracts/types.ts';
import { flag, integer, isFunction, isObject, optional } from './read-options.ts';

/** Rules of the options that both kinds of clients share. */
export const callRules = {
  url: (value: unknown): unknown => value,
  allowHttp: flag,
  token: optional<string | (() => string | Promise<string>)>(
    'a text or a function',
    (value) => typeof value === 'string' || isFunction(value),
  ),
  scope: (value: unknown): unknown => value,
  timeoutMs: integer(100, 120_000, 5000),
  deadlineMs: integer(100, 120_000, 15_000),
  retries: integer(0, 10, 2),
  maxRetryAfterMs: integer(0, 120_000, 10_000),
  hooks: optional<Hooks>('an object of functions', isObject),
  fetch: optional<Fetch>('a function', isFunction),
  language: optional<string>(
    'a list of languages, as in `Accept-Language`',
    (value) => typeof value === 'string' && /^[\w,;=.* -]{1,255}$/.test(value),
  ),
};
