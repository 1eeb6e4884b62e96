import { useEffect, useState } from 'react';
import type { components } from '@doorward/node/client';
import { useList } from '../../api/use-api.ts';
import { targetOf } from '../../entities/declarations/entity.ts';
import { useScope } from '../../scopes/use-scope.ts';
import type { Attributes } from '../why/question.ts';
import { readNames } from './user-names.ts';
import type { PermissionPair } from '../why/permission-fields.tsx';

export interface AllowedUser extends Omit<components['schemas']['AllowedSubject'], 'subject'> {
  readonly id: string;
  readonly name: string;
}

/** Number of users to show before the list waits for the user to continue. */
const PAGE = 50;

/**
 * Reads the users who have a permission. The service may end a page early because finding users takes work. Then the
 * next page is read automatically until there are enough rows, the list is complete, or the user stops it.
 */
export function useWhoCan({ resource, action }: PermissionPair, thing: Attributes | null) {
  const scope = useScope();
  const [wanted, setWanted] = useState(PAGE);
  const [isStopped, setStopped] = useState(false);
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = useList(
    ['who-can', scope, resource, action, thing],
    async (api, cursor, signal) => {
      const { items, nextCursor, complete } = await api.whoCan(
        {
          ...targetOf(scope),
          permission: { resource, action },
          ...(thing ? { context: { resource: thing } } : {}),
          limit: PAGE,
          ...(cursor === undefined ? {} : { cursor }),
        },
        // The service limits the work for a page but not its time, so under load a page takes longer than other
        // calls.
        { signal, timeoutMs: 15_000 },
      );
      const ids = items.map(({ subject }) => subject.id);
      const names = await readNames(api, scope, ids, signal);
      return {
        items: items.map(({ subject: { id }, ...others }): AllowedUser => ({
          ...others,
          id,
          name: names.get(id) ?? id,
        })),
        totalCount: 0,
        hasNextPage: !complete,
        nextCursor,
      };
    },
  );
  const users = data?.pages.flatMap(({ items }) => items) ?? [];
  const goesOn = hasNextPage && users.length < wanted && !isStopped && !error;
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage();
  }, [goesOn, isFetching, fetchNextPage]);
  return {
    users,
    error,
    hasAnswer: data !== undefined,
    isComplete: data !== undefined && !hasNextPage,
    isRunning: isFetching || goesOn,
    retry: () => (data ? fetchNextPage() : refetch()),
    stop: () => setStopped(true),
    goOn: () => {
      setStopped(false);
      setWanted(users.length + PAGE);
    },
  };
}
