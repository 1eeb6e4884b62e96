import type { components } from '@doorward/node/client';
import { chipsColumn, textColumn, timeColumn } from '../../../entities/tables/columns.tsx';
import { EntityPage } from '../../../entities/entity-page.tsx';
import type { Entity } from '../../../entities/declarations/entity.ts';
import { descriptionField } from '../../../entities/declarations/fields.ts';
import { useTexts } from '../../../i18n/language.ts';
import { Time } from '../../../ui/times/time.tsx';
import { formInput } from '../../../entities/declarations/form-field.ts';
import { subscriptionChoices } from './event-choices.ts';
import { WebhookActions, WebhookDetails } from './webhook-panel.tsx';
import { webhookTexts, type WebhookTexts } from './webhook-texts.ts';

type Subscription = components['schemas']['WebhookSubscription'];

const statusOf = (
  { active, disabledReason, failingSince, lastDeliveredAt }: Subscription,
  t: WebhookTexts,
): string =>
  disabledReason !== null
    ? t[disabledReason]
    : !active
      ? t.paused
      : failingSince === null
        ? lastDeliveredAt === null
          ? t.ready
          : t.works
        : `${t.failingSince} ${failingSince}`;

/** Whether a URL has the form that the service requires. Only the service can check the host that it leads to. */
const isAddress = (text: string): boolean =>
  /^[a-z]+:\/\/[^/?]/i.test(text) && !/[\s\\#]/.test(text) && URL.canParse(text);

/** Shows whether the service sends events to the webhook, or why it doesn't. */
function Status({ subscription }: { readonly subscription: Subscription }) {
  const t = useTexts(webhookTexts);
  const { active, disabledReason, failingSince, lastDeliveredAt } = subscription;
  if (disabledReason !== null) return <span className="problem">{t[disabledReason]}</span>;
  if (!active) return t.paused;
  if (failingSince === null && lastDeliveredAt === null) return t.ready;
  if (failingSince === null) return <span className="gain">{t.works}</span>;
  return (
    <span className="problem">
      {t.failingSince} <Time iso={failingSince} />
    </span>
  );
}

const webhooks: Entity<Subscription, WebhookTexts> = {
  noun: 'WebhookSubscription',
  texts: webhookTexts,
  name: ({ name, url }) => name ?? url,
  columns: (t, c) => [
    textColumn('url', t.url, ({ url }) => url, { sortField: 'url' }),
    textColumn('name', c.name, ({ name }) => name, { sortField: 'name' }),
    chipsColumn('types', t.types, ({ eventTypes }) => eventTypes),
    textColumn('status', c.status, (subscription) => statusOf(subscription, t), {
      cell: (subscription) => <Status subscription={subscription} />,
    }),
    timeColumn('lastDeliveredAt', t.lastDelivered, ({ lastDeliveredAt }) => lastDeliveredAt, {
      never: t.never,
    }),
  ],
  list: (api, input, signal) => api.webhookSubscriptions(input, { signal }),
  read: (api, input, signal) => api.webhookSubscription(input, { signal }),
  fields: (t, subscription, c) => [
    {
      kind: 'url',
      name: 'url',
      label: t.url,
      hint: t.urlHint,
      isRequired: true,
      check: (value) => (isAddress(String(value)) ? null : t.urlFormat),
      initial: subscription?.url ?? 'https://',
    },
    {
      kind: 'rows',
      name: 'eventTypes',
      label: t.types,
      hint: t.typesHint,
      noun: 'EventType',
      source: subscriptionChoices(t),
      isRequired: true,
      initial: subscription?.eventTypes ?? [],
    },
    {
      kind: 'text',
      name: 'name',
      label: c.name,
      hint: t.nameHint,
      isNullable: true,
      initial: subscription?.name ?? null,
    },
    descriptionField(c, subscription?.description),
    {
      kind: 'switch',
      name: 'active',
      label: t.sends,
      hint: t.sendsHint,
      isHarmless: true,
      initial: subscription?.active ?? true,
    },
  ],
  create: (api, input) => api.createWebhookSubscription(formInput<'createWebhookSubscription'>(input)),
  update: (api, input) => api.updateWebhookSubscription(input),
  remove: (api, input) => api.deleteWebhookSubscription(input),
  secretOf: (answer) => (answer as components['schemas']['WebhookSubscriptionWithSecret']).secret,
  details: (subscription) => <WebhookDetails subscription={subscription} />,
  actions: (subscription) => <WebhookActions subscription={subscription} />,
};

const WebhooksPage = () => <EntityPage entity={webhooks} />;
export default WebhooksPage;
