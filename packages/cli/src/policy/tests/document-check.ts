import type * as Decision from '@doorward/decision';
import type { ReferenceFault } from '@doorward/decision/document';
import type { $ZodIssue, JSONSchema } from 'zod/v4/core';
import { exitCodes } from '../../exit-codes.ts';
import { Fault, type FaultDetail } from '../../fault.ts';
import { suggestion } from '../../nearest.ts';
import type { PolicyFile } from '../policy-file.ts';

const MAX_DETAILS = 20;
/** A file with only these members isn't a policy document: it contains just tests, to run against a service. */
const casesAlone = ['$schema', 'scope', 'tests'];

/**
 * Checks a document as the service does, before its tests run: schema, names that it refers to, and conditions. With
 * a misspelled group, for example, every test that expects a refusal would pass.
 *
 * @throws Fault (exit 2) with the position of each problem
 */
export async function assertDocument({ policy, placeOf }: PolicyFile): Promise<void> {
  if (Object.keys(policy).every((member) => casesAlone.includes(member))) return;
  const details = await schemaFaults(policy);
  if (details.length === 0) details.push(...(await nameFaults(policy)));
  if (details.length === 0) details.push(...(await conditionFaults(policy)));
  if (details.length === 0) return;
  const placed = details.slice(0, MAX_DETAILS).map((detail): FaultDetail => {
    const place = placeOf(detail.path);
    const path = detail.path.replace(/^policy\./, '');
    return { ...detail, path: place === undefined ? path : `${place} ${path}` };
  });
  throw new Fault(exitCodes.usage, 'VALIDATION_ERROR', 'The document is not valid.', undefined, placed);
}

type Policy = PolicyFile['policy'];

async function schemaFaults(policy: Policy): Promise<FaultDetail[]> {
  const { fromJSONSchema } = await import('zod');
  const { policySchema } = await import('../rules/policy-rules.ts');
  const { error } = fromJSONSchema(policySchema as JSONSchema.JSONSchema).safeParse(policy);
  return (error?.issues ?? []).flatMap((issue) => detailsOf(issue));
}

function detailsOf(issue: $ZodIssue): FaultDetail[] {
  const path = ['policy', ...issue.path].join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: `${path}.${key}`,
      code: 'unknown_field',
      message: 'Unknown member.',
    }));
  // In a nullable union the first option is the real type, so its errors are the useful ones.
  const [inner] = issue.code === 'invalid_union' ? (issue.errors[0] ?? []) : [];
  if (inner) return detailsOf({ ...inner, path: [...issue.path, ...inner.path] });
  const [key] = issue.code === 'invalid_key' ? issue.issues : [];
  return [{ path, code: issue.code, message: `${(key ?? issue).message}.` }];
}

async function nameFaults(policy: Policy): Promise<FaultDetail[]> {
  const { referenceFaults, withDefaults } = await import('@doorward/decision/document');
  const { builtInNames } = await import('../rules/policy-rules.ts');
  return [...referenceFaults(withDefaults(policy), builtInNames)].map((fault) => ({
    path: fault.path,
    code: fault.code,
    message: messageOf(fault),
  }));
}

function messageOf({ code, hint, allowed, given = '' }: ReferenceFault): string {
  if (code === 'duplicate') return 'Another key differs only in case.';
  if (!allowed) return `${code === 'required' ? 'Required' : 'Not allowed here'}: ${hint ?? ''}.`;
  return allowed.length === 0 ? 'Unknown name.' : `Unknown: ${suggestion(given, allowed)}`;
}

async function conditionFaults(policy: Policy): Promise<FaultDetail[]> {
  // TypeScript requires an explicit type for an object whose assertion function is called.
  const decision: typeof Decision = await import('@doorward/decision');
  const rows = (policy['permissions'] ?? {}) as Readonly<Record<string, { readonly condition?: unknown }>>;
  return Object.entries(rows).flatMap(([key, { condition = null }]) => {
    try {
      decision.assertCondition(condition, `policy.permissions.${key}.condition`);
      return [];
    } catch (error) {
      if (!(error instanceof decision.ConditionError)) throw error;
      return error.problems.map(({ path, code }) => ({
        path,
        code,
        message: `Invalid condition (${code}).`,
      }));
    }
  });
}
