import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import type { Api } from '@doorward/node/client';
import { common } from '../i18n/common.ts';
import { useTexts } from '../i18n/language.ts';
import { client, inSession, withProof } from '../session/session.ts';
import { satisfied } from '../session/demands.ts';
import { announce } from '../ui/announcer.tsx';
import { expect, type Expectation } from './expectation.ts';
import { refresh, takeOver, untilRowIsRead, type RowKey } from './refresh.ts';

/** Reads and changes through the public API, which is all that the console has. */

export type Read<T> = (api: Api, signal: AbortSignal) => Promise<T>;

/** Puts back what was expected of a change. */
type Undo = (() => void) | null;

/** One answer. The key begins with the noun, so that a change of the noun can renew it. */
export function useRead<T>(
  key: readonly unknown[],
  read: Read<T>,
  {
    isEnabled = true,
    keepsFormer = true,
    everyMs,
  }: {
    readonly isEnabled?: boolean;
    /** Whether the answer to the former key is shown until the one to this key comes. */
    readonly keepsFormer?: boolean;
    readonly everyMs?: number;
  } = {},
): UseQueryResult<T> {
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => inSession(() => read(client().api, signal)),
    enabled: isEnabled,
    ...(keepsFormer ? { placeholderData: keepPreviousData } : {}),
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
}

export interface PageOf<T> {
  readonly items: readonly T[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly nextCursor: string | null;
}

/** A list that grows by one page at a time. */
export function useList<T>(
  key: readonly unknown[],
  read: (api: Api, cursor: string | undefined, signal: AbortSignal) => Promise<PageOf<T>>,
  { isEnabled = true }: { readonly isEnabled?: boolean } = {},
) {
  return useInfiniteQuery({
    queryKey: [...key, 'list'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => inSession(() => read(client().api, pageParam, signal)),
    getNextPageParam: ({ hasNextPage, nextCursor }: PageOf<T>) =>
      hasNextPage && nextCursor !== null ? nextCursor : undefined,
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  });
}

/**
 * A change. If the service asks for a recent sign-in, a second factor or a verified address first, a dialog satisfies it
 * and the change is sent once more. Afterwards everything that was read is read again where it is shown: a change of
 * rights may change any of it.
 */
export function useChange<I, T>(
  change: (api: Api, input: I) => Promise<T>,
  {
    isProof = false,
    row,
    expected,
  }: {
    /** With a password or a code in it: its refusal is about that, and not about the session. */
    readonly isProof?: boolean;
    /** The row that the change is about: the change counts as done when the page has read this row again. */
    readonly row?: RowKey | undefined;
    /** What the page shows at once. A refusal puts it back, and says so. */
    readonly expected?: (expectation: Expectation, input: I) => void;
  } = {},
): UseMutationResult<T, Error, I, Undo> {
  const queries = useQueryClient();
  const t = useTexts(common);
  return useMutation({
    mutationFn: (input: I) =>
      satisfied(async () =>
        isProof ? withProof((api) => change(api, input)) : inSession(() => change(client().api, input)),
      ),
    meta: { isProof },
    onMutate: async (input: I): Promise<Undo> => {
      if (!expected) return null;
      // An answer that is on its way is older than the change. A first read goes on, because there is nothing else to
      // show; if its answer is older than the change, the page shows it until the reads after the change.
      await queries.cancelQueries({ predicate: ({ state }) => state.data !== undefined });
      return expect(queries, (expectation) => expected(expectation, input));
    },
    onError: (error, _input, undo) => {
      if (!undo) return;
      undo();
      announce(t.putBack(error.message));
      void refresh(queries);
    },
    // Passwords and new secrets stay in memory no longer than their form.
    gcTime: 0,
    // Without a row the page goes on before the reads are over, for example away from a row that was deleted.
    onSuccess: async (answer) => {
      if (row) takeOver(queries, row, answer);
      const begun = refresh(queries);
      if (row) await begun.then(() => untilRowIsRead(queries, row));
    },
  });
}

/** The same for a question that changes nothing, such as a dry run. */
export function useQuestion<I, T>(ask: (api: Api, input: I) => Promise<T>): UseMutationResult<T, Error, I> {
  return useMutation({
    mutationFn: (input: I) => satisfied(() => inSession(() => ask(client().api, input))),
  });
}
