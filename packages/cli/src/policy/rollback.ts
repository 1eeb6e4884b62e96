import { randomUUID } from 'node:crypto';
import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { usageFault } from '../fault.ts';
import { assertCanConfirm } from '../input/confirm.ts';
import { confirmPlan, messageOption, versionNote, showPlan } from './apply.ts';
import { applyAndReport, secretsOption } from './applied.ts';
import { allowDeleteOption } from './plan.ts';
import { inProject } from './policy-scope.ts';
import { isRefused } from './shown-plan.ts';

export const rollback: Command = {
  path: ['policy', 'rollback'],
  summary: 'Apply the document of a former version again, as a new version',
  description: 'Shows the plan and asks first.',
  arguments: { '<number>': 'the version to go back to' },
  options: { ...allowDeleteOption, ...messageOption, ...secretsOption },
  examples: ['doorward policy rollback 3 --dry-run'],
  async run(run, [text = ''], options) {
    assertCanConfirm(run);
    const number = numberOf(text);
    const { doorward, id } = await inProject(run, { changes: true });
    const allowDelete = options.flag('allowDelete');
    const plan = await run.terminal.waiting(
      doorward.api.planPolicy({ id, number, allowDelete }, { signal: run.signal }),
    );
    showPlan(run, plan);
    if (run.flags.dryRun) return isRefused(plan) ? exitCodes.negative : exitCodes.done;
    if (plan.changes.length > 0) await confirmPlan(run, plan);
    const { version: ifVersion, planHash } = plan;
    const input = { id, number, ifVersion, planHash, allowDelete, ...versionNote(options, run) };
    const call = { signal: run.signal, idempotencyKey: randomUUID() };
    await applyAndReport(run, options, () => doorward.api.rollbackPolicy(input, call));
    return exitCodes.done;
  },
};

function numberOf(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageFault(`${text} is not a version number.`);
  return Number(text);
}
