import { parse } from 'yaml';
import { z } from 'zod';
import { decisionReasons } from '../src/errors.ts';
import { Scope } from '../src/kernel/scope.ts';

/**
 * Cases of who may do what, read from YAML and put to a running service. Nothing is taken that is not named here, so
 * that a slip of the pen fails instead of proving nothing.
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
  /** About somebody else than the bearer of the token. */
  subject: z.strictObject({ userId: z.string() }).optional(),
  /** The variable of the environment with the token that asks; the one of the command if absent. */
  tokenFrom: z.string().min(1).optional(),
  scope: Scope.optional(),
  permission,
  context: z.strictObject({ resource: z.record(z.string(), z.unknown()).nullish() }).optional(),
  expect: z.strictObject({ authorized: z.boolean(), reason: z.enum(decisionReasons).optional() }),
});

const policyFile = z.strictObject({ scope: Scope.optional(), cases: z.array(policyCase).min(1) });

export type PolicyCase = z.output<typeof policyCase> & { readonly token: string | undefined };
export type Environment = Readonly<Record<string, string | undefined>>;

/** What cannot be checked: a bad file, a service that does not answer or refuses the question. */
export class Unchecked extends Error {
  override readonly name = 'Unchecked';
}

/** @throws Unchecked that names the place */
export function readCases(text: string, env: Environment): PolicyCase[] {
  let raw: unknown;
  try {
    raw = parse(text);
  } catch (error) {
    throw new Unchecked(`not YAML: ${(error as Error).message}`);
  }
  const read = policyFile.safeParse(filled(raw, env));
  if (!read.success) {
    const told = read.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`);
    throw new Unchecked(told.join('\n'));
  }
  const { scope, cases } = read.data;
  return cases.map((one) => ({
    ...one,
    ...((one.scope ?? scope) && { scope: one.scope ?? scope }),
    token: one.tokenFrom === undefined ? undefined : variable(env, one.tokenFrom),
  }));
}

function variable(env: Environment, name: string): string {
  const value = env[name];
  if (value === undefined) throw new Unchecked(`the environment has no ${name}, which the file names`);
  return value;
}

/** With the variables in its texts put in. */
function filled(value: unknown, env: Environment): unknown {
  if (typeof value === 'string')
    return value.replace(/\$\{(\w+)\}/g, (_, name: string) => variable(env, name));
  if (Array.isArray(value)) return value.map((item) => filled(item, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner, env)]));
}

/** Sends JSON with a token and answers the status and the JSON that came; any failure to do so is an error. */
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

/** A case with what came of it; the explanation of a failed one, if the asker may have it. */
export interface Result {
  readonly one: PolicyCase;
  readonly passed: boolean;
  readonly decision: Decision;
}

/** As many as a batch takes. */
const BATCH = 100;

/**
 * Asks all, as many at once as have token, scope and subject in common, and answers in the order of the file.
 * @throws Unchecked
 */
export async function runCases(cases: readonly PolicyCase[], post: Post): Promise<Result[]> {
  const groups = new Map<string, PolicyCase[]>();
  for (const one of cases) {
    const key = JSON.stringify([one.token, one.scope, one.subject]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const decisions = new Map<PolicyCase, Decision>();
  for (const group of groups.values()) {
    for (let at = 0; at < group.length; at += BATCH) {
      const some = group.slice(at, at + BATCH);
      const items = some.map(({ permission: pair, context }) => ({
        permission: pair,
        ...(context && { context }),
      }));
      const { data } = await answered(post, '/auth/is-authorized/batch', some[0] as PolicyCase, { items });
      (data as { items: Decision[] }).items.forEach((decision, index) =>
        decisions.set(some[index] as PolicyCase, decision),
      );
    }
  }
  return Promise.all(
    cases.map(async (one) => {
      const decision = decisions.get(one) as Decision;
      const { authorized, reason } = one.expect;
      const passed =
        decision.authorized === authorized && (reason === undefined || decision.reason === reason);
      return { one, passed, decision: passed ? decision : await explained(post, one, decision) };
    }),
  );
}

/** Who may not see an explanation is told the decision alone. */
async function explained(post: Post, one: PolicyCase, decision: Decision): Promise<Decision> {
  const { permission: pair, context, scope, subject, token } = one;
  const question = { permission: pair, context, scope, subject, explain: true };
  const { status, body } = await post('/auth/is-authorized', question, token);
  const { data } = body as { data?: Decision };
  return status === 200 && data ? { ...decision, ...data } : decision;
}

async function answered(post: Post, path: string, { scope, subject, token }: PolicyCase, more: object) {
  const { status, body } = await post(path, { scope, subject, ...more }, token);
  if (status === 200) return body as { data: unknown };
  const { error, code, fix } = body as { error?: string; code?: string; fix?: string };
  throw new Unchecked(`the service answered ${status} ${code ?? ''}: ${error ?? ''} ${fix ?? ''}`.trim());
}
