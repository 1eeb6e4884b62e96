import type { components } from '@doorward/node/client';
import { createdColumn, descriptionColumn, nameColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity, EntityTexts } from '../../entities/declarations/entity.ts';
import { descriptionField, nameField } from '../../entities/declarations/fields.ts';
import { formInput } from '../../entities/declarations/form-field.ts';
import type { Texts } from '../../i18n/language.ts';
import type { Scope } from '../../scopes/scope.ts';
import { slugField, slugTexts, withoutEmptySlug, type SlugTexts } from './slug-field.ts';

type Project = components['schemas']['Project'];

interface ProjectTexts extends EntityTexts, SlugTexts {}

const texts: Texts<ProjectTexts> = {
  en: {
    ...slugTexts.en,
    title: 'Projects',
    about: 'A product or environment, with its own users, roles, resources and keys.',
    create: 'New project',
    empty: 'There are no projects yet. A project holds the users, roles and keys of a product.',
    removal: '',
  },
  de: {
    ...slugTexts.de,
    title: 'Projekte',
    about: 'Ein Produkt oder eine Umgebung, mit eigenen Personen, Rollen, Ressourcen und Schlüsseln.',
    create: 'Neues Projekt',
    empty:
      'Es gibt noch keine Projekte. Ein Projekt enthält die Personen, Rollen und Schlüssel eines Produkts.',
    removal: '',
  },
  es: {
    ...slugTexts.es,
    title: 'Proyectos',
    about: 'Un producto o entorno, con sus propios usuarios, roles, recursos y claves.',
    create: 'Nuevo proyecto',
    empty: 'Aún no hay proyectos. Un proyecto contiene los usuarios, roles y claves de un producto.',
    removal: '',
  },
  fr: {
    ...slugTexts.fr,
    title: 'Projets',
    about: 'Un produit ou un environnement, avec ses propres utilisateurs, rôles, ressources et clés.',
    create: 'Nouveau projet',
    empty:
      'Il n’y a pas encore de projets. Un projet contient les utilisateurs, les rôles et les clés d’un produit.',
    removal: '',
  },
};

const projects: Entity<Project, ProjectTexts> = {
  noun: 'Project',
  texts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    textColumn('slug', t.slug, ({ slug }) => slug, { cell: ({ slug }) => <code>{slug}</code> }),
    descriptionColumn(c),
    createdColumn(c),
  ],
  list: (api, input, signal) => api.projects(input, { signal }),
  read: (api, input, signal) => api.project(input, { signal }),
  link: ({ scope }) => scope as Scope,
  fields: (t, _row, c) => [nameField(c), slugField(t), descriptionField(c)],
  create: (api, input) => api.createProject(formInput<'createProject'>(withoutEmptySlug(input))),
};

const ProjectsPage = () => <EntityPage entity={projects} />;
export default ProjectsPage;
