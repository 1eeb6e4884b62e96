import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { DoorwardError } from '@doorward/node/client';
// Imported first, because it removes the token from the URL, and the router keeps the URL that it finds on load.
import './pages/first-user/first-user-link.ts';
import './styles/base.css';
import './styles/controls.css';
import './styles/frame.css';
import { Crash } from './frame/notices/crash.tsx';
import { applyTheme } from './frame/menus/theme.ts';
import { router } from './router.tsx';
import { SessionGate } from './session-gate.tsx';
import { readAgainAfterSignIn } from './session/read-again.ts';
import { demandSecondFactor, endSession, isRefused, renew } from './session/session.ts';

const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (isRefused(error)) endSession();
      if (error instanceof DoorwardError && error.code === 'MFA_REQUIRED') demandSecondFactor();
    },
  }),
  mutationCache: new MutationCache({
    // A wrong password or code gets the same error as an invalid token, but doesn't mean that the session has ended.
    onError: (error, _input, _result, { meta }) => {
      if (isRefused(error) && meta?.['isProof'] !== true) endSession();
    },
  }),
  defaultOptions: {
    // The client library already retries what is safe to retry, and errors of the service say what to do.
    queries: { retry: false, staleTime: 10_000 },
    mutations: { retry: false },
  },
});

applyTheme();
readAgainAfterSignIn(queries);
void renew().catch(() => undefined);
createRoot(document.getElementById('console') as HTMLElement).render(
  <StrictMode>
    <Crash>
      <QueryClientProvider client={queries}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </QueryClientProvider>
    </Crash>
  </StrictMode>,
);
