import type { z } from 'zod';
import { detailMessages, fail, type Detail, type DetailCode } from '../../errors.ts';
import { fixOf, sendOneOf, useOneOf } from './fix.ts';

/** The maximum number of details in an error (conventions §2). */
const maxDetails = 20;

// A path contains field names from the caller, and a name of a megabyte must not be echoed.
const maxSegmentLength = 64;

/** Parses input with a synchronous schema. @throws VALIDATION_ERROR with one detail per fault, in field order */
export function parseInput<S extends z.ZodType>(schema: S, raw: unknown): z.output<S> {
  const result = schema.safeParse(raw, { reportInput: true });
  if (result.success) return result.data;
  const faults = faultsOf(result.error.issues);
  const details = faults.map(({ path, code }) => ({ path, code }));
  const hints = faults.flatMap(({ path, hint }) => (hint === undefined ? [] : [{ path, hint }]));
  const fix = fixOf(hints, details.length);
  throw fail('VALIDATION_ERROR', { details, ...(fix === undefined ? {} : { fix }) });
}

/** A detail of the error, with a hint about accepted values if there is one. */
interface Fault extends Detail {
  readonly hint?: string | undefined;
}

/**
 * Converts zod issues to faults: at most 20, in the order of the issues, without values. The parse must use
 * `reportInput: true`; otherwise a missing field looks like an invalid one.
 */
export function faultsOf(issues: readonly z.core.$ZodIssue[]): Fault[] {
  const faults = new Map<string, Fault>();
  for (const fault of eachFault(issues, [])) {
    faults.set(`${fault.code} ${fault.path}`, fault);
    if (faults.size === maxDetails) break;
  }
  return [...faults.values()];
}

function* eachFault(issues: readonly z.core.$ZodIssue[], parents: readonly PropertyKey[]): Generator<Fault> {
  for (const issue of issues) {
    const path = [...parents, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) yield { path: dotted([...path, key]), code: 'unknown_field' };
    } else if (issue.code === 'invalid_union' && issue.input !== undefined && issue.errors.length > 0) {
      const kinds = kindsOf(issue);
      if (kinds) yield { path: dotted(path), code: 'type', hint: sendOneOf(kinds) };
      else yield* eachFault(closestOption(issue.errors), path);
    } else if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
      // The inner issues are about the key or element itself, so they get the same path.
      yield* eachFault(issue.issues, path);
    } else {
      const code = codeOf(issue);
      yield { path: dotted(path), code, hint: hintOf(issue, code) };
    }
  }
}

/** The types that the options of a union expect, if the input has none of them; otherwise null. */
function kindsOf({ errors }: z.core.$ZodIssueInvalidUnion): string[] | null {
  const kinds = errors.map((issues) => issues.find(isTypeMismatch)?.expected);
  return kinds.every((kind) => kind !== undefined) ? kinds : null;
}

const isTypeMismatch = (issue: z.core.$ZodIssue): issue is z.core.$ZodIssueInvalidType =>
  issue.code === 'invalid_type' && issue.path.length === 0;

function hintOf(issue: PlainIssue, code: DetailCode): string | undefined {
  if (code === 'type') return issue.code === 'invalid_type' ? sendOneOf([issue.expected]) : undefined;
  if (issue.code === 'custom' && typeof issue.params?.['hint'] === 'string') return issue.params['hint'];
  if (code === 'too_big' && issue.code === 'custom') return atMost(issue.params?.['max']);
  if (issue.code === 'too_big' && issue.origin === 'array') return atMost(issue.maximum);
  if (code !== 'enum') return undefined;
  const allowed: unknown =
    issue.code === 'invalid_value'
      ? issue.values
      : issue.code === 'custom'
        ? issue.params?.['allowed']
        : issue.code === 'invalid_union' && 'options' in issue
          ? issue.options
          : undefined;
  return Array.isArray(allowed) ? useOneOf(allowed.map(String), issue.input) : undefined;
}

const atMost = (max: unknown): string | undefined =>
  typeof max === 'number' || typeof max === 'bigint' ? `send at most ${max}` : undefined;

type PlainIssue = Exclude<
  z.core.$ZodIssue,
  z.core.$ZodIssueUnrecognizedKeys | z.core.$ZodIssueInvalidKey | z.core.$ZodIssueInvalidElement
>;

function codeOf(issue: PlainIssue): DetailCode {
  // Any schema may report a missing field, except custom checks, which never see undefined.
  if (issue.code !== 'custom' && issue.input === undefined) return 'required';
  switch (issue.code) {
    case 'invalid_type':
    case 'not_multiple_of':
      return 'type';
    case 'invalid_value':
      return 'enum';
    case 'invalid_format':
      return 'format';
    case 'too_small':
      return isMeasured(issue.origin) ? 'too_small' : 'too_short';
    case 'too_big':
      return isMeasured(issue.origin) ? 'too_big' : 'too_long';
    case 'invalid_union':
      return discriminatorCode(issue);
    case 'custom': {
      const code: unknown = issue.params?.['code'];
      return isDetailCode(code) ? code : 'format';
    }
  }
}

/** Whether a value of this type can be too small or too big. Values with a length are too short or too long instead. */
function isMeasured(origin: string): boolean {
  return origin === 'number' || origin === 'int' || origin === 'bigint' || origin === 'date';
}

/**
 * The code for a union issue without option errors: the discriminator is missing or unknown, or an xor is ambiguous.
 */
function discriminatorCode(issue: z.core.$ZodIssueInvalidUnion): DetailCode {
  const discriminator = 'discriminator' in issue ? issue.discriminator : undefined;
  if (typeof discriminator !== 'string') return 'format';
  const { input } = issue;
  const hasDiscriminator = typeof input === 'object' && input !== null && Object.hasOwn(input, discriminator);
  return hasDiscriminator ? 'enum' : 'required';
}

/**
 * Returns the issues of the union option that the caller most likely meant. Prefers an option whose type matches, then
 * the option with the deepest issue, then with the fewest issues, then the first.
 */
function closestOption(options: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] {
  const rank = (issues: readonly z.core.$ZodIssue[]) => {
    const fits = !issues.some(isTypeMismatch);
    return [fits ? 1 : 0, Math.max(...issues.map((issue) => issue.path.length)), -issues.length] as const;
  };
  return options.reduce((best, option) => {
    const [a, b] = [rank(option), rank(best)];
    const difference = a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
    return difference > 0 ? option : best;
  });
}

function isDetailCode(code: unknown): code is DetailCode {
  return typeof code === 'string' && Object.hasOwn(detailMessages, code);
}

/** Formats a path for details, with long names shortened. */
export function dotted(path: readonly PropertyKey[]): string {
  return path
    .map((segment) => {
      const name = String(segment);
      return name.length > maxSegmentLength ? `${name.slice(0, maxSegmentLength)}…` : name;
    })
    .join('.');
}
