import { randomUUID } from 'node:crypto';
import type { Command } from '../command.ts';
import type { Options } from '../settings/options.ts';
import { exitCodes } from '../exit-codes.ts';
import { assertCanConfirm, confirm } from '../input/confirm.ts';
import type { Run } from '../run.ts';
import { applyAndReport, secretsOption } from './applied.ts';
import { allowDeleteOption, fileArgument, planDocument, readPlanFile } from './plan.ts';
import { DEFAULT_FILE } from './policy-file.ts';
import { inProject, withPositions } from './policy-scope.ts';
import { isRefused, planLines, type Plan } from './shown-plan.ts';

export const messageOption = { '-m, --message <text>': 'why, for the list of versions' };

export const apply: Command = {
  path: ['policy', 'apply'],
  summary: 'Make the rights model of the project what a document says',
  description:
    'Plans, shows the plan, asks, and applies exactly that plan, all or nothing. A plan that doorward policy plan -o wrote is applied as it is, or not at all.',
  arguments: fileArgument,
  options: { ...allowDeleteOption, ...messageOption, ...secretsOption },
  examples: ['doorward policy apply -m "Clerks approve"', 'doorward policy apply plan.json --yes'],
  async run(run, [path = DEFAULT_FILE], options) {
    assertCanConfirm(run);
    const isPlan = path.endsWith('.json') && (await isPlanFile(run, path));
    const file = isPlan
      ? { ...(await readPlanFile(run, path)), placeOf: () => undefined }
      : await planDocument(run, path, options);
    showPlan(run, file.plan);
    if (run.flags.dryRun) return isRefused(file.plan) ? exitCodes.negative : exitCodes.done;
    // A plan without row changes is applied too: the tests or the mode of the document may differ.
    if (file.plan.changes.length > 0) await confirmPlan(run, file.plan);
    const { doorward, id } = await inProject(run, { changes: true });
    const { version, planHash } = file.plan;
    const input = {
      id,
      policy: file.policy,
      ifVersion: version,
      planHash,
      allowDelete: file.allowDelete,
      ...versionNote(options, run),
    };
    const call = { signal: run.signal, idempotencyKey: randomUUID() };
    await applyAndReport(run, options, () =>
      withPositions(file.placeOf, doorward.api.applyPolicy(input, call)),
    );
    return exitCodes.done;
  },
};

async function isPlanFile(run: Run, path: string): Promise<boolean> {
  return readPlanFile(run, path).then(
    () => true,
    () => false,
  );
}

/** Shows a plan on stderr, because stdout is for the result: the new version. */
export function showPlan({ terminal }: Run, plan: Plan): void {
  terminal.note(planLines(plan, terminal).join('\n'));
}

/** Asks for confirmation. If a large part of the policy would be deleted, the number of deletions must be typed. */
export async function confirmPlan(run: Run, { changes }: Plan): Promise<void> {
  const deletions = changes.filter(({ action }) => action === 'delete').length;
  const isLarge = deletions > 10 && deletions > 0.2 * changes.length;
  await confirm(run, 'Apply this plan?', isLarge ? `delete ${deletions}` : undefined);
}

export function versionNote(options: Options, { env }: Run): { message?: string; source?: object } {
  const message = options.text('message');
  const { GITHUB_REPOSITORY: repository, GITHUB_SHA: commit } = env;
  return {
    ...(message === undefined ? {} : { message }),
    ...(repository === undefined || commit === undefined ? {} : { source: { repository, commit } }),
  };
}
