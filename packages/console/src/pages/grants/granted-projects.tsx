import { Link } from '@tanstack/react-router';
import type { components } from '@doorward/node/client';
import { chipsColumn, createdColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { formatNumber } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';
import type { Scope } from '../../scopes/scope.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { RowAction } from '../keys/row-action.tsx';
import { grantedTexts, type GrantedTexts } from './granted-texts.ts';
import { OfferAnswers } from './offer-answers.tsx';

type Granted = components['schemas']['OrganizationGrant'];

const grantedProjects: Entity<Granted, GrantedTexts> = {
  noun: 'ProjectGrant',
  path: () => 'organization-grants',
  texts: grantedTexts,
  hasSearch: false,
  name: ({ project }) => project.name,
  columns: (t, c) => [
    textColumn('name', c.name, ({ project }) => project.name),
    textColumn('owner', t.owner, ({ owner }) => owner.name),
    textColumn('status', c.status, ({ status }) => t.statuses[status]),
    chipsColumn('roles', t.roles, ({ roles }) => roles.map(({ name }) => name)),
    textColumn('users', t.users, ({ userCount, maxUsers }) =>
      maxUsers === null ? formatNumber(userCount) : `${formatNumber(userCount)} / ${formatNumber(maxUsers)}`,
    ),
    createdColumn(c),
  ],
  list: (api, input, signal) => api.organizationGrants(input, { signal }),
  read: (api, input, signal) => api.organizationGrant(input, { signal }),
  tools: () => <OfferAnswers />,
  actions: (granted) => <GrantedActions granted={granted} />,
};

function GrantedActions({ granted }: { readonly granted: Granted }) {
  const t = useTexts(grantedTexts);
  const { can } = useRights(useScope());
  const { id, project, status, scope } = granted;
  return (
    <>
      {status === 'active' && (
        <Link
          className="button"
          to="/$tenant/$id/$page"
          params={{ ...(scope as Scope), page: 'overview' }}
          search={{}}
        >
          {t.open}
        </Link>
      )}
      {can('ProjectGrant:Leave') && (status === 'active' || status === 'suspended') && (
        <RowAction
          label={t.leave}
          name={project.name}
          about={t.leaveAbout}
          fields={[{ kind: 'text', name: 'reason', label: t.reason, initial: '' }]}
          isDangerous
          save={(api, { reason, ...input }) =>
            api.leaveProjectGrant({
              ...input,
              id,
              ...(typeof reason === 'string' && reason.trim() ? { reason } : {}),
            })
          }
        />
      )}
    </>
  );
}

const GrantedProjectsPage = () => <EntityPage entity={grantedProjects} />;
export default GrantedProjectsPage;
