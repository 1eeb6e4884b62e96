import type { components } from '@doorward/node/client';
import { createdColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { onlyRow } from '../../entities/tables/only-row.ts';
import { formatNumber } from '../../i18n/format.ts';
import { projectTexts, type TenantListTexts } from './installation-texts.ts';

type Project = components['schemas']['InstallationProject'];

const projects: Entity<Project, TenantListTexts> = {
  noun: 'InstallationProject',
  path: () => 'installation/projects',
  texts: projectTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    textColumn('name', c.name, ({ name }) => name),
    textColumn('users', t.users, ({ counts }) => formatNumber(counts.users)),
    textColumn('keys', t.keys, ({ counts }) => formatNumber(counts.keys)),
    textColumn('apps', t.apps, ({ counts }) => formatNumber(counts.apps)),
    createdColumn(c),
  ],
  list: (api, input, signal) => api.installationProjects(input, { signal }),
  read: async (api, { id, ...input }, signal) =>
    onlyRow(await api.installationProjects({ ...input, ids: [id] }, { signal })),
};

const ProjectsPage = () => <EntityPage entity={projects} />;
export default ProjectsPage;
