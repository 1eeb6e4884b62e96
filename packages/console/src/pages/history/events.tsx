import type { components } from '@doorward/node/client';
import type { Filter } from '../../entities/declarations/form-field.ts';
import { filterValues, Filters } from '../../entities/filters/filters.tsx';
import { useSearch } from '@tanstack/react-router';
import { common } from '../../i18n/common.ts';
import { formatNumber, plural } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Failure, Forbidden } from '../../scopes/failure.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { Table } from '../../ui/tables/table.tsx';
import { Time } from '../../ui/times/time.tsx';
import { Actor } from './actor.tsx';
import { eventTexts } from './event-texts.ts';
import { useFeed } from './use-feed.ts';

/** Shows the events of a scope, with the newest of the loaded events first. */
function EventsPage() {
  const t = useTexts(eventTexts);
  const c = useTexts(common);
  const scope = useScope();
  const rights = useRights(scope);
  const filters: readonly Filter[] = [
    { kind: 'text', name: 'types', label: t.types, hint: t.typesHint, initial: '' },
  ];
  const { types = '' } = filterValues(filters, useSearch({ strict: false }));
  if (rights.isLoading) return <Skeleton />;
  if (rights.error) return <Failure error={rights.error} onRetry={rights.readAgain} />;
  if (!rights.can('Event:Query')) return <Forbidden permission="Event:Query" />;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
      </header>
      <Filters filters={filters} />
      {/* The key starts a new feed if other types are chosen. */}
      <Feed
        key={types}
        types={types.split(/[\s,]+/).filter(Boolean)}
        none={types === '' ? t.empty : c.noMatch}
      />
    </>
  );
}

function Feed({ types, none }: { readonly types: readonly string[]; readonly none: string }) {
  const t = useTexts(eventTexts);
  const { events, isAtEnd, isReading, isFollowing, error, readOn, follow } = useFeed(types);
  return (
    <>
      <label className="switch">
        <input type="checkbox" checked={isFollowing} onChange={(event) => follow(event.target.checked)} />
        <span>
          {t.follow}
          <small className="hint">{t.followHint}</small>
        </span>
      </label>
      {error && <Failure error={error} permission="Event:Query" onRetry={readOn} />}
      {!isAtEnd && events.length > 0 && (
        <p className="row" role="status">
          {plural(events.length, t.newer)}{' '}
          <button type="button" disabled={isReading} onClick={readOn}>
            {t.readOn}
          </button>
        </p>
      )}
      {events.length === 0 && isReading && <Skeleton />}
      {events.length === 0 && !isReading && !error && <Empty title={none} />}
      {events.length > 0 && (
        <Table
          label={t.title}
          rows={events}
          columns={[
            { key: 'type', label: t.type, cell: (event) => <Payload event={event} /> },
            { key: 'actor', label: t.actor, cell: ({ actor }) => <Actor actor={actor} /> },
            { key: 'time', label: t.time, cell: ({ timestamp }) => <Time iso={timestamp} /> },
            { key: 'sequence', label: t.number, cell: ({ sequence }) => formatNumber(sequence) },
          ]}
        />
      )}
    </>
  );
}

/** Shows the type of an event. It expands to the whole event, as webhooks receive it. */
function Payload({ event }: { readonly event: components['schemas']['Event'] }) {
  return (
    <details>
      <summary>{event.type}</summary>
      <pre tabIndex={0} aria-label={event.type}>
        {JSON.stringify(event, null, 2)}
      </pre>
    </details>
  );
}

export default EventsPage;
