import type { components } from '@doorward/node';
import { impactLines } from '../nouns/impact.ts';
import type { Terminal } from '../output/terminal.ts';
import { visible } from '../output/text.ts';

export type Plan = components['schemas']['PolicyPlan'];
type Change = Plan['changes'][number];
/** The members of a plan that are shown. A comparison of two versions has them too. */
type ShownPlan = Pick<
  Plan,
  'changes' | 'documentDiffers' | 'impact' | 'tests' | 'blocked' | 'drift' | 'warnings'
>;
type Fields = Change['fields'];

const signs = { create: '+', adopt: '~', update: '~', rename: '~', delete: '-' } as const;
const colors = { create: 32, adopt: 33, update: 33, rename: 33, delete: 31 } as const;

/** Formats a plan for people: changes, who gains and loses permissions, failed tests, and what blocks the plan. */
export function planLines(plan: ShownPlan, terminal: Terminal): string[] {
  const { changes, impact, tests, blocked, drift, warnings } = plan;
  const failed = tests.filter(({ passed }) => !passed);
  return [
    ...(drift.length > 0
      ? ['Changed by hand since the last version:', ...drift.flatMap(driftLines), '']
      : []),
    ...(changes.length === 0
      ? [withoutChanges(plan)]
      : changes.flatMap((change) => changeLines(change, terminal))),
    ...(changes.length === 0 ? [] : ['', ...(impact ? impactLines({ dryRun: true, ...impact }) : [])]),
    ...failed.map(
      ({ name, decision }) => `test failed: ${visible(name)} (${visible(String(decision['reason']))})`,
    ),
    ...blocked.map(
      ({ kind, key, code, cause }) =>
        `blocked: ${kind.slice(0, -1)} ${visible(key)}  ${code}${cause === null ? '' : ` ${visible(cause)}`}`,
    ),
    ...warnings.map(({ code, key }) => `warning: ${code}${key === null ? '' : ` ${visible(key)}`}`),
    ...(changes.length === 0 ? [] : [summaryOf(changes)]),
  ];
}

function changeLines({ kind, key, action, fields }: Change, terminal: Terminal): string[] {
  const head = `${signs[action]} ${action} ${kind.slice(0, -1)} ${visible(key)}`;
  const isWhole = action === 'create' || action === 'delete';
  return [terminal.paint(head, colors[action]), ...(isWhole ? [] : fieldLines(fields))];
}

const driftLines = ({ kind, key, fields }: Plan['drift'][number]): string[] => [
  `! ${kind.slice(0, -1)} ${visible(key)}`,
  ...fieldLines(fields),
];

const fieldLines = (fields: Fields): string[] =>
  Object.entries(fields).map(([name, change]) => {
    const { from, to } = change as { readonly from: unknown; readonly to: unknown };
    return `    ${visible(name)}: ${shown(from)} → ${shown(to)}`;
  });

const shown = (value: unknown): string => visible(JSON.stringify(value) ?? 'null');

/** Whether the service would refuse to apply the plan, because a change is blocked or a test fails. */
export const isRefused = ({ blocked, tests }: Plan): boolean =>
  blocked.length > 0 || tests.some(({ passed }) => !passed);

/** Whether applying the plan would create a new version. */
export const hasChanges = ({ changes, documentDiffers }: Plan): boolean =>
  changes.length > 0 || documentDiffers;

const withoutChanges = ({ documentDiffers }: Pick<Plan, 'documentDiffers'>): string =>
  documentDiffers ? 'No row changes; the tests or the mode of the document differ.' : 'No changes.';

function summaryOf(changes: readonly Change[]): string {
  const count = (...actions: readonly string[]): number =>
    changes.filter(({ action }) => actions.includes(action)).length;
  return `${count('create')} to create, ${count('adopt', 'update', 'rename')} to change, ${count('delete')} to delete.`;
}

/** Formats a plan as Markdown for reviews, with a table that GitHub and others render. */
export function planMarkdown(plan: Plan): string {
  const { changes, impact, blocked, tests, drift } = plan;
  const cell = (text: string): string => visible(text).replaceAll('|', '\\|').replaceAll('`', "'");
  const rows = changes.map(
    ({ kind, key, action, fields }) =>
      `| ${action} | ${kind.slice(0, -1)} | ${cell(key)} | ${cell(Object.keys(fields).join(', '))} |`,
  );
  return [
    '## Policy',
    '',
    changes.length === 0 ? withoutChanges(plan) : summaryOf(changes),
    '',
    ...(rows.length > 0
      ? ['| Change | Kind | Name | Members |', '| --- | --- | --- | --- |', ...rows, '']
      : []),
    ...(impact && changes.length > 0
      ? impactLines({ dryRun: true, ...impact }).map((line) => `- ${cell(line)}`)
      : []),
    ...tests.filter(({ passed }) => !passed).map(({ name }) => `- **test failed**: ${cell(name)}`),
    ...blocked.map(
      ({ kind, key, code, cause }) =>
        `- **blocked**: ${kind.slice(0, -1)} ${cell(key)}, ${code}${cause === null ? '' : ` (${cell(cause)})`}`,
    ),
    ...drift.map(({ kind, key }) => `- changed by hand: ${kind.slice(0, -1)} ${cell(key)}`),
    '',
  ].join('\n');
}
