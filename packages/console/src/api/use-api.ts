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
import { withDemands } from '../session/demands.ts';
import { announce } from '../ui/announcer.tsx';
import { applyExpectation, type Expectation } from './expectation.ts';
import { refresh, takeOver, untilRowIsRead, type RowKey } from './refresh.ts';

/* Hooks that read and change data through the public API. The console uses no other API. */

export type Read<T> = (api: Api, signal: AbortSignal) => Promise<T>;

/** Restores what the page showed before an expected change. */
type Undo = (() => void) | null;

/** Reads one response. The key starts with the noun, so that optimistic updates can patch the rows of that noun. */
export function useRead<T>(
  key: readonly unknown[],
  read: Read<T>,
  {
    isEnabled = true,
    keepsFormer = true,
    everyMs,
  }: {
    readonly isEnabled?: boolean;
    /** Whether the previous response stays visible until the response for a new key arrives. */
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

/** Reads a list that grows page by page. */
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
 * Sends a change. If the service first demands a recent sign-in, a second factor or a verified email address, a
 * dialog handles that and the change is sent once more. Afterwards the page rereads everything it shows, because a
 * change of rights may affect any of it.
 */
export function useChange<I, T>(
  change: (api: Api, input: I) => Promise<T>,
  {
    isProof = false,
    row,
    expected,
  }: {
    /** Whether the input contains a password or code. A refusal then concerns the input and not the session. */
    readonly isProof?: boolean;
    /** The row that is changed. The change only succeeds when the page has read this row again. */
    readonly row?: RowKey | undefined;
    /** Shows the expected result immediately. If the service refuses the change, it is undone and a message appears. */
    readonly expected?: (expectation: Expectation, input: I) => void;
  } = {},
): UseMutationResult<T, Error, I, Undo> {
  const queries = useQueryClient();
  const t = useTexts(common);
  return useMutation({
    mutationFn: (input: I) =>
      withDemands(async () =>
        isProof ? withProof((api) => change(api, input)) : inSession(() => change(client().api, input)),
      ),
    meta: { isProof },
    onMutate: async (input: I): Promise<Undo> => {
      if (!expected) return null;
      // Reads in flight are canceled, because their responses are older than the change. A first read continues,
      // because there is nothing else to show. Its response may be older too; then the page shows it until the reads
      // after the change.
      await queries.cancelQueries({ predicate: ({ state }) => state.data !== undefined });
      return applyExpectation(queries, (expectation) => expected(expectation, input));
    },
    onError: (error, _input, undo) => {
      if (!undo) return;
      undo();
      announce(t.putBack(error.message));
      void refresh(queries);
    },
    // Passwords and new secrets must not stay in memory longer than their form.
    gcTime: 0,
    // Without a `row` the page doesn't wait for the reads, for example so that it can leave a row that was deleted.
    onSuccess: async (answer) => {
      if (row) takeOver(queries, row, answer);
      const begun = refresh(queries);
      if (row) await begun.then(() => untilRowIsRead(queries, row));
    },
  });
}

/** Sends a request that changes nothing, such as a dry run, and handles demands of the service like `useChange`. */
export function useRequest<I, T>(ask: (api: Api, input: I) => Promise<T>): UseMutationResult<T, Error, I> {
  return useMutation({
    mutationFn: (input: I) => withDemands(() => inSession(() => ask(client().api, input))),
  });
}
