'use client';

import type { Session } from '@doorward/browser';
import { useSyncExternalStore } from 'react';
import { useDoorward } from './context.ts';

const loading: Session = { status: 'loading' };

/** The session; on a server, and while React hydrates its HTML, it is loading. */
export function useSession(): Session {
  const client = useDoorward();
  return useSyncExternalStore(
    client.subscribe,
    () => client.session,
    () => loading,
  );
}
