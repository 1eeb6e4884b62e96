import { useEffect, useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { useTexts } from '../../i18n/language.ts';
import { common } from '../../i18n/common.ts';
import { Announcer } from '../announcer.tsx';

/**
 * A modal dialog. It traps the focus, closes with Escape, and returns the focus when it closes. While `isLocked` is
 * set, neither Escape nor its button closes it.
 */
export function Dialog({
  title,
  children,
  onClose,
  isLocked = false,
  isWide = false,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
  readonly isLocked?: boolean;
  readonly isWide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const t = useTexts(common);
  // Not `useEffect`: its cleanup runs after the element was removed, and then the focus would not return.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    // By default the browser focuses the first button, which closes the dialog. Focuses the first field instead,
    // because users open a form to type; an email field that is already filled in is skipped.
    const fields = [...(element?.querySelectorAll<HTMLInputElement>('input, textarea, select') ?? [])];
    (fields.find(({ type, value }) => type !== 'email' || value === '') ?? fields[0])?.focus();
    return () => element?.close();
  }, []);
  useEffect(() => {
    if (!isLocked) return;
    // The browser would close this dialog at a second Escape, and the dialog below at a third.
    const keep = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') event.preventDefault();
    };
    addEventListener('keydown', keep, true);
    return () => removeEventListener('keydown', keep, true);
  }, [isLocked]);
  return (
    <dialog
      ref={dialog}
      className={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={heading}
      onCancel={(event) => {
        // React also calls this handler for the dialogs around the one that is canceled.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        if (!isLocked) onClose();
      }}
      onClose={(event) => {
        // Browsers close a dialog at the second Escape, even if the first one was prevented.
        if (event.target !== dialog.current || dialog.current.open) return;
        if (!isLocked) onClose();
        // If the parent still renders the dialog, for example to ask a question in it, the dialog is opened again.
        setTimeout(() => dialog.current?.open === false && dialog.current.showModal());
      }}
    >
      <Announcer />
      <header className="dialog-head">
        <h2 id={heading}>{title}</h2>
        {!isLocked && (
          <button type="button" className="icon" onClick={onClose} aria-label={t.close}>
            ×
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}
