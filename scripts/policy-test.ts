import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { readCases, runCases, CannotCheck, type Post, type Result } from './policy-cases.ts';

/**
 * Checks policy cases against a running service: npm run policy-test -- cases.yaml [options]. Exit code 0: all passed;
 * 1: some failed; 2: they could not be checked. examples/policy.yaml shows the format of the file.
 */
const usage = `npm run policy-test -- <cases.yaml> [options]

  --url <address>  of the service; default: DOORWARD of the environment, else http://localhost:4000
  --token <token>  of the caller, for cases that name none; default: DOORWARD_TOKEN of the environment
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { url: { type: 'string' }, token: { type: 'string' } },
  });
  const { DOORWARD, DOORWARD_TOKEN } = process.env;
  const url = (values.url ?? (DOORWARD || 'http://localhost:4000')).replace(/\/+$/, '');
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new CannotCheck('name one file');
  const cases = readCases(await readFile(file, 'utf8'), process.env);
  const results = await runCases(cases, postTo(url, values.token ?? DOORWARD_TOKEN)).catch(
    (error: unknown) => {
      throw new CannotCheck(`${url}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: causeOf(error),
      });
    },
  );
  for (const result of results) process.stdout.write(format(result));
  const failed = results.filter(({ passed }) => !passed).length;
  process.stdout.write(`\n${results.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

const postTo =
  (url: string, own: string | undefined): Post =>
  async (path, body, token = own) => {
    if (token === undefined) throw new CannotCheck('no token: give one with --token, or in DOORWARD_TOKEN');
    const answer = await fetch(`${url}/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    return { status: answer.status, body: await answer.json() };
  };

function format({ policyCase, passed, decision }: Result): string {
  const { resource, action } = policyCase.permission;
  const line = `${passed ? 'ok  ' : 'FAIL'}  ${policyCase.name}: ${resource}:${action} ${decision.reason}\n`;
  if (passed) return line;
  const { authorized, reason = authorized ? 'allowed' : 'refused' } = policyCase.expect;
  const because = decision.explanation
    ? JSON.stringify(decision.explanation, null, 2).replace(/^/gm, '      ')
    : '      no explanation: the caller lacks Authorization:Explain';
  return `${line}      expected ${reason}\n${because}\n`;
}

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

process.exitCode = await main().catch((error: unknown) => {
  const why = causeOf(error);
  const cause = why instanceof Error ? ` (${why.message})` : '';
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${cause}\n\n${usage}`);
  return 2;
});
