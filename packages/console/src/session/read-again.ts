import type { QueryClient } from '@tanstack/react-query';
import { onSessionChange, sessionState } from './session.ts';

const isWaiting = (): boolean => {
  const state = sessionState();
  return state.kind === 'signedIn' && state.missing !== null;
};

/** When an ended session continues, reads again everything that is shown, because reads have failed in the meantime. */
export function readAgainAfterSignIn(queries: QueryClient): void {
  let hasWaited = false;
  onSessionChange(() => {
    if (hasWaited && !isWaiting()) void queries.invalidateQueries();
    hasWaited = isWaiting();
  });
}
