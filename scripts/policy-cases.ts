import { parse } from 'yaml';
import { z } from 'zod';
import { decisionReasons } from '@doorward/decision/reasons';
import { Scope } from '../packages/server/src/kernel/scope.ts';

/**
 * Reads policy cases from YAML and checks them against a running service. Unknown members are refused, so that a typing
 * error fails instead of passing unnoticed.
 */
const permission = z.union([
  z
    .string()
    .regex(/^[^:]+:[^:]+$/, 'is written resource:action')
    .transform((text) => {
      const at = text.indexOf(':');
      return { resource: text.slice(0, at), action: text.slice(at + 1) };
    }),
  z.strictObject({ resource: z.string(), action: z.string() }),
]);

const policyCase = z.strictObject({
  name: z.string().min(1),
  /** The subject of the check; default: the owner of the token. */
  subject: z.strictObject({ userId: z.string() }).optional(),
  /** The environment variable with the token of the caller; default: the token of the command. */
  tokenFrom: z.string().min(1).optional(),
  scope: Scope.optional(),
  permission,
  context: z.strictObject({ resource: z.record(z.string(), z.unknown()).nullish() }).optional(),
  expect: z.strictObject({ authorized: z.boolean(), reason: z.enum(decisionReasons).optional() }),
});

const policyFile = z.strictObject({ scope: Scope.optional(), cases: z.array(policyCase).min(1) });

export type PolicyCase = z.output<typeof policyCase> & { readonly token: string | undefined };
export type Environment = Readonly<Record<string, string | undefined>>;

/** The cases cannot be checked: the file is invalid, or the service does not answer or refuses the call. */
export class CannotCheck extends Error {
  override readonly name = 'Unchecked';
}

/** @throws Unchecked that names the place */
export function readCases(text: string, env: Environment): PolicyCase[] {
  let raw: unknown;
  try {
    raw = parse(text);
  } catch (error) {
    throw new CannotCheck(`not YAML: ${(error as Error).message}`);
  }
  const read = policyFile.safeParse(filled(raw, env));
  if (!read.success) {
    const reported = read.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'the file'}: ${message}`,
    );
    throw new CannotCheck(reported.join('\n'));
  }
  const { scope, cases } = read.data;
  return cases.map((case_) => ({
    ...case_,
    ...((case_.scope ?? scope) && { scope: case_.scope ?? scope }),
    token: case_.tokenFrom === undefined ? undefined : variable(env, case_.tokenFrom),
  }));
}

function variable(env: Environment, name: string): string {
  const value = env[name];
  if (value === undefined) throw new CannotCheck(`the environment has no ${name}, which the file names`);
  return value;
}

/** Replaces variables in texts. */
function filled(value: unknown, env: Environment): unknown {
  if (typeof value === 'string')
    return value.replace(/\$\{(\w+)\}/g, (_, name: string) => variable(env, name));
  if (Array.isArray(value)) return value.map((item) => filled(item, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner, env)]));
}

/** Sends JSON with a token, and answers the status and the JSON of the answer. It rejects on any other failure. */
export type Post = (
  path: string,
  body: object,
  token: string | undefined,
) => Promise<{ readonly status: number; readonly body: unknown }>;

interface Decision {
  readonly authorized: boolean;
  readonly reason: string;
  readonly explanation?: Readonly<Record<string, unknown>>;
}

/** A case with its decision. A failed case has the explanation, if the caller may see it. */
export interface Result {
  readonly policyCase: PolicyCase;
  readonly passed: boolean;
  readonly decision: Decision;
}

/** Maximum number of items of a batch. */
const BATCH = 100;

/**
 * Checks cases in batches of equal token, scope and subject, and answers in the order of the file.
 * @throws Unchecked
 */
export async function runCases(cases: readonly PolicyCase[], post: Post): Promise<Result[]> {
  const groups = new Map<string, PolicyCase[]>();
  for (const case_ of cases) {
    const key = JSON.stringify([case_.token, case_.scope, case_.subject]);
    groups.set(key, [...(groups.get(key) ?? []), case_]);
  }
  const decisions = new Map<PolicyCase, Decision>();
  for (const group of groups.values()) {
    for (let at = 0; at < group.length; at += BATCH) {
      const some = group.slice(at, at + BATCH);
      const items = some.map(({ permission: pair, context }) => ({
        permission: pair,
        ...(context && { context }),
      }));
      const { data } = await ask(post, '/auth/is-authorized/batch', some[0] as PolicyCase, { items });
      (data as { items: Decision[] }).items.forEach((decision, index) =>
        decisions.set(some[index] as PolicyCase, decision),
      );
    }
  }
  return Promise.all(
    cases.map(async (case_) => {
      const decision = decisions.get(case_) as Decision;
      const { authorized, reason } = case_.expect;
      const passed =
        decision.authorized === authorized && (reason === undefined || decision.reason === reason);
      return {
        policyCase: case_,
        passed,
        decision: passed ? decision : await explain(post, case_, decision),
      };
    }),
  );
}

/** Adds the explanation to a decision, if the caller may see it. */
async function explain(post: Post, policyCase: PolicyCase, decision: Decision): Promise<Decision> {
  const { permission: pair, context, scope, subject, token } = policyCase;
  const question = { permission: pair, context, scope, subject, explain: true };
  const { status, body } = await post('/auth/is-authorized', question, token);
  const { data } = body as { data?: Decision };
  return status === 200 && data ? { ...decision, ...data } : decision;
}

async function ask(post: Post, path: string, { scope, subject, token }: PolicyCase, more: object) {
  const { status, body } = await post(path, { scope, subject, ...more }, token);
  if (status === 200) return body as { data: unknown };
  const { error, code, fix } = body as { error?: string; code?: string; fix?: string };
  throw new CannotCheck(`the service answered ${status} ${code ?? ''}: ${error ?? ''} ${fix ?? ''}`.trim());
}
