import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { onlyRow } from '../../entities/tables/only-row.ts';
import { auditEntries, type Entry } from './audit-entries.tsx';
import { AuditExport } from './audit-export.tsx';
import type { AuditTexts } from './audit-texts.ts';
import { Verification } from './verification.tsx';

const audit: Entity<Entry, AuditTexts> = {
  ...auditEntries,
  noun: 'AuditLog',
  list: (api, input, signal) => api.auditLogs(input, { signal }),
  read: async (api, { id, ...input }, signal) =>
    onlyRow(await api.auditLogs({ ...input, ids: [id] }, { signal })),
  footer: (entries, filters) => (
    <>
      <AuditExport filters={filters} />
      <Verification
        entries={entries}
        isFiltered={Object.keys(filters).some((name) => name !== 'from' && name !== 'to')}
      />
    </>
  ),
};

const AuditPage = () => <EntityPage entity={audit} />;
export default AuditPage;
