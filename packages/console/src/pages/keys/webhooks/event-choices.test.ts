import type { Api } from '@doorward/node/client';
import { describe, expect, it, vi } from 'vitest';
import type { ChoiceSource } from '../../../entities/declarations/form-field.ts';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { installation } from '../../../scopes/scope.ts';
import { exampleChoices, subscriptionChoices } from './event-choices.ts';
import { webhookTexts } from './webhook-texts.ts';

interface Type {
  readonly name: string;
  readonly optIn: boolean;
}
type Pages = readonly (readonly string[])[];

/** A fake service with these pages of event types. A type whose name ends with `?` must be opted in to. */
function service(pages: Pages) {
  const eventTypes = vi.fn(async ({ cursor = '0' }: { readonly cursor?: string }) => {
    const at = Number(cursor);
    const hasNextPage = at + 1 < pages.length;
    const items = (pages[at] ?? []).map((name): Type => ({
      name: name.replace('?', ''),
      optIn: name.endsWith('?'),
    }));
    return { items, hasNextPage, nextCursor: hasNextPage ? String(at + 1) : null };
  });
  return { api: { eventTypes } as unknown as Api, eventTypes };
}

const t = webhookTexts.en;
const idsOf = async (source: ChoiceSource, api: Api, search?: string): Promise<string[]> => {
  const choices = await source(
    api,
    { ...targetOf(installation), ...(search === undefined ? {} : { search }) },
    () => true,
  );
  return choices.map(({ id }) => id);
};

describe('subscriptionChoices', () => {
  it('offers everything, each noun once in order, and each type as the service orders them', async () => {
    const { api } = service([['user.created', 'role.created', 'user.deleted', 'ping']]);
    expect(await idsOf(subscriptionChoices(t), api)).toEqual([
      '*',
      'ping.*',
      'role.*',
      'user.*',
      'user.created',
      'role.created',
      'user.deleted',
      'ping',
    ]);
  });

  it('offers everything even if the service has no types', async () => {
    expect(await idsOf(subscriptionChoices(t), service([]).api)).toEqual(['*']);
  });

  it('reads all pages, also behind an empty one', async () => {
    const { api, eventTypes } = service([['a.x'], [], ['b.x', 'a.y']]);
    expect(await idsOf(subscriptionChoices(t), api)).toEqual(['*', 'a.*', 'b.*', 'a.x', 'b.x', 'a.y']);
    expect(eventTypes.mock.calls.map(([input]) => input.cursor)).toEqual([undefined, '1', '2']);
  });

  it.each([
    [' ROLE ', ['role.*', 'role.created']],
    ['.', ['role.*', 'user.*', 'role.created', 'user.seen']],
    ['.*', ['role.*', 'user.*']],
    ['[', []],
    ['   ', ['*', 'role.*', 'user.*', 'role.created', 'user.seen']],
    [t.optIn.toUpperCase(), ['user.seen']],
  ])('finds with %j, which is a text and not a pattern, %j', async (search, ids) => {
    const { api } = service([['role.created', 'user.seen?']]);
    expect(await idsOf(subscriptionChoices(t), api, search)).toEqual(ids);
  });
});

describe('exampleChoices', () => {
  it('offers types only, because there is no example of everything', async () => {
    const { api } = service([['role.created'], ['user.seen?']]);
    expect(await idsOf(exampleChoices, api)).toEqual(['role.created', 'user.seen']);
    expect(await idsOf(exampleChoices, api, '*')).toEqual([]);
  });
});
