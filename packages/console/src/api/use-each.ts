import { useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { Api } from '@doorward/node/client';
import { isDemand, withDemands } from '../session/demands.ts';
import { client, endSession, inSession, isRefused } from '../session/session.ts';
import { refresh } from './refresh.ts';

/** The outcome of a call for one of several rows. */
export interface Outcome<R, T> {
  readonly row: R;
  readonly error: Error | null;
  readonly answer: T | null;
}

/**
 * Makes the same call for several rows, one after another, each with its own outcome. Ends early if the user stops it
 * or declines a demand of the service, because every other row would cause the same demand.
 */
export function useEach<R, T>(
  call: (api: Api, row: R) => Promise<T>,
): {
  readonly outcomes: readonly Outcome<R, T>[];
  readonly isBusy: boolean;
  /** Returns the rows for which the call was not successful. */
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
      const outcome = await withDemands(() => inSession(() => call(client().api, row))).then(
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
