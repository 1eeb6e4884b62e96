import type { components } from '@doorward/node/client';
import { textColumn, timeColumn } from '../../../entities/tables/columns.tsx';
import { EntityPage } from '../../../entities/entity-page.tsx';
import type { Entity } from '../../../entities/declarations/entity.ts';
import { onlyRow } from '../../../entities/tables/only-row.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { Exact, Facts } from '../../../ui/facts.tsx';
import { RowAction } from '../../keys/row-action.tsx';
import { formInput } from '../../../entities/declarations/form-field.ts';
import { domainTexts, type DomainTexts } from './domain-texts.ts';

type Domain = components['schemas']['OrganizationDomain'];

const tone = { pending: '', verified: 'gain', lapsed: 'problem' } as const;

const domains: Entity<Domain, DomainTexts> = {
  noun: 'OrganizationDomain',
  texts: domainTexts,
  name: ({ domain }) => domain,
  columns: (t, c) => [
    textColumn('domain', t.domain, ({ domain }) => domain, { sortField: 'domain' }),
    textColumn('status', c.status, ({ status }) => t.statuses[status], {
      sortField: 'status',
      cell: ({ status }) => <span className={tone[status]}>{t.statuses[status]}</span>,
    }),
    timeColumn('checkedAt', t.checked, ({ checkedAt }) => checkedAt, { never: t.never }),
  ],
  filters: (t, c) => [
    {
      kind: 'option',
      name: 'status',
      label: c.status,
      initial: '',
      options: (['pending', 'verified', 'lapsed'] as const).map((id) => ({ id, name: t.statuses[id] })),
    },
  ],
  list: (api, input, signal) => api.organizationDomains(input, { signal }),
  read: async (api, { id, ...input }, signal) =>
    onlyRow(await api.organizationDomains({ ...input, ids: [id] }, { signal })),
  fields: (t) => [
    {
      kind: 'text',
      name: 'domain',
      label: t.domain,
      hint: t.domainHint,
      isRequired: true,
      initial: '',
    },
  ],
  create: (api, input) => api.createOrganizationDomain(formInput<'createOrganizationDomain'>(input)),
  remove: (api, input) => api.deleteOrganizationDomain(input),
  details: (domain) => <Details domain={domain} />,
  actions: (domain) => <Verification domain={domain} />,
};

/** Shows the DNS record to publish. Its name and its text can be copied separately. */
function Details({ domain: { record } }: { readonly domain: Domain }) {
  const t = useTexts(domainTexts);
  return (
    <section>
      <h3>{t.record}</h3>
      <p>{t.recordAbout}</p>
      <Facts
        facts={[
          [t.recordType, <code>{record.type}</code>],
          [t.recordName, <Exact text={record.name} />],
          [t.recordText, <Exact text={record.value} />],
        ]}
      />
    </section>
  );
}

function Verification({ domain: { id, domain } }: { readonly domain: Domain }) {
  const t = useTexts(domainTexts);
  const rights = useRights(useScope());
  if (!rights.can('OrganizationDomain:Verify')) return null;
  return (
    <RowAction
      label={t.verify}
      name={domain}
      about={t.verifyAbout}
      fields={[]}
      save={(api, input) =>
        // The service waits 5 s for a name server that doesn't respond.
        api.verifyOrganizationDomain({ ...input, id }, { timeoutMs: 15_000 })
      }
    />
  );
}

const DomainsPage = () => <EntityPage entity={domains} />;
export default DomainsPage;
