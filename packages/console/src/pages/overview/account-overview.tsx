import { useQueryClient } from '@tanstack/react-query';
import { useRead } from '../../api/use-api.ts';
import { frameTexts } from '../../frame/texts/frame-texts.ts';
import { common } from '../../i18n/common.ts';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { idOf, type Scope } from '../../scopes/scope.ts';
import { useRights } from '../../scopes/use-scope.ts';
import { useMe } from '../../scopes/use-scopes.ts';
import { Exact, Facts } from '../../ui/facts.tsx';
import { Failure } from '../../scopes/failure.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/times/time.tsx';
import { AllLink, Cards, projectCard } from './parts/parts.tsx';
import { Steps } from './parts/steps.tsx';

const SHOWN = 12;

interface AccountTexts {
  readonly about: string;
  readonly owner: string;
  readonly kind: string;
  readonly kinds: Readonly<Record<'personal' | 'organization', string>>;
  readonly projects: string;
  readonly organizations: string;
  readonly project: string;
  readonly projectAbout: string;
  readonly organization: string;
  readonly organizationAbout: string;
}

const texts: Texts<AccountTexts> = {
  en: {
    about: 'What belongs to you alone, and the organizations that you are in.',
    owner: 'Owner',
    kind: 'It can hold',
    kinds: { personal: 'Projects', organization: 'Projects and organizations' },
    projects: 'Projects',
    organizations: 'Organizations',
    project: 'Create a project',
    projectAbout: 'A project holds the users, roles and keys of one product.',
    organization: 'Create an organization',
    organizationAbout: 'In an organization, several people share projects.',
  },
  de: {
    about: 'Was Ihnen allein gehört, und die Organisationen, in denen Sie sind.',
    owner: 'Eigentum von',
    kind: 'Es kann enthalten',
    kinds: { personal: 'Projekte', organization: 'Projekte und Organisationen' },
    projects: 'Projekte',
    organizations: 'Organisationen',
    project: 'Ein Projekt erstellen',
    projectAbout: 'Ein Projekt enthält die Personen, Rollen und Schlüssel eines Produkts.',
    organization: 'Eine Organisation erstellen',
    organizationAbout: 'In einer Organisation teilen sich mehrere Menschen Projekte.',
  },
  es: {
    about: 'Lo que pertenece solo a usted, y las organizaciones en las que está.',
    owner: 'Pertenece a',
    kind: 'Puede contener',
    kinds: { personal: 'Proyectos', organization: 'Proyectos y organizaciones' },
    projects: 'Proyectos',
    organizations: 'Organizaciones',
    project: 'Crear un proyecto',
    projectAbout: 'Un proyecto contiene los usuarios, roles y claves de un producto.',
    organization: 'Crear una organización',
    organizationAbout: 'En una organización varias personas comparten proyectos.',
  },
  fr: {
    about: 'Ce qui n’appartient qu’à vous, et les organisations dont vous faites partie.',
    owner: 'Appartient à',
    kind: 'Il peut contenir',
    kinds: { personal: 'Des projets', organization: 'Des projets et des organisations' },
    projects: 'Projets',
    organizations: 'Organisations',
    project: 'Créer un projet',
    projectAbout: 'Un projet contient les utilisateurs, les rôles et les clés d’un produit.',
    organization: 'Créer une organisation',
    organizationAbout: 'Dans une organisation, plusieurs personnes partagent des projets.',
  },
};

/** The overview of an account, with its projects and organizations. */
export function AccountOverview({ scope: place }: { readonly scope: Scope }) {
  const t = useTexts(texts);
  const f = useTexts(frameTexts);
  const c = useTexts(common);
  const { can, isLoading, error } = useRights(place);
  const queries = useQueryClient();
  const { data: me } = useMe();
  const account = me?.accounts.find(({ id }) => id === idOf(place));
  const scope = { tenant: 'account' as const, id: place.id };
  const projects = useRead(
    ['Project', scope, 'first'],
    (api, signal) => api.projects({ scope, limit: SHOWN }, { signal }),
    { isEnabled: can('Project:Query') },
  );
  const organizations = useRead(
    ['Organization', scope, 'first'],
    (api, signal) => api.organizations({ scope, limit: SHOWN }, { signal }),
    { isEnabled: can('Organization:Query') },
  );
  const failure =
    error ?? (projects.data ? null : projects.error) ?? (organizations.data ? null : organizations.error);
  if (failure) return <Failure error={failure} onRetry={() => queries.refetchQueries({ type: 'active' })} />;
  if (isLoading) return <Skeleton />;
  const holdsOrganizations = account?.type === 'organization' && can('Organization:Create');
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{f.personalAccount}</h1>
          <p>{t.about}</p>
        </div>
      </header>
      {account && (
        <Facts
          facts={[
            [t.owner, <bdi>{me?.user.name}</bdi>],
            [t.kind, t.kinds[account.type]],
            [c.createdAt, <Time iso={account.createdAt} />],
            ['Id', <Exact text={account.id} />],
          ]}
        />
      )}
      {(projects.isLoading || organizations.isLoading) && <Skeleton />}
      {projects.data && organizations.data && (
        <Steps
          scope={scope}
          steps={[
            ...(holdsOrganizations
              ? [
                  {
                    page: 'organizations',
                    name: t.organization,
                    about: t.organizationAbout,
                    isDone: organizations.data.totalCount > 0,
                  },
                ]
              : []),
            // This step also counts as done with an organization, because the organization can contain the projects.
            ...(can('Project:Create')
              ? [
                  {
                    page: 'projects',
                    name: t.project,
                    about: t.projectAbout,
                    isDone: projects.data.totalCount > 0 || organizations.data.totalCount > 0,
                  },
                ]
              : []),
          ]}
        />
      )}
      {projects.data && projects.data.items.length > 0 && (
        <section>
          <h2>{t.projects}</h2>
          <Cards items={projects.data.items.map(projectCard)} />
          <AllLink scope={scope} page="projects" shown={SHOWN} total={projects.data.totalCount} />
        </section>
      )}
      {organizations.data && organizations.data.items.length > 0 && (
        <section>
          <h2>{t.organizations}</h2>
          <Cards
            items={organizations.data.items.map(({ id, name, slug }) => ({
              id,
              scope: { tenant: 'organization' as const, id },
              name,
              slug,
            }))}
          />
          <AllLink scope={scope} page="organizations" shown={SHOWN} total={organizations.data.totalCount} />
        </section>
      )}
    </>
  );
}
