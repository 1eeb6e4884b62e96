import type { components } from '@doorward/node/client';
import { nameColumn, textColumn, timeColumn } from '../../../entities/tables/columns.tsx';
import { EntityPage } from '../../../entities/entity-page.tsx';
import type { Entity } from '../../../entities/declarations/entity.ts';
import { formInput } from '../../../entities/declarations/form-field.ts';
import { ConnectionDetails } from './connection-details.tsx';
import { connectionFields, connectionInput, connectionStatuses } from './connection-fields.ts';
import { connectionTexts, type ConnectionTexts } from './connection-texts.ts';

type Connection = components['schemas']['OrganizationConnection'];

const tone = { draft: '', active: 'gain', disabled: 'problem' } as const;

const connections: Entity<Connection, ConnectionTexts> = {
  noun: 'OrganizationConnection',
  texts: connectionTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    textColumn('status', c.status, ({ status }) => t.statuses[status], {
      sortField: 'status',
      cell: ({ status }) => <span className={tone[status]}>{t.statuses[status]}</span>,
    }),
    textColumn('issuer', t.issuer, ({ issuer }) => issuer),
    textColumn('enforced', t.enforced, ({ enforced }) => (enforced ? c.yes : c.no)),
    timeColumn('lastUsedAt', t.lastUsed, ({ lastUsedAt }) => lastUsedAt, { never: t.never }),
  ],
  filters: (t, c) => [
    { kind: 'option', name: 'status', label: c.status, initial: '', options: connectionStatuses(t) },
  ],
  list: (api, input, signal) => api.organizationConnections(input, { signal }),
  read: (api, input, signal) => api.organizationConnection(input, { signal }),
  fields: connectionFields,
  create: (api, input) => api.createOrganizationConnection(formInput<'createOrganizationConnection'>(input)),
  update: (api, input) =>
    api.updateOrganizationConnection(formInput<'updateOrganizationConnection'>(connectionInput(input))),
  remove: (api, input) => api.deleteOrganizationConnection(input),
  details: (connection) => <ConnectionDetails connection={connection} />,
};

const ConnectionsPage = () => <EntityPage entity={connections} />;
export default ConnectionsPage;
