import { useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { Api } from '@doorward/node/client';
import { isDemand, satisfied } from '../session/demands.ts';
import { client, endSession, inSession, isRefused } from '../session/session.ts';
import { refresh } from './refresh.ts';

/** How a call for one of several rows ended. */
export interface Outcome<R, T> {
  readonly row: R;
  readonly error: Error | null;
  readonly answer: T | null;
}

/**
 * The same call for several rows, one after the other, each with its own result. It ends early when the user stops it or
 * declines what the service demands first: it would be demanded again for every other row.
 */
export function useEach<R, T>(
  call: (api: Api, row: R) => Promise<T>,
): {
  readonly outcomes: readonly Outcome<R, T>[];
  readonly isBusy: boolean;
  /** Answers the rows that are not done. */
  readonly run: (rows: readonly R[], isChange?: boolean) => Promise<readonly R[]>;
  readonly stop: () => void;
} {
  const queries = useQueryClient();
  const [outcomes, setOutcomes] = useState<readonly Outcome<R, T>[]>([]);
  const [isBusy, setBusy] = useState(false);
  const isStopped = useRef(false);

  async function run(rows: readonly R[], isChange = true): Promise<readonly R[]> {
    isStopped.current = false;
    setBusy(true);
    setOutcomes([]);
    const done = new Set<R>();
    for (const row of rows) {
      if (isStopped.current) break;
      const outcome = await satisfied(() => inSession(() => call(client().api, row))).then(
        (answer) => ({ row, answer, error: null }),
        (error: Error) => ({ row, answer: null, error }),
      );
      setOutcomes((before) => [...before, outcome]);
      if (!outcome.error) done.add(row);
      if (isRefused(outcome.error)) endSession();
      if (isDemand(outcome.error) || isRefused(outcome.error)) break;
    }
    setBusy(false);
    if (isChange) void refresh(queries);
    return rows.filter((row) => !done.has(row));
  }

  return {
    outcomes,
    isBusy,
    run,
    stop: () => {
      isStopped.current = true;
    },
  };
}
