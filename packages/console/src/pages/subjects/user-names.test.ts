import type { Api } from '@doorward/node/client';
import { describe, expect, it, vi } from 'vitest';
import { keyOf, type Scope } from '../../scopes/scope.ts';
import { readNames, readUsers } from './user-names.ts';

const owner = '018f0000-0000-7000-8000-00000000000a';
const id = `${owner}:018f0000-0000-7000-8000-00000000000b`;
const organization: Scope = { tenant: 'organization', id: owner };
const project: Scope = { tenant: 'organizationProject', id };
const projectOfAccount: Scope = { tenant: 'accountProject', id };

interface Input {
  readonly scope: Scope;
  readonly ids?: readonly string[];
  readonly search?: string;
}

/** A fake service with these users, written as `id:name`, per scope. It refuses to list users of other scopes. */
function service(...users: readonly (readonly [scope: Scope, users: readonly string[]])[]) {
  const read = vi.fn(async ({ scope, ids }: Input) => {
    const [, members] = users.find(([other]) => keyOf(other) === keyOf(scope)) ?? [];
    if (!members) throw new Error('FORBIDDEN');
    const items = members.map((user) => {
      const [id = '', name = ''] = user.split(':');
      return { id, name };
    });
    return { items: items.filter((user) => ids?.includes(user.id) ?? true) };
  });
  return { api: { users: read } as unknown as Api, read };
}

const { signal } = new AbortController();

describe('readNames', () => {
  it('asks nothing about nobody', async () => {
    const { api, read } = service([project, ['1:Ada']]);
    expect(await readNames(api, project, [], signal)).toEqual(new Map());
    expect(read).not.toHaveBeenCalled();
  });

  it('asks the organization about those only whom the project does not list', async () => {
    const { api, read } = service([project, ['1:Ada']], [organization, ['1:Other', '2:Bo', '3:Cy']]);
    expect([...(await readNames(api, project, ['1', '2', '9'], signal))]).toEqual([
      ['1', 'Ada'],
      ['2', 'Bo'],
    ]);
    expect(read.mock.calls.map(([{ scope, ids }]) => [scope.tenant, ids])).toEqual([
      ['organizationProject', ['1', '2', '9']],
      ['organization', ['2', '9']],
    ]);
  });

  it('asks nobody else if the project lists all, or belongs to an account', async () => {
    const all = service([project, ['1:Ada']], [organization, []]);
    await readNames(all.api, project, ['1'], signal);
    expect(all.read).toHaveBeenCalledTimes(1);
    const own = service([projectOfAccount, []]);
    expect(await readNames(own.api, projectOfAccount, ['1'], signal)).toEqual(new Map());
    expect(own.read).toHaveBeenCalledTimes(1);
  });

  it('keeps the names of one scope if the other may not be read', async () => {
    const inProject = service([project, ['1:Ada']]);
    expect([...(await readNames(inProject.api, project, ['1', '2'], signal))]).toEqual([['1', 'Ada']]);
    const above = service([organization, ['2:Bo']]);
    expect([...(await readNames(above.api, project, ['1', '2'], signal))]).toEqual([['2', 'Bo']]);
  });
});

describe('readUsers', () => {
  it('lists a person of both scopes once', async () => {
    const { api } = service([project, ['1:Ada', '2:Bo']], [organization, ['2:Bo', '3:Cy']]);
    expect((await readUsers(api, project, undefined)).map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  it('sends an empty search, and none if there is none', async () => {
    const { api, read } = service([organization, []]);
    await readUsers(api, organization, '');
    await readUsers(api, organization, undefined);
    expect(read.mock.calls.map(([{ search }]) => search)).toEqual(['', undefined]);
  });

  it('does without the members if the organization may not be read, but not without the users', async () => {
    expect(await readUsers(service([project, ['1:Ada']]).api, project, 'a')).toEqual([
      { id: '1', name: 'Ada' },
    ]);
    await expect(readUsers(service([organization, ['2:Bo']]).api, project, 'a')).rejects.toThrow('FORBIDDEN');
  });
});
