import type { components } from '@doorward/node/client';
import { formatNumber } from '../../../i18n/format.ts';
import { useTexts } from '../../../i18n/language.ts';
import { deliveryTexts } from './delivery-texts.ts';

/** Shows the response of a receiver: its status or the reason why there is none, and how long it took. */
export function Answer({
  statusCode,
  error,
  latencyMs,
}: {
  readonly statusCode: number | null;
  readonly error: components['schemas']['WebhookDeliveryError'] | null;
  readonly latencyMs: number | null;
}) {
  const t = useTexts(deliveryTexts);
  const parts = [
    statusCode === null ? null : String(statusCode),
    error === null ? null : t.errors[error],
    latencyMs === null ? null : t.milliseconds(formatNumber(latencyMs)),
  ].filter((part) => part !== null);
  if (parts.length === 0) return t.none;
  return <span className={error === null ? '' : 'problem'}>{parts.join(', ')}</span>;
}
