import { useState } from 'react';
import { Link, useNavigate } from '@tanstack/react-router';
import type { components } from '@doorward/node/client';
import { useRead } from '../../../api/use-api.ts';
import { EntityForm } from '../../../entities/forms/entity-form.tsx';
import { nameField } from '../../../entities/declarations/fields.ts';
import { RowForm } from '../../../entities/forms/row-form.tsx';
import { common } from '../../../i18n/common.ts';
import { plural } from '../../../i18n/format.ts';
import { useTexts } from '../../../i18n/language.ts';
import type { Scope } from '../../../scopes/scope.ts';
import { useRights } from '../../../scopes/use-scope.ts';
import { Exact, Facts } from '../../../ui/facts.tsx';
import { Failure, Forbidden } from '../../../scopes/failure.tsx';
import { Empty, Skeleton } from '../../../ui/states.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { colourTexts } from '../../branding/branding-texts.ts';
import { colourField, colourOf } from '../../branding/colour-field.ts';
import { LogoUpload } from '../../branding/logo-upload.tsx';
import { ChoicePreview, InvitationPreview } from '../../branding/previews.tsx';
import { slugField, slugTexts, typedSlugField } from '../../tenants/slug-field.ts';
import { organizationTexts } from './organization-texts.ts';
import { AllLink, Cards, projectCard } from '../parts/parts.tsx';

const SHOWN = 12;

/** The overview of an organization, with its settings and projects. */
export function OrganizationOverview({ scope: { id } }: { readonly scope: Scope }) {
  const t = useTexts(organizationTexts);
  const s = useTexts(slugTexts);
  const c = useTexts(common);
  const scope = { tenant: 'organization' as const, id };
  const rights = useRights(scope);
  const { can } = rights;
  const { data, error, refetch } = useRead(
    ['Organization', scope, 'row'],
    (api, signal) => api.organization({ scope, id }, { signal }),
    { isEnabled: can('Organization:Query') },
  );
  const projects = useRead(
    ['Project', scope, 'first'],
    (api, signal) => api.projects({ scope, limit: SHOWN }, { signal }),
    { isEnabled: can('Project:Query') },
  );
  const members = useRead(
    ['OrganizationMember', scope, 'count'],
    (api, signal) => api.organizationMembers({ scope, limit: 1 }, { signal }),
    { isEnabled: can('OrganizationMember:Query') },
  );
  if (!data && (rights.error ?? error))
    return <Failure error={rights.error ?? error} onRetry={rights.error ? rights.readAgain : refetch} />;
  if (!rights.isLoading && !can('Organization:Query')) return <Forbidden permission="Organization:Query" />;
  if (!data) return <Skeleton />;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>
            <bdi>{data.name}</bdi>
          </h1>
          <p>{t.about}</p>
        </div>
        <OrganizationActions organization={data} />
      </header>
      <Facts
        facts={[
          [s.slug, <Exact text={data.slug} />],
          ['Id', <Exact text={data.id} />],
          [
            t.people,
            members.data && (
              <Link to="/$tenant/$id/$page" params={{ ...scope, page: 'members' }}>
                {plural(members.data.totalCount, t.members)}
              </Link>
            ),
          ],
          [t.mfa, data.requireMfaForSensitiveActions ? c.yes : c.no],
          [t.color, data.primaryColor && <code>{data.primaryColor}</code>],
          [c.createdAt, <Time iso={data.createdAt} />],
          [c.updatedAt, <Time iso={data.updatedAt} />],
        ]}
      />
      {projects.isLoading && <Skeleton rows={3} />}
      {projects.error && !projects.data && (
        <Failure error={projects.error} onRetry={() => projects.refetch()} />
      )}
      {projects.data && (
        <section>
          <h2>{t.projects}</h2>
          {projects.data.items.length === 0 && (
            <Empty title={t.noProjects}>
              <Link to="/$tenant/$id/$page" params={{ ...scope, page: 'projects' }}>
                {t.newProject}
              </Link>
            </Empty>
          )}
          <Cards items={projects.data.items.map(projectCard)} />
          <AllLink scope={scope} page="projects" shown={SHOWN} total={projects.data.totalCount} />
        </section>
      )}
      <section>
        <h2>{t.branding}</h2>
        {can('Organization:Update') && (
          <LogoUpload
            logoUrl={data.logoUrl}
            of="organization"
            save={(api, file) => api.uploadOrganizationLogo({ scope, id, file })}
          />
        )}
        <InvitationPreview name={data.name} colour={data.primaryColor} logoUrl={data.logoUrl} />
        <ChoicePreview name={data.name} logoUrl={data.logoUrl} />
      </section>
    </>
  );
}

/** Buttons to edit the settings of an organization and to delete it. */
function OrganizationActions({
  organization,
}: {
  readonly organization: components['schemas']['Organization'];
}) {
  const t = useTexts(organizationTexts);
  const b = useTexts(colourTexts);
  const s = useTexts(slugTexts);
  const c = useTexts(common);
  const { id, name, slug, requireMfaForSensitiveActions, primaryColor, logoUrl } = organization;
  const target = { scope: { tenant: 'organization' as const, id }, id };
  const { can } = useRights(target.scope);
  const navigate = useNavigate();
  const [act, setAct] = useState<'edit' | 'remove' | null>(null);
  const close = (): void => setAct(null);
  return (
    <div className="row">
      {can('Organization:Update') && (
        <button type="button" onClick={() => setAct('edit')}>
          {c.edit}
        </button>
      )}
      {can('Organization:Delete') && (
        <button type="button" className="bad" onClick={() => setAct('remove')}>
          {c.remove}
        </button>
      )}
      <RowForm
        noun="Organization"
        row={organization}
        title={name}
        fields={[
          { ...nameField(c, name), isHarmless: true },
          slugField(s, slug),
          colourField(t.color, b, primaryColor, ({ name: typed, primaryColor: colour }) => (
            <InvitationPreview name={String(typed) || '…'} colour={colour} logoUrl={logoUrl} />
          )),
          {
            kind: 'switch',
            name: 'requireMfaForSensitiveActions',
            label: t.mfa,
            hint: t.mfaHint,
            initial: requireMfaForSensitiveActions,
          },
        ]}
        save={(api, values) =>
          api.updateOrganization({ ...values, primaryColor: colourOf(values['primaryColor']), ...target })
        }
        isOpen={act === 'edit'}
        onOpen={() => setAct('edit')}
        onClose={close}
      />
      {act === 'remove' && (
        <EntityForm
          title={`${c.remove}: ${name}`}
          submitLabel={c.remove}
          fields={[typedSlugField(s, slug)]}
          about={t.removal}
          isDangerous
          save={(api) => api.deleteOrganization(target)}
          onDone={() => void navigate({ to: '/' })}
          onClose={close}
        />
      )}
    </div>
  );
}
