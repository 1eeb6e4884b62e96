import { Link } from '@tanstack/react-router';
import type { components } from '@doorward/node/client';
import { formatDateTime } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { Facts } from '../../ui/facts.tsx';
import { auditTexts } from './audit-texts.ts';

type Entry = components['schemas']['AuditLogEntry'];

/** Shows the facts that the list leaves out, and the values before and after the change. */
export function EntryDetails({ entry }: { readonly entry: Entry }) {
  const t = useTexts(auditTexts);
  const scope = useScope();
  const { actor, target, changes, metadata } = entry;
  const facts = [
    [t.exactTime, formatDateTime(entry.occurredAt)],
    [t.targetId, target?.id],
    [t.event, entry.event],
    [t.code, entry.code ?? entry.reason],
    [t.address, entry.ipAddress],
    [t.program, entry.userAgent],
    [t.request, entry.requestId],
    [t.hash, entry.hash],
  ] as const;
  return (
    <>
      <Facts facts={facts.map(([label, text]) => [label, text && <bdi>{text}</bdi>])} />
      {changes && <Changes changes={changes} />}
      {Object.keys(metadata).length > 0 && (
        <details>
          <summary>{t.more}</summary>
          <pre>{JSON.stringify(metadata, null, 2)}</pre>
        </details>
      )}
      <p className="row">
        {actor.id !== null && (
          <Link to="/$tenant/$id/$page" params={{ ...scope, page: 'audit' }} search={{ actorId: actor.id }}>
            {t.onlyActor}
          </Link>
        )}
        {target && (
          <Link
            to="/$tenant/$id/$page"
            params={{ ...scope, page: 'audit' }}
            search={{ targetType: target.type, targetId: target.id }}
          >
            {t.onlyTarget}
          </Link>
        )}
      </p>
    </>
  );
}

function Changes({ changes }: { readonly changes: Readonly<Record<string, unknown>> }) {
  const t = useTexts(auditTexts);
  return (
    <section>
      <h3>{t.changes}</h3>
      <dl className="changes">
        {Object.entries(changes).map(([field, change]) => {
          const { from, to } = (change ?? {}) as { readonly from?: unknown; readonly to?: unknown };
          return (
            <div key={field}>
              <dt>{field}</dt>
              <dd>
                <span className="loss">
                  <span className="hidden">{t.before}: </span>
                  <code>{textOf(from)}</code>
                </span>{' '}
                <span aria-hidden="true">→</span>{' '}
                <span className="gain">
                  <span className="hidden">{t.after}: </span>
                  <code>{textOf(to)}</code>
                </span>
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}

/** Formats a value: a missing one as a dash, text unchanged, everything else as JSON. */
const textOf = (value: unknown): string =>
  value === undefined || value === null
    ? '–'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value, null, 1);
