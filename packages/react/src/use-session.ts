'use client';

import type { Session } from '@doorward/browser';
import { useSyncExternalStore } from 'react';
import { useDoorward } from './context.ts';

const loading: Session = { status: 'loading' };

/** Returns the session. It is `loading` on a server, and while React hydrates the server's HTML. */
export function useSession(): Session {
  const client = useDoorward();
  return useSyncExternalStore(
    client.subscribe,
    () => client.session,
    () => loading,
  );
}
