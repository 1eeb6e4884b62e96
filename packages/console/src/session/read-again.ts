import type { QueryClient } from '@tanstack/react-query';
import { onSessionChange, sessionState } from './session.ts';

const isWaiting = (): boolean => {
  const state = sessionState();
  return state.kind === 'signedIn' && state.missing !== null;
};

/** Reads everything that is shown again as soon as a session that had ended goes on: the reads meanwhile have failed. */
export function readAgainAfterSignIn(queries: QueryClient): void {
  let hasWaited = false;
  onSessionChange(() => {
    if (hasWaited && !isWaiting()) void queries.invalidateQueries();
    hasWaited = isWaiting();
  });
}
