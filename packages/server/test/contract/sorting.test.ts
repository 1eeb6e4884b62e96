import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import { operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { house, isOfInstallation, type House } from './world.ts';

/**
 * Every list in every order that it offers (conventions §7): paging with a cursor returns each row exactly once, in the
 * order of the whole list, including rows without a value.
 */
let app: TestApp;
let home: House;

beforeAll(async () => {
  app = await startApp();
  home = await house(app);
  const { scope } = home.places.accountProject;
  const as = { token: home.person.token };
  // No key of the house expires, and only one has been used, so these two are added.
  for (const days of [2, 1]) {
    const expiresAt = new Date(app.clock.now().getTime() + days * 86_400_000).toISOString();
    await app.must('createApiKey', { scope, name: `Key ${days}`, expiresAt }, as);
  }
});
afterAll(() => app.close());

type Item = Readonly<Record<string, unknown>>;
interface Page {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

const fieldsOf = ({ input }: NamedOperation): readonly string[] => {
  const field = input['sortField'];
  return field instanceof z.ZodOptional ? (field.unwrap() as z.ZodEnum).options.map(String) : [];
};

const lists = operations.filter((op) => op.scoped && !isOfInstallation(op) && fieldsOf(op).length > 0);
const orders = lists.flatMap((op) => fieldsOf(op).map((field) => [op.name, field, op] as const));

describe.each(orders)('%s by %s', (name, sortField, op) => {
  const read = async (more: object): Promise<Page> => {
    const place = (op.tenants ?? [])
      .map((tenant) => home.places[tenant])
      .find((candidate) => candidate !== undefined);
    const input = {
      scope: place?.scope,
      ...('resourceId' in op.input && { resourceId: place?.rows['Resource']?.live[0] }),
      // For the list of policy versions: the id of the project.
      ...('id' in op.input && { id: place?.scope.id.split(':')[1] }),
    };
    const answer = await app.raw(name, { ...input, sortField, ...more }, { token: home.person.token });
    expect(answer.ok, answer.body).toBe(true);
    return answer.data as Page;
  };

  it.each(['ASC', 'DESC'] as const)('%s', async (sortOrder) => {
    const whole = (await read({ sortOrder, limit: 100 })).items;
    const seen: Item[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await read({ sortOrder, limit: 2, ...(cursor !== null && { cursor }) });
      seen.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null && seen.length < 100);
    expect(seen).toEqual(whole);
    const times = whole
      .map((item) => item[sortField])
      .filter((value): value is string | null => value === null || isTime(value));
    // A row without a time comes last in ascending order, first in descending order.
    const numbers = times.map((value) => (value === null ? Infinity : Date.parse(value)));
    const sorted = [...numbers].sort((a, b) => (a === b ? 0 : a - b));
    expect(numbers).toEqual(sortOrder === 'ASC' ? sorted : sorted.reverse());
  });
});

const isTime = (value: unknown): boolean => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);

it('covers more than 30 orders, and a list where some rows have no value', async () => {
  expect(orders.length).toBeGreaterThan(30);
  const { scope } = home.places.accountProject;
  const { items } = await app.must('apiKeys', { scope, limit: 100 }, { token: home.person.token });
  expect(new Set(items.map(({ expiresAt }) => expiresAt === null))).toEqual(new Set([true, false]));
});
