import { usageFault } from '../../fault.ts';
import { suggestion } from '../../nearest.ts';
import type { PolicyFile } from '../policy-file.ts';

type Value = Readonly<Record<string, unknown>>;

const members = ['name', 'subject', 'permission', 'context', 'expect', 'tokenFrom', 'scope'] as const;

/**
 * Checks the form of the tests, so that a typing error doesn't go unnoticed. The service checks whole documents, but
 * never sees a file that contains only tests.
 * @throws Fault with the position of the error
 */
export async function assertTests({ policy, placeOf }: PolicyFile): Promise<void> {
  const { decisionReasons } = await import('@doorward/decision');
  const { tests = [], scope, roles } = policy;
  const ownRoles = isObject(roles) ? Object.keys(roles) : [];
  const refuse = (at: string, message: string, hint?: string) =>
    usageFault(`${placeOf(`policy.${at}`) ?? ''} ${at} ${message}.`.trimStart(), hint);
  if (!Array.isArray(tests)) throw refuse('tests', 'is a list');
  if (scope !== undefined && !isScope(scope)) throw refuse('scope', scopeForm);
  for (const [index, test] of (tests as unknown[]).entries()) {
    const fault = faultOf(test, decisionReasons) ?? unknownRole(test as Value, ownRoles);
    if (!fault) continue;
    const at = `tests.${index}${fault.member === '' ? '' : `.${fault.member}`}`;
    throw refuse(at, fault.message, fault.hint);
  }
}

interface ShapeFault {
  readonly member: string;
  readonly message: string;
  readonly hint?: string;
}

const scopeForm = 'is { tenant, id }';

function faultOf(test: unknown, reasons: readonly string[]): ShapeFault | undefined {
  if (!isObject(test)) return { member: '', message: 'is not an object' };
  const unknown = otherThan(test, members);
  if (unknown !== undefined)
    return { member: unknown, message: 'is not a member of a test', hint: suggestion(unknown, members) };
  const { name, subject, permission, context, expect, tokenFrom, scope } = test;
  const wrong = (member: string, message: string): ShapeFault => ({ member, message });
  if (typeof name !== 'string' || name === '') return wrong('name', 'is missing');
  if (!isPermission(permission)) return wrong('permission', 'is resource:action, or { resource, action }');
  if (subject !== undefined && !isSubject(subject))
    return wrong('subject', 'is { roles, attributes } or { userId }');
  if (context !== undefined && !isContext(context)) return wrong('context', 'is { resource: … }');
  if (tokenFrom !== undefined && (typeof tokenFrom !== 'string' || tokenFrom === ''))
    return wrong('tokenFrom', 'is the name of a variable');
  if (scope !== undefined && !isScope(scope)) return wrong('scope', scopeForm);
  if (!isObject(expect) || typeof expect['authorized'] !== 'boolean')
    return wrong('expect', 'is { authorized: true } or { authorized: false }');
  const { reason } = expect;
  if (otherThan(expect, ['authorized', 'reason']) !== undefined)
    return wrong('expect', 'has the members authorized and reason');
  if (reason !== undefined && !reasons.includes(reason as string))
    return {
      ...wrong('expect.reason', 'is not a reason'),
      hint: suggestion(typeof reason === 'string' ? reason : '', reasons),
    };
  return undefined;
}

/** Finds a role that the document doesn't declare. It would have no permissions, so the test would prove nothing. */
function unknownRole({ subject }: Value, ownRoles: readonly string[]): ShapeFault | undefined {
  const { roles = [] } = (subject ?? {}) as { readonly roles?: readonly string[] };
  const at = roles.findIndex((role) => !ownRoles.includes(role));
  if (at < 0) return undefined;
  const hint = ownRoles.length === 0 ? {} : { hint: suggestion(roles[at] ?? '', ownRoles) };
  return { member: `subject.roles.${at}`, message: 'is not a role of the document', ...hint };
}

const isObject = (value: unknown): value is Value =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const otherThan = (value: Value, names: readonly string[]): string | undefined =>
  Object.keys(value).find((name) => !names.includes(name));
const isText = (value: unknown): boolean => typeof value === 'string';
const isOptional = (value: unknown, is: (value: unknown) => boolean): boolean =>
  value === undefined || is(value);

const isPermission = (value: unknown): boolean =>
  isText(value)
    ? /^[^:]+:[^:]+$/.test(value as string)
    : isObject(value) &&
      otherThan(value, ['resource', 'action']) === undefined &&
      isText(value['resource']) &&
      isText(value['action']);
const isSubject = (value: unknown): boolean =>
  isObject(value) &&
  otherThan(value, ['roles', 'attributes', 'userId']) === undefined &&
  isOptional(value['roles'], (roles) => Array.isArray(roles) && roles.every(isText)) &&
  isOptional(value['attributes'], isObject) &&
  isOptional(value['userId'], isText);
const isContext = (value: unknown): boolean =>
  isObject(value) &&
  otherThan(value, ['resource']) === undefined &&
  isOptional(value['resource'], (resource) => resource === null || isObject(resource));
const isScope = (value: unknown): boolean =>
  isObject(value) &&
  otherThan(value, ['tenant', 'id']) === undefined &&
  isText(value['tenant']) &&
  isText(value['id']);
