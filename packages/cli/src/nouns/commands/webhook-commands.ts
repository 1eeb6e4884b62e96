import type { Command } from '../../command.ts';
import type { Column } from '../../output/table.ts';
import { assertCanConfirm } from '../../input/confirm.ts';
import { assertId, findRow, idOfRow, argumentHelp } from '../find.ts';
import { graceOf, withSecret } from './key-commands.ts';
import { labelOf, pageInput, pageOptions } from './noun-commands.ts';
import { withoutDryRun } from '../noun.ts';
import { webhooks } from '../nouns.ts';
import { secretOptions } from '../secret-output.ts';
import { makeChange } from '../change.ts';

const columns: readonly Column[] = [
  { name: 'id', kind: 'id' },
  { name: 'event', of: 'eventType' },
  { name: 'status' },
  { name: 'attempts', of: 'attemptCount' },
  { name: 'answer', of: ({ lastStatusCode, lastError }) => lastStatusCode ?? lastError },
  { name: 'created', of: 'createdAt', kind: 'time' },
];

const deliveries: Command = {
  path: ['webhooks', 'deliveries'],
  summary: 'What was sent to webhooks, and how it was answered',
  arguments: { '[webhook]': 'id of a webhook; default: all of the project' },
  options: {
    '--limit <n>': pageOptions['--limit <n>'],
    '--cursor <cursor>': pageOptions['--cursor <cursor>'],
  },
  async run({ connection, terminal, signal }, [subscriptionId], options) {
    const { api } = await connection.inScope();
    const input = { ...pageInput(options), ...(subscriptionId === undefined ? {} : { subscriptionId }) };
    const { items, nextCursor } = await api.webhookDeliveries(input, { signal });
    terminal.list(items, columns, nextCursor);
  },
};

const replay: Command = {
  path: ['webhooks', 'replay'],
  summary: 'Send a delivery again',
  arguments: { '<delivery>': 'id, from doorward webhooks deliveries' },
  async run(run, [id = '']) {
    const doorward = await run.connection.inScope({ changes: true });
    const row = await makeChange(run, doorward, {
      change: withoutDryRun('replayWebhookDelivery'),
      input: { id: assertId(id) },
    });
    if (row) run.terminal.record(row, columns);
  },
};

const test: Command = {
  path: ['webhooks', 'test'],
  summary: 'Send a test event',
  arguments: { '<webhook>': argumentHelp(webhooks) },
  options: { '--type <event>': 'type of the event; default webhook.ping' },
  async run(run, [id = ''], options) {
    const doorward = await run.connection.inScope({ changes: true });
    const eventType = options.text('type');
    const input = { id: assertId(id), ...(eventType === undefined ? {} : { eventType }) };
    const row = await makeChange(run, doorward, { change: withoutDryRun('testWebhookSubscription'), input });
    if (row) run.terminal.record(row, columns);
  },
};

const rotateSecret: Command = {
  path: ['webhooks', 'rotate-secret'],
  summary: 'Give a webhook another secret, after a question',
  arguments: { '<webhook>': argumentHelp(webhooks) },
  options: {
    '--grace <seconds>': 'how long deliveries also carry a signature with the old secret',
    '--force': 'although the secret before this one still works',
    ...secretOptions,
  },
  async run(run, [name = ''], options) {
    assertCanConfirm(run);
    const grace = graceOf(options);
    const row = await findRow(run, await run.connection.inScope(), webhooks, name);
    const input = { id: idOfRow(webhooks, row), ...grace, ...(options.flag('force') ? { force: true } : {}) };
    const question = `Replace the secret of the webhook ${labelOf(webhooks, row)}?`;
    await withSecret(
      run,
      options,
      { change: withoutDryRun('rotateWebhookSecret'), input, question, secret: 'secret' },
      webhooks.columns,
    );
  },
};

export const webhookCommands: readonly Command[] = [deliveries, replay, test, rotateSecret];
