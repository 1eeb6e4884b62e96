import type { ReactNode } from 'react';
import { SignIn } from './sign-in';

export const metadata = { title: 'Orders' };

export default function Layout({ children }: { readonly children: ReactNode }) {
  const { ISSUER = '', CLIENT_ID = '', ORIGIN = '' } = process.env;
  return (
    <html lang="en">
      <body>
        <SignIn issuer={ISSUER} clientId={CLIENT_ID} origin={ORIGIN}>
          {children}
        </SignIn>
      </body>
    </html>
  );
}

/** The settings above are those of the running server, not of the build. */
export const dynamic = 'force-dynamic';
