import type { Api } from '@doorward/node/client';
import type { Choice, ChoiceSource } from '../../../entities/declarations/form-field.ts';
import type { WebhookTexts } from './webhook-texts.ts';

const LIMIT = 100;

const matching = (choices: readonly Choice[], search = ''): readonly Choice[] =>
  choices.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(search.trim().toLowerCase()));

async function allTypes(api: Api) {
  const types = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Api['eventTypes']>> = await api.eventTypes({
      limit: LIMIT,
      ...(cursor === null ? {} : { cursor }),
    });
    types.push(...page.items);
    cursor = page.hasNextPage ? page.nextCursor : null;
  } while (cursor !== null);
  return types;
}

/** Lists what a webhook can subscribe to: all events, all events of a noun, or a single event type. */
export const subscriptionChoices =
  (t: WebhookTexts): ChoiceSource =>
  async (api, { search }) => {
    const types = await allTypes(api);
    const nouns = [...new Set(types.map(({ name }) => name.split('.')[0] ?? name))].sort();
    return matching(
      [
        { id: '*', name: `* (${t.everything})` },
        ...nouns.map((noun) => ({ id: `${noun}.*`, name: `${noun}.* (${t.allOf(noun)})` })),
        ...types.map(({ name, optIn }) => ({ id: name, name: optIn ? `${name} (${t.optIn})` : name })),
      ],
      search,
    );
  };

/** Lists the event types for which a test can send an example. */
export const exampleChoices: ChoiceSource = async (api, { search }) =>
  matching(
    (await allTypes(api)).map(({ name }) => ({ id: name, name })),
    search,
  );
