'use client';

import type { BrowserClient } from '@doorward/browser';
import { createContext, useContext } from 'react';

export const ClientContext = createContext<BrowserClient | null>(null);

/** Returns the client of the nearest `<DoorwardProvider>`. @throws Error without a provider */
export function useDoorward(): BrowserClient {
  const client = useContext(ClientContext);
  if (client === null) throw new Error('This component must be inside of <DoorwardProvider>.');
  return client;
}
