import type { components } from '@doorward/node/client';
import { textColumn, timeColumn } from '../../entities/tables/columns.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import type { Filter } from '../../entities/declarations/form-field.ts';
import { formatNumber } from '../../i18n/format.ts';
import type { Column } from '../../ui/tables/table.tsx';
import { Actor, actorName } from './actor.tsx';
import { auditTexts, type AuditTexts } from './audit-texts.ts';
import { EntryDetails } from './entry-details.tsx';

export type Entry = components['schemas']['AuditLogEntry'];

const outcomes = ['success', 'denied', 'failed'] as const;

/** Declares how audit entries are shown, which is the same for all audit logs. */
export const auditEntries = {
  texts: auditTexts,
  name: ({ operation }: Entry): string => operation,
  hasSearch: false,
  columns: (t: AuditTexts): readonly Column<Entry>[] => [
    textColumn('operation', t.operation, ({ operation }) => operation),
    textColumn('actor', t.actor, ({ actor }) => actorName(actor), {
      cell: ({ actor }) => <Actor actor={actor} />,
    }),
    {
      key: 'target',
      label: t.target,
      text: ({ target }) => (target ? `${target.type} ${target.id}` : ''),
      cell: ({ target }) => (target ? <span title={target.id}>{target.type}</span> : '–'),
    },
    {
      key: 'outcome',
      label: t.outcome,
      text: ({ outcome }) => t.outcomes[outcome],
      cell: ({ outcome }) => (
        <span className={outcome === 'success' ? '' : 'loss'}>{t.outcomes[outcome]}</span>
      ),
    },
    timeColumn('time', t.time, ({ occurredAt }) => occurredAt),
    {
      key: 'sequence',
      label: t.number,
      sortField: 'sequence',
      text: ({ sequence }) => String(sequence),
      cell: ({ sequence }) => formatNumber(sequence),
    },
  ],
  filters: (t: AuditTexts): readonly Filter[] => [
    { kind: 'text', name: 'operation', label: t.operation, hint: t.operationHint, initial: '' },
    { kind: 'text', name: 'actorId', label: t.actor, hint: t.actorHint, initial: '' },
    { kind: 'text', name: 'targetType', label: t.targetType, hint: t.targetTypeHint, initial: '' },
    { kind: 'text', name: 'targetId', label: t.targetId, initial: '' },
    {
      kind: 'option',
      name: 'outcome',
      label: t.outcome,
      initial: '',
      options: outcomes.map((id) => ({ id, name: t.outcomes[id] })),
    },
    { kind: 'date', name: 'from', label: t.from, initial: null },
    { kind: 'date', name: 'to', label: t.to, initial: null },
  ],
  details: (entry: Entry) => <EntryDetails entry={entry} />,
} satisfies Partial<Entity<Entry, AuditTexts>>;
