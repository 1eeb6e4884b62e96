import { lazy, Suspense, useSyncExternalStore, type ReactNode } from 'react';
import { Dialog } from './ui/dialogs/dialog.tsx';
import { useTexts } from './i18n/language.ts';
import { isFirstUserPage } from './pages/first-user/first-user-link.ts';
import { Skeleton } from './ui/states.tsx';
import { SecondFactor } from './session/sign-in/second-factor.tsx';
import { SignIn } from './session/sign-in/sign-in.tsx';
import { onSessionChange, sessionState, signOut } from './session/session.ts';
import { sessionTexts } from './session/session-texts.ts';

const FirstUser = lazy(() => import('./pages/first-user/first-user.tsx'));

/**
 * Shows the console to signed-in users, and the sign-in to others. When a session ends, the page stays behind a
 * dialog, with everything that was typed. If another user signs in, the page is reloaded.
 */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const t = useTexts(sessionTexts);
  const state = useSyncExternalStore(onSessionChange, sessionState);
  switch (state.kind) {
    case 'loading':
      return (
        <main className="alone">
          <Skeleton rows={3} />
        </main>
      );
    case 'signedOut':
      return (
        <main className="alone">
          {isFirstUserPage() ? (
            <Suspense fallback={<Skeleton rows={3} />}>
              <FirstUser />
            </Suspense>
          ) : (
            <SignIn />
          )}
        </main>
      );
    case 'secondFactor':
      return (
        <main className="alone">
          <h1>{t.secondFactor}</h1>
          <SecondFactor onDone={() => undefined} />
          <button type="button" className="quiet" onClick={() => void signOut()}>
            {t.otherUser}
          </button>
        </main>
      );
    case 'signedIn':
      return (
        <>
          {children}
          {state.missing === 'signIn' && (
            <Dialog key="signIn" title={t.ended} onClose={() => undefined} isLocked>
              <p>{t.endedText}</p>
              <SignIn isAgain />
              <Leave />
            </Dialog>
          )}
          {state.missing === 'secondFactor' && (
            <Dialog key="secondFactor" title={t.secondFactor} onClose={() => undefined} isLocked>
              <p>{t.factorText}</p>
              <SecondFactor onDone={() => undefined} />
              <Leave />
            </Dialog>
          )}
        </>
      );
  }
}

/** Signs out from the dialog, for another person at the same browser. */
function Leave() {
  const t = useTexts(sessionTexts);
  return (
    <p className="links">
      <button type="button" className="quiet" onClick={() => void signOut()}>
        {t.leave}
      </button>
    </p>
  );
}
