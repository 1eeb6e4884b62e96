import type { components } from '@doorward/node/client';
import { createdColumn, nameColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity, EntityTexts } from '../../entities/declarations/entity.ts';
import { nameField } from '../../entities/declarations/fields.ts';
import { formInput } from '../../entities/declarations/form-field.ts';
import type { Texts } from '../../i18n/language.ts';
import { slugField, slugTexts, withoutEmptySlug, type SlugTexts } from './slug-field.ts';

type Organization = components['schemas']['Organization'];

interface OrganizationTexts extends EntityTexts, SlugTexts {
  readonly mfa: string;
  readonly mfaHint: string;
}

const texts: Texts<OrganizationTexts> = {
  en: {
    ...slugTexts.en,
    title: 'Organizations',
    about: 'People who share projects. Open one to see its members, projects and settings.',
    create: 'New organization',
    empty: 'There are no organizations yet. An organization lets several people share projects.',
    removal: '',
    mfa: 'Second factor for sensitive changes',
    mfaHint: 'Who changes rights, keys or members needs a second factor.',
  },
  de: {
    ...slugTexts.de,
    title: 'Organisationen',
    about:
      'Menschen, die sich Projekte teilen. Öffnen Sie eine, um Mitglieder, Projekte und Einstellungen zu sehen.',
    create: 'Neue Organisation',
    empty: 'Es gibt noch keine Organisationen. In einer Organisation teilen sich mehrere Menschen Projekte.',
    removal: '',
    mfa: 'Zweiter Faktor für heikle Änderungen',
    mfaHint: 'Wer Rechte, Schlüssel oder Mitglieder ändert, braucht einen zweiten Faktor.',
  },
  es: {
    ...slugTexts.es,
    title: 'Organizaciones',
    about: 'Personas que comparten proyectos. Abra una para ver sus miembros, proyectos y ajustes.',
    create: 'Nueva organización',
    empty: 'Aún no hay organizaciones. En una organización varias personas comparten proyectos.',
    removal: '',
    mfa: 'Segundo factor para cambios delicados',
    mfaHint: 'Quien cambia derechos, claves o miembros necesita un segundo factor.',
  },
  fr: {
    ...slugTexts.fr,
    title: 'Organisations',
    about:
      'Des personnes qui partagent des projets. Ouvrez-en une pour voir ses membres, ses projets et ses réglages.',
    create: 'Nouvelle organisation',
    empty:
      'Il n’y a pas encore d’organisations. Dans une organisation, plusieurs personnes partagent des projets.',
    removal: '',
    mfa: 'Second facteur pour les changements sensibles',
    mfaHint: 'Quiconque change des droits, des clés ou des membres a besoin d’un second facteur.',
  },
};

export const organizations: Entity<Organization, OrganizationTexts> = {
  noun: 'Organization',
  texts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    textColumn('slug', t.slug, ({ slug }) => slug, { cell: ({ slug }) => <code>{slug}</code> }),
    textColumn('mfa', t.mfa, ({ requireMfaForSensitiveActions }) =>
      requireMfaForSensitiveActions ? c.yes : c.no,
    ),
    createdColumn(c),
  ],
  list: (api, input, signal) => api.organizations(input, { signal }),
  read: (api, { id }, signal) => api.organization({ scope: { tenant: 'organization', id }, id }, { signal }),
  link: ({ id }) => ({ tenant: 'organization', id }),
  fields: (t, _row, c) => [
    nameField(c),
    slugField(t),
    {
      kind: 'switch',
      name: 'requireMfaForSensitiveActions',
      label: t.mfa,
      hint: t.mfaHint,
      initial: false,
    },
  ],
  create: (api, input) => api.createOrganization(formInput<'createOrganization'>(withoutEmptySlug(input))),
};

const OrganizationsPage = () => <EntityPage entity={organizations} />;
export default OrganizationsPage;
