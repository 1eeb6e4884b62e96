/*
 * Zod schemas for the kinds of values in conventions §8. Each converts input to the canonical form in which it is
 * stored, compared and returned, so features need not normalize values themselves. Every schema can be rendered with
 * `z.toJSONSchema(schema, { io: 'input' })`; a refusal has its detail code (errors §3) in `params.code`.
 *
 * @example z.strictObject({ name: text(1, 255), email, metadata: metadata.optional() })
 */

import { inexactCode, isInexact } from '@doorward/decision/inexact';
import { domainToASCII } from 'node:url';
import { z } from 'zod';
import type { DetailCode } from '../../errors.ts';

/**
 * An issue that `parseInput` reports with exactly this detail code. `path` is relative to the checked value, and `hint`
 * says what to send instead.
 */
export function refusal(code: DetailCode, input: unknown, path: PropertyKey[] = [], hint?: string) {
  return { code: 'custom' as const, params: { code, hint }, message: code, input, path };
}

/** A UUID in the text form of RFC 9562, any version including nil; converted to lower case. */
export const uuid = z.guid().toLowerCase();

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,3})?(?:Z|[+-](\d\d):(\d\d))$/;

/** Parses a time; undefined unless it is RFC 3339 with a time zone and a real date in the years 1 to 9999. */
function parseInstant(typed: string): Date | undefined {
  // RFC 3339 §5.6 allows `t` and `z`; Date.parse does not.
  const iso = typed.toUpperCase();
  const match = rfc3339.exec(iso);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = match
    .slice(1)
    .map((digits?: string) => Number(digits ?? 0));
  // Day 0 of the next month is the last day of this month.
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > days) return undefined;
  // Neither Date nor PostgreSQL can represent a leap second (:60); 24:00 is ISO 8601, not RFC 3339.
  if (hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59) return undefined;
  const instant = new Date(iso);
  // An offset can move a date to year 0, which PostgreSQL cannot store, or to year 10000, which RFC 3339 cannot
  // express.
  const utcYear = instant.getUTCFullYear();
  return utcYear >= 1 && utcYear <= 9999 ? instant : undefined;
}

/** A name for use in URLs: lower-case words separated by single hyphens. */
export const slug = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/);

/** RFC 3339 with time, zone and at most 3 fraction digits, converted to a Date. Impossible dates are refused. */
export const isoInput = z
  .string()
  .meta({ format: 'date-time' })
  .transform((typed, context) => {
    const instant = parseInstant(typed);
    if (instant) return instant;
    context.issues.push(refusal('format', typed));
    return z.NEVER;
  });

/** A time in an output. Date.toJSON writes it in UTC, with `Z` and 3 digits. */
export const iso = z.date();

/** An object with arbitrary JSON members. They come from parsed JSON, so they are not checked. */
export const jsonObject = z.record(z.string(), z.unknown() as z.ZodType<Json, Json>);

/** The argument of z.toJSONSchema's `override`. */
interface OverrideContext {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

/**
 * The `override` for z.toJSONSchema with `unrepresentable: 'any'`. Renders dates as date-time strings, and removes
 * redundant keywords: the bounds of safe integers, the pattern of a UUID in addition to its format, and `propertyNames`
 * for plain strings.
 */
export function jsonSchemaOverride({ zodSchema, jsonSchema }: OverrideContext): void {
  if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format === 'uuid') delete jsonSchema.pattern;
  if (isAnyString(jsonSchema.propertyNames)) delete jsonSchema.propertyNames;
  // Examples show the input. Zod drops them from schemas that transform it, so they are added here.
  const { examples } = (z.globalRegistry.get(zodSchema) ?? {}) as { readonly examples?: unknown[] };
  if (examples !== undefined) jsonSchema['examples'] = examples;
}

const isAnyString = (schema: unknown): boolean => JSON.stringify(schema) === '{"type":"string"}';

/** Options for rendering any schema of Doorward; add `io`. */
export const jsonSchemaOptions = { unrepresentable: 'any', override: jsonSchemaOverride } as const;

// PostgreSQL refuses NUL and lone surrogates. Other control characters are refused because terminals interpret them.
const brokenText = /[\p{Cc}\p{Cs}]/u;
const brokenMultiline = /(?![\n\t])[\p{Cc}\p{Cs}]/u;

function countCodePoints(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}

// More than ten marks on one letter are rare in any script, so 30 are allowed.
const longMarkRun = /\p{M}{31}/u;

/**
 * Returns why a text must not be normalized: it is certainly longer than `max` code points, or has too many combining
 * marks in a row. Returns undefined if it may be normalized. Normalization sorts each run of combining marks in
 * quadratic time, so a megabyte of marks would block the process for minutes. The limits are a small multiple of what
 * any script needs.
 */
export function normalizationFault(typed: string, max: number): 'too_long' | 'format' | undefined {
  if (typed.length > 4 * max) return 'too_long';
  return longMarkRun.test(typed) ? 'format' : undefined;
}

/**
 * Text of `min` to `max` Unicode code points, counted after NFC normalization and trimming. Lone surrogates and control
 * characters are refused, except newline and tab with `multiline`. Detail codes: too_short, too_long, format.
 */
export function text(
  min: number,
  max: number,
  { multiline = false }: { multiline?: boolean } = {},
): z.ZodString {
  const broken = multiline ? brokenMultiline : brokenText;
  return z
    .string()
    .check((payload) => {
      const fault = normalizationFault(payload.value, max);
      if (fault) {
        payload.issues.push(refusal(fault, payload.value));
        return;
      }
      const value = payload.value.normalize('NFC').trim();
      payload.value = value;
      // A code point has at most two UTF-16 units, so a longer text is too long without counting.
      const length = value.length > 2 * max ? value.length : countCodePoints(value);
      if (length < min) payload.issues.push(refusal('too_short', value));
      else if (length > max) payload.issues.push(refusal('too_long', value));
      else if (broken.test(value)) payload.issues.push(refusal('format', value));
    })
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });
}

/** The name of a row, which can be a key in a policy document. `__proto__` is refused, as in every JSON body. */
export const rowName = text(1, 255).check((payload) => {
  if (payload.value === '__proto__') payload.issues.push(refusal('not_allowed', payload.value));
});

const emailMaxLength = 254;
// Excludes the special characters of RFC 5322: in a mail header, `a,b@example.org` would be two addresses. Also
// excludes text that a mail header would decode (`=?utf-8?q?…?=`, RFC 2047), or that a mail program would read as an
// option (`-`).
const emailLocalPart = /^(?!-)(?!.*=\?)[^\s\p{C}"(),:;<>@[\]\\]+$/u;
// Letters of any script, but no character that the URL parser in domainToASCII interprets (`/`, `:`, `%`, `[` …).
const emailDomain = /^[\p{L}\p{M}\p{N}.\u3002\uFF0E\uFF61-]+$/u;
const asciiDomain =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the canonical form of an address, or the detail code of an invalid one. Idempotent. */
function canonicalEmail(typed: string): { canonical: string } | { refused: DetailCode } {
  const fault = normalizationFault(typed, emailMaxLength);
  if (fault) return { refused: fault };
  // Lower-casing can create a sequence that composes, so NFC is applied again.
  const address = typed.normalize('NFC').trim().toLowerCase().normalize('NFC');
  if (address.length > emailMaxLength) return { refused: 'too_long' };
  const at = address.indexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  const domain = address.slice(at + 1);
  if (!emailLocalPart.test(local) || !emailDomain.test(domain)) return { refused: 'format' };
  const host = domainToASCII(domain);
  if (host !== 'localhost' && !asciiDomain.test(host)) return { refused: 'format' };
  const canonical = `${local}@${host}`;
  return canonical.length > emailMaxLength ? { refused: 'too_long' } : { canonical };
}

/**
 * An e-mail address in canonical form: lower case, with the domain as A-labels, at most 254 characters. `localhost` is
 * valid here; code that knows the configuration refuses it in production.
 */
export const email = z
  .string()
  .check((payload) => {
    const result = canonicalEmail(payload.value);
    if ('canonical' in result) payload.value = result.canonical;
    else payload.issues.push(refusal(result.refused, payload.value));
  })
  .meta({ format: 'email', maxLength: emailMaxLength });

const urlMaxLength = 2048;

function urlSchema(scheme: RegExp) {
  return z
    .string()
    .check((payload) => {
      const typed = payload.value;
      if (typed.length > urlMaxLength) payload.issues.push(refusal('too_long', typed));
      else if (!scheme.test(typed) || !isPlainUrl(typed)) payload.issues.push(refusal('format', typed));
    })
    .meta({ format: 'uri', maxLength: urlMaxLength });
}

/** Refuses everything that the URL parser would silently drop or rewrite, because the URL is stored as typed. */
function isPlainUrl(typed: string): boolean {
  if (/[\s\p{Cc}\p{Cs}\\#]/u.test(typed) || !URL.canParse(typed)) return false;
  const authority = typed.split(/[/?]/, 3)[2] ?? '';
  return !authority.includes('@');
}

/** An absolute http or https URL of at most 2048 characters, without credentials and fragment; stored as typed. */
export const url = urlSchema(/^https?:\/\/[^/?]/i);

/** Like `url`, but https only. */
export const httpsUrl = urlSchema(/^https:\/\/[^/?]/i);

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  [key: string]: Json;
}

const metadataLimits = { bytes: 8192, depth: 5, keys: 64 };
const metadataKey = /^[A-Za-z0-9_.-]{1,64}$/;
const numberHints: ReadonlySet<DetailCode> = new Set(['too_big', 'too_small']);
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Returns the first violation at or below `value`, with its path; undefined if there is none. The depth of the root is
 * 1.
 */
function metadataFault(
  value: unknown,
  depth: number,
  walk: { keys: number },
): { code: DetailCode; path: PropertyKey[] } | undefined {
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return { code: 'type', path: [] };
    // The number was already rounded by parsing, so the stored value would differ from the sent value (RFC 8259 §6).
    return isInexact(value) ? { code: inexactCode(value), path: [] } : undefined;
  }
  // PostgreSQL's jsonb refuses exactly NUL and lone surrogates.
  if (typeof value === 'string') return /[\0\p{Cs}]/u.test(value) ? { code: 'format', path: [] } : undefined;
  if (typeof value !== 'object') return { code: 'type', path: [] };
  if (depth > metadataLimits.depth) return { code: 'too_deep', path: [] };
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value)) return { code: 'type', path: [] };
  for (const [key, child] of Object.entries(value)) {
    if (!isArray) {
      // An invalid key is reported at its object and not echoed, because it may contain anything.
      if (!metadataKey.test(key) || forbiddenKeys.has(key)) return { code: 'format', path: [] };
      if (++walk.keys > metadataLimits.keys) return { code: 'too_long', path: [] };
    }
    const fault = metadataFault(child, depth + 1, walk);
    if (fault) return { code: fault.code, path: [isArray ? Number(key) : key, ...fault.path] };
  }
  return undefined;
}

/**
 * A JSON object of at most 8 KiB and 64 keys (too_long), at most 5 levels of objects and arrays (too_deep), with keys
 * that match the pattern and do not name a prototype (format). Integers beyond ±(2^53 - 1) are refused (too_big,
 * too_small), because they would lose digits. Send them as text.
 *
 * Based on `unknown`, because z.record silently drops an own `__proto__` key, which must be refused.
 */
export const metadata = z
  .unknown()
  .check((payload) => {
    const { value } = payload;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      payload.issues.push({ code: 'invalid_type', expected: 'object', input: value });
      return;
    }
    const fault = metadataFault(value, 1, { keys: 0 });
    const hint = fault && numberHints.has(fault.code) ? 'send a number of so many digits as text' : undefined;
    if (fault) payload.issues.push(refusal(fault.code, value, fault.path, hint));
    else if (Buffer.byteLength(JSON.stringify(value)) > metadataLimits.bytes) {
      payload.issues.push(refusal('too_long', value));
    }
  })
  .meta({
    type: 'object',
    additionalProperties: true,
    description:
      'Your own JSON, stored unchanged: at most 8 KiB, 64 keys and 5 levels; integers beyond 2^53 - 1 as text.',
  }) as z.ZodType<JsonObject, JsonObject>;
