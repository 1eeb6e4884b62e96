import type { components } from '@doorward/node/client';
import { chipsColumn, createdColumn, nameColumn, textColumn } from '../../../entities/tables/columns.tsx';
import { EntityPage } from '../../../entities/entity-page.tsx';
import type { Entity } from '../../../entities/declarations/entity.ts';
import { Chip } from '../../../ui/chips.tsx';
import { formInput } from '../../../entities/declarations/form-field.ts';
import { appFields, appInput, providerChoices } from './app-fields.ts';
import { AppActions, AppDetails } from './app-panel.tsx';
import { appTexts, type AppTexts } from './app-texts.ts';

type ProjectApp = components['schemas']['ProjectApp'];

const apps: Entity<ProjectApp, AppTexts> = {
  noun: 'ProjectApp',
  texts: appTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    chipsColumn('redirects', t.redirects, ({ redirectUris }) => redirectUris),
    textColumn('providers', t.providers, ({ enabledProviders, identityProviders }) =>
      [
        ...providerChoices(t)
          .filter(({ id }) => enabledProviders.some((provider) => provider === id))
          .map(({ name }) => name),
        ...identityProviders,
      ].join(', '),
    ),
    textColumn('signUp', t.signUpColumn, ({ allowSignUp }) => (allowSignUp ? c.yes : c.no)),
    textColumn('registered', t.registeredColumn, ({ registered }) => (registered ? t.registered : null), {
      cell: ({ registered }) => (registered ? <Chip>{t.registered}</Chip> : '–'),
    }),
    textColumn('confidential', t.confidentialColumn, ({ confidential }) => (confidential ? c.yes : c.no)),
    createdColumn(c),
  ],
  list: (api, input, signal) => api.projectApps(input, { signal }),
  read: (api, input, signal) => api.projectApp({ ...input, relations: ['signUpRole'] }, { signal }),
  fields: appFields,
  create: (api, input) => api.createProjectApp(formInput<'createProjectApp'>(appInput(input))),
  update: (api, input) => api.updateProjectApp(formInput<'updateProjectApp'>(appInput(input))),
  remove: (api, input) => api.deleteProjectApp(input),
  secretOf: (answer) => (answer as components['schemas']['ProjectAppWithSecret']).clientSecret ?? null,
  details: (app) => <AppDetails app={app} />,
  actions: (app) => <AppActions app={app} />,
};

const AppsPage = () => <EntityPage entity={apps} />;
export default AppsPage;
