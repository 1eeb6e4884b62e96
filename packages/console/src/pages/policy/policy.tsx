import { createdColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { onlyRow } from '../../entities/tables/only-row.ts';
import type { Scope } from '../../scopes/scope.ts';
import { Actor, actorName } from '../history/actor.tsx';
import { Drift } from './drift.tsx';
import { policyTexts, type PolicyTexts } from './policy-texts.ts';
import { projectIdOf } from './project-id.ts';
import { Rollback, VersionDetails, type Version } from './version-details.tsx';

const idOf = (input: { readonly scope: unknown }): string => projectIdOf(input.scope as Scope);

const versions: Entity<Version, PolicyTexts> = {
  noun: 'Policy',
  path: (scope) => `projects/${projectIdOf(scope)}/policy/versions`,
  texts: policyTexts,
  name: ({ number }) => `#${number}`,
  hasSearch: false,
  columns: (t, c) => [
    textColumn('number', t.version, ({ number }) => String(number)),
    textColumn('message', t.message, ({ message }) => message),
    {
      key: 'changes',
      label: t.changes,
      text: (row) => changesOf(t, row),
      cell: (row) => changesOf(t, row),
    },
    {
      key: 'createdBy',
      label: t.by,
      text: ({ createdBy }) => actorName(createdBy),
      cell: ({ createdBy }) => <Actor actor={createdBy} />,
    },
    withoutSorting(createdColumn(c)),
  ],
  list: (api, input, signal) => api.policyVersions({ ...input, id: idOf(input) }, { signal }),
  read: async (api, { id, ...input }, signal) =>
    onlyRow(await api.policyVersions({ ...input, id: idOf(input), ids: [id] }, { signal })),
  details: (version) => <VersionDetails version={version} />,
  actions: (version) => <Rollback version={version} />,
  footer: ([last]) => last && <Drift number={last.number} />,
};

const changesOf = (t: PolicyTexts, { counts, rollbackOf }: Version): string =>
  `${t.counts(counts.created, counts.updated, counts.deleted)}${rollbackOf === null ? '' : `, ${t.rollbackOf(rollbackOf)}`}`;

/** Makes a column unsortable, because the API always lists versions by number. */
const withoutSorting = <C extends { readonly sortField?: string }>({ sortField: _, ...column }: C) => column;

const PolicyPage = () => <EntityPage entity={versions} />;
export default PolicyPage;
