import { useEffect, useRef } from 'react';
import { useTexts } from '../../i18n/language.ts';
import { pagesOf } from '../../pages/pages.ts';
import type { Scope } from '../../scopes/scope.ts';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { frameTexts } from '../texts/frame-texts.ts';

interface Handlers {
  readonly scope: Scope | null;
  readonly onPalette: () => void;
  readonly onKeys: () => void;
  readonly onPage: (name: string) => void;
}

/** How long the console waits for a letter after `g`. */
const LETTER_MS = 1500;

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;

/** Handles the keyboard shortcuts. None works while a dialog is open; in form fields only the palette's works. */
export function useKeys(handlers: Handlers): void {
  const current = useRef(handlers);
  useEffect(() => {
    current.current = handlers;
  });
  useEffect(() => {
    let wentAt = -Infinity;
    const listen = (event: KeyboardEvent): void => {
      const { scope, onPalette, onKeys, onPage } = current.current;
      const isDialogOpen = document.querySelector('dialog[open]') !== null;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        if (!isDialogOpen) onPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isDialogOpen || isField(event.target)) return;
      if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('[data-search]');
        if (!search) return;
        event.preventDefault();
        search.focus();
      } else if (event.key === '?') {
        onKeys();
      } else if (event.key === 'g') {
        wentAt = performance.now();
      } else if (performance.now() - wentAt < LETTER_MS) {
        wentAt = -Infinity;
        const page = scope && pagesOf(scope.tenant).find(({ key }) => key === event.key);
        if (page) onPage(page.name);
      }
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(frameTexts);
  return (
    <Dialog title={t.keys} onClose={onClose}>
      <dl className="facts">
        {t.keyTexts.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
