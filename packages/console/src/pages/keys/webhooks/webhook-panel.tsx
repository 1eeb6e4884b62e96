import type { components } from '@doorward/node/client';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { Facts } from '../../../ui/facts.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { RowAction } from '../row-action.tsx';
import { DeliveryList } from '../deliveries/delivery-list.tsx';
import { exampleChoices } from './event-choices.ts';
import { defaultGrace, graceChoices, isAhead } from '../grace.ts';
import { Snippet } from '../snippet.tsx';
import { webhookTexts } from './webhook-texts.ts';

type Subscription = components['schemas']['WebhookSubscription'];

/** Example code for a receiver in Express. It refuses requests that the service hasn't signed. */
const receiver = `import { webhookHandler } from '@doorward/node';

app.post(
  '/hooks',
  webhookHandler({
    secret: process.env.WEBHOOK_SECRET,
    on: { '*': (event) => save(event.id, event) },
  }),
);`;

export function WebhookDetails({ subscription }: { readonly subscription: Subscription }) {
  const t = useTexts(webhookTexts);
  const c = useTexts(common);
  const { id, description, previousSecretExpiresAt } = subscription;
  return (
    <>
      <Facts
        facts={[
          [c.description, description && <bdi>{description}</bdi>],
          [t.oldSecretUntil, isAhead(previousSecretExpiresAt) && <Time iso={previousSecretExpiresAt} />],
        ]}
      />
      <DeliveryList subscriptionId={id} />
      <Snippet label={t.snippet} text={receiver} />
    </>
  );
}

export function WebhookActions({ subscription }: { readonly subscription: Subscription }) {
  const t = useTexts(webhookTexts);
  const rights = useRights(useScope());
  const { id, url, previousSecretExpiresAt } = subscription;
  return (
    <>
      {rights.can('WebhookSubscription:Test') && (
        <RowAction
          label={t.test}
          name={url}
          about={t.testAbout}
          fields={[
            {
              kind: 'row',
              name: 'eventType',
              label: t.testType,
              hint: t.testTypeHint,
              noun: 'EventExample',
              source: exampleChoices,
              initial: null,
            },
          ]}
          save={(api, { eventType, ...input }) =>
            api.testWebhookSubscription({
              ...input,
              id,
              ...(typeof eventType === 'string' ? { eventType } : {}),
            })
          }
        />
      )}
      {rights.can('WebhookSubscription:RotateSecret') && (
        <RowAction
          label={t.rotate}
          name={url}
          about={t.rotateAbout}
          fields={[
            {
              kind: 'option',
              name: 'graceSeconds',
              label: t.grace,
              options: graceChoices(t.atOnce, 1, 7),
              initial: defaultGrace,
            },
            {
              kind: 'switch',
              name: 'force',
              label: t.force,
              hint: t.forceHint,
              isShown: () => isAhead(previousSecretExpiresAt),
              initial: false,
            },
          ]}
          save={(api, { graceSeconds, force, ...input }) =>
            api.rotateWebhookSecret({
              ...input,
              id,
              graceSeconds: Number(graceSeconds),
              force: force === true,
            })
          }
          secretOf={({ secret }) => secret}
        />
      )}
    </>
  );
}
