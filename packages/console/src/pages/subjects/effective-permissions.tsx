import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { components } from '@doorward/node/client';
import { common } from '../../i18n/common.ts';
import { plural } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Table } from '../../ui/tables/table.tsx';
import { mayDoTexts } from './may-do-texts.ts';

type Held = components['schemas']['EffectivePermission'];

/** With more resources than this, a search is shown. */
const MANY = 8;

/** Shows permissions grouped by resource. Each action links to the explanation why the user may perform it. */
export function EffectivePermissions({
  permissions,
  userId,
}: {
  readonly permissions: readonly Held[];
  readonly userId: string;
}) {
  const t = useTexts(mayDoTexts);
  const c = useTexts(common);
  const [text, setText] = useState('');
  const all = byResource(permissions);
  const wanted = text.trim().toLowerCase();
  const rows = byResource(
    permissions.filter(({ resource, action }) => `${resource}:${action}`.toLowerCase().includes(wanted)),
  );
  return (
    <section>
      <h2>{t.permissions}</h2>
      <p className="hint">{plural(permissions.length, t.count)}</p>
      {all.length > MANY && (
        <input
          type="search"
          data-search
          className="subject-search"
          aria-label={`${c.search}: ${t.permissions}`}
          placeholder={c.search}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {rows.length === 0 ? (
        <p>{c.noMatch}</p>
      ) : (
        <Table
          label={t.permissions}
          columns={[
            { key: 'resource', label: t.resource, cell: ({ id }) => <code>{id}</code> },
            {
              key: 'actions',
              label: t.actions,
              cell: ({ id, actions }) =>
                actions.map((held) => <Action key={held.action} resource={id} held={held} userId={userId} />),
            },
          ]}
          rows={rows}
        />
      )}
    </section>
  );
}

interface ResourceRow {
  readonly id: string;
  readonly actions: readonly Held[];
}

function byResource(permissions: readonly Held[]): readonly ResourceRow[] {
  const rows = new Map<string, Held[]>();
  for (const held of permissions) rows.set(held.resource, [...(rows.get(held.resource) ?? []), held]);
  return [...rows].map(([id, actions]) => ({ id, actions }));
}

function Action({
  resource,
  held: { action, conditional },
  userId,
}: {
  readonly resource: string;
  readonly held: Held;
  readonly userId: string;
}) {
  const t = useTexts(mayDoTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  return (
    <span className="chip">
      {can('Authorization:Explain') ? (
        <Link
          to="/$tenant/$id/$page"
          params={{ ...scope, page: 'why' }}
          search={{ user: userId, resource, action }}
        >
          {action}
        </Link>
      ) : (
        action
      )}
      {conditional && <small> · {t.conditional}</small>}
    </span>
  );
}
