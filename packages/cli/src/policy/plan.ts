import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from '../command.ts';
import type { Options } from '../settings/options.ts';
import { exitCodes } from '../exit-codes.ts';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';
import { DEFAULT_FILE, readPolicy, type PolicyFile } from './policy-file.ts';
import { inProject, withPositions } from './policy-scope.ts';
import { hasChanges, isRefused, planLines, planMarkdown, type Plan } from './shown-plan.ts';

export const fileArgument = { '[file]': `the policy document; ${DEFAULT_FILE} if left out` };
export const allowDeleteOption = { '--allow-delete': 'also delete what the document lacks' };

export const plan: Command = {
  path: ['policy', 'plan'],
  summary: 'Show what a policy document would change, and for whom',
  description:
    'Changes nothing. Exit code 0; 1 if doorward policy apply would be refused; with --detailed-exitcode, 8 if there are changes.',
  arguments: fileArgument,
  options: {
    ...allowDeleteOption,
    '-o, --out <file>': 'write the plan, which doorward policy apply applies as it is',
    '--markdown <file>': 'append the plan to this file as Markdown',
    '--detailed-exitcode': 'end with 8 if there are changes',
  },
  examples: ['doorward policy plan', 'doorward policy plan policy.yaml -o plan.json'],
  async run(run, [path = DEFAULT_FILE], options) {
    const { plan: shown, policy, allowDelete } = await planDocument(run, path, options);
    const out = options.text('out');
    const file: PlanFile = { plan: shown, policy, allowDelete };
    if (out !== undefined) await writeFile(resolve(run.cwd, out), `${JSON.stringify(file, null, 2)}\n`);
    const markdown = options.text('markdown');
    if (markdown !== undefined)
      await writeFile(resolve(run.cwd, markdown), planMarkdown(shown), { flag: 'a' });
    run.terminal.answer(planLines(shown, run.terminal).join('\n'), shown);
    if (isRefused(shown)) return exitCodes.negative;
    return options.flag('detailedExitcode') && hasChanges(shown) ? exitCodes.changes : exitCodes.done;
  },
};

/** A plan together with the input that it was made from. */
interface PlanFile {
  readonly plan: Plan;
  readonly policy: Readonly<Record<string, unknown>>;
  readonly allowDelete: boolean;
}

/** Plans a document. `placeOf` finds where its rows are written. */
export async function planDocument(
  run: Run,
  path: string,
  options: Options,
): Promise<PlanFile & Pick<PolicyFile, 'placeOf'>> {
  const { policy, placeOf } = await readPolicy(run, path);
  const { doorward, id } = await inProject(run);
  const allowDelete = options.flag('allowDelete');
  const input = { id, policy, allowDelete };
  const answer = withPositions(placeOf, doorward.api.planPolicy(input, { signal: run.signal }));
  return { plan: await run.terminal.waiting(answer), policy, allowDelete, placeOf };
}

/** Reads a plan that `policy plan -o` wrote. @throws Fault if the file isn't a plan */
export async function readPlanFile({ cwd }: Pick<Run, 'cwd'>, path: string): Promise<PlanFile> {
  const text = await readFile(resolve(cwd, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageFault(`${path} cannot be read (${error.code ?? error.name}).`);
  });
  const file = JSON.parse(text) as Partial<PlanFile>;
  if (!file.plan || !file.policy)
    throw usageFault(`${path} is not a plan.`, 'doorward policy plan -o writes one');
  return { plan: file.plan, policy: file.policy, allowDelete: file.allowDelete === true };
}
