'use client';

import { createBrowserClient } from '@doorward/browser';
import { DoorwardProvider, SignedIn, SignedOut, useDoorward } from '@doorward/react';
import { useState, type ReactNode } from 'react';

interface Settings {
  readonly issuer: string;
  readonly clientId: string;
  readonly origin: string;
  readonly children: ReactNode;
}

/** Signs the user in. Tokens stay in the memory of the page, and go to the routes of this application only. */
export function SignIn({ issuer, clientId, origin, children }: Settings) {
  const [client] = useState(() =>
    createBrowserClient({
      issuer,
      clientId,
      redirectUri: `${origin}/`,
      origins: [origin],
      scopes: ['order:read'],
    }),
  );
  return (
    <DoorwardProvider client={client}>
      <SignedIn pending={<p>One moment …</p>}>{children}</SignedIn>
      <SignedOut>
        <SignInButton />
      </SignedOut>
    </DoorwardProvider>
  );
}

function SignInButton() {
  const { signIn } = useDoorward();
  return <button onClick={() => void signIn({ returnTo: location.pathname })}>Sign in</button>;
}
