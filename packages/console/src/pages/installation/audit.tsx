import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { onlyRow } from '../../entities/tables/only-row.ts';
import { AuditExport } from '../history/audit-export.tsx';
import { auditEntries, type Entry } from '../history/audit-entries.tsx';
import type { AuditTexts } from '../history/audit-texts.ts';
import { Verification } from '../history/verification.tsx';

const audit: Entity<Entry, AuditTexts> = {
  ...auditEntries,
  noun: 'InstallationAudit',
  path: () => 'installation/audit-logs',
  list: (api, input, signal) => api.installationAuditLogs(input, { signal }),
  read: async (api, { id, ...input }, signal) =>
    onlyRow(await api.installationAuditLogs({ ...input, ids: [id] }, { signal })),
  footer: (entries, filters) => (
    <>
      <Verification
        entries={entries}
        isFiltered={Object.keys(filters).some((name) => name !== 'from' && name !== 'to')}
      />
      <AuditExport filters={filters} />
    </>
  ),
};

/** The audit log of the operators: what they changed and what they viewed. */
const AuditPage = () => <EntityPage entity={audit} />;
export default AuditPage;
