import { useSyncExternalStore } from 'react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { DoorwardError } from '@doorward/node/client';
import { Link } from '@tanstack/react-router';
import { useTexts } from '../i18n/language.ts';
import { useMe } from '../scopes/use-scopes.ts';
import { announce } from '../ui/announcer.tsx';
import { Dialog } from '../ui/dialogs/dialog.tsx';
import { ErrorBox } from '../session/error-box.tsx';
import { Skeleton } from '../ui/states.tsx';
import { onDemandChange, openDemand, type OpenDemand } from '../session/demands.ts';
import { OtherSignInMethods } from '../session/sign-in/other-sign-in-methods.tsx';
import { SecondFactor } from '../session/sign-in/second-factor.tsx';
import { client, publicClient, renew } from '../session/session.ts';
import { sessionTexts } from '../session/session-texts.ts';
import { SignIn } from '../session/sign-in/sign-in.tsx';

/** The dialog for what the service requires first, such as a recent sign-in. Then the refused operation is retried. */
export function Demands() {
  const demand = useSyncExternalStore(onDemandChange, openDemand);
  return demand && <DemandDialog key={demand.code} demand={demand} />;
}

function DemandDialog({ demand }: { readonly demand: OpenDemand }) {
  const t = useTexts(sessionTexts);
  const { data: me } = useMe();
  const done = (): void => demand.settle(true);
  const close = (): void => demand.settle(false);
  const factor = useHasFactor();
  const hasFactor = factor.data ?? me?.mfa.enabled ?? false;
  if (demand.code === 'EMAIL_VERIFICATION_REQUIRED')
    return (
      <Dialog title={t.verify} onClose={close}>
        <Verification email={me?.user.email ?? ''} onDone={done} />
      </Dialog>
    );
  if (me && me.organizationId !== null)
    return (
      <Dialog title={t.stepUp} onClose={close}>
        <p>{demand.code === 'MFA_REQUIRED' ? t.mfaText : t.stepUpText}</p>
        <p>{t.boundText}</p>
        <p>
          <OtherSignInMethods label="organization" />
        </p>
      </Dialog>
    );
  if (factor.isPending)
    return (
      <Dialog key="pending" title={t.stepUp} onClose={close}>
        <Skeleton rows={2} />
      </Dialog>
    );
  if (demand.code === 'MFA_REQUIRED' && !hasFactor)
    return (
      <Dialog title={t.secondFactor} onClose={close}>
        <p>{t.mfaText}</p>
        <p>{t.noFactor}</p>
        <Link to="/me/$page" params={{ page: 'security' }} onClick={close}>
          {t.setUpFactor}
        </Link>
      </Dialog>
    );
  if (hasFactor)
    return (
      <Dialog title={t.stepUp} onClose={close}>
        <p>{demand.code === 'MFA_REQUIRED' ? t.mfaText : t.stepUpText}</p>
        <SecondFactor onDone={done} />
      </Dialog>
    );
  return (
    <Dialog title={t.stepUp} onClose={close}>
      <p>{t.stepUpText}</p>
      <SignIn isAgain onDone={done} />
    </Dialog>
  );
}

/**
 * Whether the user has a second factor. Always read again, because they may have set one up elsewhere. In that case,
 * even reading the user may require it.
 */
const useHasFactor = () =>
  useQuery({
    queryKey: ['me', 'hasFactor'],
    queryFn: () =>
      client()
        .api.me({})
        .then(
          ({ mfa }) => mfa.enabled,
          (error: unknown) => {
            if (error instanceof DoorwardError && error.code === 'MFA_REQUIRED') return true;
            throw error;
          },
        ),
    gcTime: 0,
  });

function Verification({ email, onDone }: { readonly email: string; readonly onDone: () => void }) {
  const t = useTexts(sessionTexts);
  // The token says whether the email address is verified, so it must be renewed.
  const goOn = useMutation({ mutationFn: renew, onSuccess: onDone });
  const resend = useMutation({
    mutationFn: () => publicClient().api.resendVerification({ email }),
    onSuccess: () => announce(t.verifyFirst),
  });
  const error = goOn.error ?? resend.error;
  return (
    <>
      <p>{t.verifyText}</p>
      {error && <ErrorBox error={error} />}
      <div className="buttons">
        <button type="button" className="main" disabled={goOn.isPending} onClick={() => goOn.mutate()}>
          {t.verified}
        </button>
        <button type="button" disabled={resend.isPending} onClick={() => resend.mutate()}>
          {t.resend}
        </button>
      </div>
    </>
  );
}
