import { useEffect, useState } from 'react';
import type { components } from '@doorward/node/client';
import { useList } from '../../../api/use-api.ts';
import { useEach } from '../../../api/use-each.ts';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { common } from '../../../i18n/common.ts';
import { formatNumber } from '../../../i18n/format.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { announce } from '../../../ui/announcer.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { ListFoot } from '../../../ui/tables/list-foot.tsx';
import { Failure } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { Table } from '../../../ui/tables/table.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { Answer } from './answer.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { deliveryTexts } from './delivery-texts.ts';

type Delivery = components['schemas']['WebhookDelivery'];

const PAGE = 10;
const AGAIN_AFTER_MS = 1500;
/** How often the list is read while the dialog shows a delivery that waits for its next attempt. */
const WATCHED_AFTER_MS = 5000;
const FRESH_MS = 30_000;

/** Whether a delivery was requested only just now, so that its outcome is expected soon. */
const isExpected = ({ status, nextAttemptAt, updatedAt }: Delivery): boolean =>
  status === 'pending' &&
  (nextAttemptAt === null || new Date(nextAttemptAt).getTime() <= Date.now()) &&
  Date.now() - new Date(updatedAt).getTime() < FRESH_MS;

/** Whether the last attempt failed, and no new attempt is under way. */
const hasFailed = (delivery: Delivery): boolean =>
  delivery.status === 'exhausted' ||
  (delivery.status === 'pending' && delivery.attemptCount > 0 && !isExpected(delivery));

/** Maximum number of failed attempts that the list shows for a delivery. The dialog shows all of them. */
const ATTEMPTS = 3;

/** Returns the failed attempts, newest first. The latest attempt is left out, because the delivery itself shows it. */
const earlierFailures = ({ attempts = [], attemptCount }: Delivery) =>
  attempts
    .filter(({ number, error }) => error !== null && number !== attemptCount)
    .sort((a, b) => b.number - a.number);

/** Lists the deliveries of a webhook, newest first, with their failed attempts and a button to send each one again. */
export function DeliveryList({ subscriptionId }: { readonly subscriptionId: string }) {
  const t = useTexts(deliveryTexts);
  const scope = useScope();
  const rights = useRights(scope);
  const [openId, setOpenId] = useState<string | null>(null);
  const list = useList(
    ['WebhookDelivery', scope, subscriptionId],
    (api, cursor, signal) =>
      api.webhookDeliveries(
        {
          ...targetOf(scope),
          subscriptionId,
          limit: PAGE,
          sortOrder: 'DESC',
          relations: ['attempts'],
          ...(cursor === undefined ? {} : { cursor }),
        },
        { signal },
      ),
    { isEnabled: rights.can('WebhookDelivery:Query') },
  );
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const mayReplay = rights.can('WebhookDelivery:Replay');
  const failed = mayReplay ? rows.filter(hasFailed) : [];
  const replay = useEach((api, { id }: Delivery) => api.replayWebhookDelivery({ ...targetOf(scope), id }));
  const sendAgain = (deliveries: readonly Delivery[]): void =>
    void replay.run(deliveries).then((left) => {
      if (left.length === 0) announce(t.replayed);
    });
  const problem = replay.outcomes.find(({ error }) => error)?.error;
  const { refetch } = list;
  const open = rows.find(({ id }) => id === openId);
  const isWatched = open?.status === 'pending';
  useEffect(() => {
    const wait = rows.some(isExpected) ? AGAIN_AFTER_MS : isWatched ? WATCHED_AFTER_MS : null;
    if (wait === null) return undefined;
    const timer = setTimeout(() => void refetch(), wait);
    return () => clearTimeout(timer);
  });
  if (!rights.can('WebhookDelivery:Query')) return null;
  return (
    <section>
      <div className="row">
        <h3>{t.deliveries}</h3>
        <button type="button" className="quiet" onClick={() => void refetch()}>
          {t.refresh}
        </button>
        {failed.length > 1 && (
          <button type="button" disabled={replay.isBusy} onClick={() => sendAgain(failed)}>
            {t.replayAll(formatNumber(failed.length))}
          </button>
        )}
      </div>
      {problem && <ErrorBox error={problem} />}
      {list.isPending && <Skeleton rows={3} />}
      {list.error && <Failure error={list.error} permission="WebhookDelivery:Query" onRetry={refetch} />}
      {list.data && rows.length === 0 && <p className="hint">{t.empty}</p>}
      {rows.length > 0 && (
        <Table
          label={t.deliveries}
          rows={rows}
          columns={[
            {
              key: 'event',
              label: t.event,
              cell: ({ id, eventType }) => (
                <button type="button" className="quiet" aria-haspopup="dialog" onClick={() => setOpenId(id)}>
                  {eventType}
                </button>
              ),
            },
            {
              key: 'status',
              label: t.status,
              cell: (delivery) => (
                <span
                  className={hasFailed(delivery) ? 'problem' : delivery.status === 'delivered' ? 'gain' : ''}
                >
                  {delivery.status === 'pending' && hasFailed(delivery)
                    ? t.tried
                    : t.statuses[delivery.status]}
                </span>
              ),
            },
            { key: 'time', label: t.time, cell: ({ createdAt }) => <Time iso={createdAt} /> },
            {
              key: 'answer',
              label: t.answer,
              cell: (delivery) => (
                <>
                  <Answer
                    statusCode={delivery.lastStatusCode}
                    error={delivery.lastError}
                    latencyMs={delivery.lastLatencyMs}
                  />
                  <Failures attempts={earlierFailures(delivery)} />
                </>
              ),
            },
            ...(mayReplay
              ? [
                  {
                    key: 'again',
                    label: t.again,
                    cell: (delivery: Delivery) =>
                      delivery.status !== 'cancelled' &&
                      !isExpected(delivery) && (
                        <button
                          type="button"
                          className={hasFailed(delivery) ? '' : 'quiet'}
                          disabled={replay.isBusy}
                          onClick={() => sendAgain([delivery])}
                        >
                          {t.replay}
                        </button>
                      ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {rows.length > 0 && <ListFoot list={list} />}
      {open && <DeliveryDialog delivery={open} onClose={() => setOpenId(null)} />}
    </section>
  );
}

function Failures({ attempts }: { readonly attempts: ReturnType<typeof earlierFailures> }) {
  const t = useTexts(deliveryTexts);
  const c = useTexts(common);
  if (attempts.length === 0) return null;
  return (
    <ul className="attempts">
      {attempts.slice(0, ATTEMPTS).map(({ number, attemptedAt, statusCode, error, latencyMs }) => (
        <li key={number}>
          {t.attempt(formatNumber(number))}{' '}
          <Answer statusCode={statusCode} error={error} latencyMs={latencyMs} />, <Time iso={attemptedAt} />
        </li>
      ))}
      {attempts.length > ATTEMPTS && <li>{c.more(formatNumber(attempts.length - ATTEMPTS))}</li>}
    </ul>
  );
}
