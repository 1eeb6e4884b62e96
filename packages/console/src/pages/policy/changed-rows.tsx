import { useTexts } from '../../i18n/language.ts';
import { Table } from '../../ui/tables/table.tsx';
import { policyTexts, type PolicyKind } from './policy-texts.ts';

/** A row that a plan or a comparison of versions reports as different. */
interface ChangedRow {
  readonly kind: PolicyKind;
  readonly key: string;
  readonly action?: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Lists the rows of a policy document that differ, with their changed members. */
export function ChangedRows({
  label,
  rows,
}: {
  readonly label: string;
  readonly rows: readonly ChangedRow[];
}) {
  const t = useTexts(policyTexts);
  const actions: Readonly<Record<string, string>> = {
    create: t.created,
    update: t.updated,
    delete: t.deleted,
  };
  return (
    <Table
      label={label}
      rows={rows.map((row) => ({ ...row, id: `${row.kind} ${row.key}` }))}
      columns={[
        {
          key: 'key',
          label: t.changes,
          cell: ({ kind, key, action }) => (
            <>
              <bdi>{key}</bdi>{' '}
              <small>
                {t.kinds[kind]}
                {action === undefined ? '' : `, ${actions[action] ?? action}`}
              </small>
            </>
          ),
        },
        { key: 'members', label: t.members, cell: ({ fields }) => <Members fields={fields} /> },
      ]}
    />
  );
}

function Members({ fields }: { readonly fields: Readonly<Record<string, unknown>> }) {
  return (
    <>
      {Object.entries(fields).map(([name, change]) => {
        const { from, to } = change as { readonly from: unknown; readonly to: unknown };
        return (
          <div key={name}>
            {name}: <del>{JSON.stringify(from)}</del> <ins>{JSON.stringify(to)}</ins>
          </div>
        );
      })}
    </>
  );
}
