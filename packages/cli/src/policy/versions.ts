import type { Command } from '../command.ts';
import { usageFault } from '../fault.ts';
import { limitOf } from '../nouns/commands/noun-commands.ts';
import type { Column } from '../output/table.ts';
import { inProject } from './policy-scope.ts';
import { planLines } from './shown-plan.ts';

const columns: readonly Column[] = [
  { name: 'version', of: 'number' },
  { name: 'applied', of: 'createdAt', kind: 'time' },
  { name: 'message', of: 'message' },
];

export const versions: Command = {
  path: ['policy', 'versions'],
  summary: 'List the documents that were applied, the last one first',
  options: { '--limit <n>': 'rows, 1 to 100; default 50', '--cursor <cursor>': 'continue after this page' },
  async run(run, _args, options) {
    const limit = limitOf(options);
    const { doorward, id } = await inProject(run);
    const cursor = options.text('cursor');
    const input = { id, limit, ...(cursor === undefined ? {} : { cursor }) };
    const page = await run.terminal.waiting(doorward.api.policyVersions(input, { signal: run.signal }));
    run.terminal.list(page.items, columns, page.nextCursor);
  },
};

export const diff: Command = {
  path: ['policy', 'diff'],
  summary: 'Compare two versions, or a version with the rows as they are',
  arguments: { '<from>': 'number of a version', '[to]': 'another one; the rows as they are if left out' },
  examples: ['doorward policy diff 3', 'doorward policy diff 3 4'],
  async run(run, [from = '', to = 'current']) {
    for (const side of [from, to])
      if (!/^([1-9]\d{0,8}|current)$/.test(side))
        throw usageFault(`${side} is not a version: give a number, or current.`);
    const { doorward, id } = await inProject(run);
    const answer = await run.terminal.waiting(
      doorward.api.policyDiff({ id, from, to }, { signal: run.signal }),
    );
    const changes = answer.changes.map((change) => ({ ...change, id: null, protected: false }));
    const shown = {
      changes,
      documentDiffers: false,
      impact: null,
      tests: [],
      blocked: [],
      drift: [],
      warnings: [],
    };
    run.terminal.answer(planLines(shown, run.terminal).join('\n'), answer);
  },
};
