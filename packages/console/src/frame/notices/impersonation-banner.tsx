import { useSyncExternalStore } from 'react';
import { DoorwardError, type Api } from '@doorward/node/client';
import { useChange } from '../../api/use-api.ts';
import { formatDateTime } from '../../i18n/format.ts';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { announce } from '../../ui/announcer.tsx';
import { useTicks } from '../../ui/times/clock.ts';
import { ErrorBox } from '../../session/error-box.tsx';
import {
  forgetImpersonation,
  onImpersonationChange,
  runningImpersonation,
  storedImpersonation,
} from '../../session/impersonation.ts';

interface BannerTexts {
  readonly acting: (name: string, until: string) => string;
  readonly end: string;
  readonly ended: string;
}

const texts: Texts<BannerTexts> = {
  en: {
    acting: (name, until) => `Your token acts for ${name}, until ${until}.`,
    end: 'End',
    ended: 'The token no longer works.',
  },
  de: {
    acting: (name, until) => `Ihr Token handelt für ${name}, bis ${until}.`,
    end: 'Beenden',
    ended: 'Das Token gilt nicht mehr.',
  },
  es: {
    acting: (name, until) => `Su token actúa en nombre de ${name}, hasta ${until}.`,
    end: 'Terminar',
    ended: 'El token ya no funciona.',
  },
  fr: {
    acting: (name, until) => `Votre jeton agit au nom de ${name}, jusqu’à ${until}.`,
    end: 'Mettre fin',
    ended: 'Le jeton ne fonctionne plus.',
  },
};

const INSTALLATION = { tenant: 'installation', id: '00000000-0000-0000-0000-000000000000' } as const;

/** Ends an impersonation. Ignores the error if the impersonation has already ended. */
async function end(api: Api, id: string): Promise<void> {
  try {
    await api.endImpersonation({ scope: INSTALLATION, id });
  } catch (error) {
    if (!(error instanceof DoorwardError) || error.code !== 'NOT_FOUND') throw error;
  }
}

/** Shows whom the operator's impersonation token acts for, as long as it is valid, and lets the operator end it. */
export function ImpersonationBanner() {
  const t = useTexts(texts);
  useTicks();
  const stored = useSyncExternalStore(onImpersonationChange, storedImpersonation);
  const running = runningImpersonation(stored, Date.now());
  const ending = useChange(end);
  if (!running) return null;
  const { id, name, until } = running;
  return (
    <div className="banner row" role="status">
      {t.acting(name, formatDateTime(new Date(until).toISOString()))}
      <button
        type="button"
        disabled={ending.isPending}
        onClick={() =>
          ending.mutate(id, {
            onSuccess: () => {
              forgetImpersonation();
              announce(t.ended);
            },
          })
        }
      >
        {t.end}
      </button>
      {ending.error && <ErrorBox error={ending.error} />}
    </div>
  );
}
