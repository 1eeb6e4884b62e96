import { useSyncExternalStore } from 'react';
import { useTexts } from '../../i18n/language.ts';
import { frameTexts } from '../texts/frame-texts.ts';

const subscribe = (listener: () => void): (() => void) => {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
};

export function Offline() {
  const t = useTexts(frameTexts);
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  return isOnline ? null : (
    <p className="banner" role="status">
      {t.offline}
    </p>
  );
}
