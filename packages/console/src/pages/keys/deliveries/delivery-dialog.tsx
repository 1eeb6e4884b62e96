import type { components } from '@doorward/node/client';
import { useChange } from '../../../api/use-api.ts';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { announce } from '../../../ui/announcer.tsx';
import { Dialog } from '../../../ui/dialogs/dialog.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { Exact, Facts } from '../../../ui/facts.tsx';
import { Table } from '../../../ui/tables/table.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { Answer } from './answer.tsx';
import { deliveryTexts } from './delivery-texts.ts';
import { Snippet } from '../snippet.tsx';

/** Shows the delivery of one event: all attempts, the last response, and a button to send it again. */
export function DeliveryDialog({
  delivery,
  onClose,
}: {
  readonly delivery: components['schemas']['WebhookDelivery'];
  readonly onClose: () => void;
}) {
  const t = useTexts(deliveryTexts);
  const scope = useScope();
  const rights = useRights(scope);
  const replay = useChange((api, id: string) => api.replayWebhookDelivery({ ...targetOf(scope), id }));
  const attempts = (delivery.attempts ?? []).map((attempt) => ({ ...attempt, id: String(attempt.number) }));
  const mayReplay = delivery.status !== 'cancelled' && rights.can('WebhookDelivery:Replay');
  return (
    <Dialog title={delivery.eventType} onClose={onClose} isWide>
      <Facts
        facts={[
          [t.status, t.statuses[delivery.status]],
          [t.time, <Time iso={delivery.createdAt} />],
          [t.deliveredAt, delivery.deliveredAt && <Time iso={delivery.deliveredAt} />],
          [t.nextAttempt, delivery.nextAttemptAt && <Time iso={delivery.nextAttemptAt} />],
          [t.eventId, <Exact text={delivery.eventId} />],
        ]}
      />
      <section>
        <h3>{t.attempts}</h3>
        {attempts.length === 0 ? (
          <p className="hint">{t.none}</p>
        ) : (
          <Table
            label={t.attempts}
            rows={attempts}
            columns={[
              { key: 'number', label: t.number, cell: ({ number }) => number },
              { key: 'time', label: t.time, cell: ({ attemptedAt }) => <Time iso={attemptedAt} /> },
              {
                key: 'answer',
                label: t.answer,
                cell: ({ statusCode, error, latencyMs }) => (
                  <Answer statusCode={statusCode} error={error} latencyMs={latencyMs} />
                ),
              },
            ]}
          />
        )}
      </section>
      {delivery.lastResponseBody && <Snippet label={t.body} text={delivery.lastResponseBody} />}
      {replay.error && <ErrorBox error={replay.error} />}
      {mayReplay && (
        <div className="buttons">
          <button
            type="button"
            className="main"
            disabled={replay.isPending}
            onClick={() => replay.mutate(delivery.id, { onSuccess: () => announce(t.replayed) })}
          >
            {t.replay}
          </button>
        </div>
      )}
    </Dialog>
  );
}
