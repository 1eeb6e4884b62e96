import { useEffect, useId, useRef, type ReactNode } from 'react';
import { useTexts } from '../../i18n/language.ts';
import { common } from '../../i18n/common.ts';
import { Announcer } from '../announcer.tsx';

/**
 * A modal dialog of the browser: it keeps the focus, closes with Escape and gives the focus back. While `isLocked` it
 * closes neither by Escape nor by its button.
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
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    // The browser chooses the first button, which closes the dialog; whoever opens a form wants to type. An address that
    // is filled in already needs no typing.
    const fields = [...(element?.querySelectorAll<HTMLInputElement>('input, textarea, select') ?? [])];
    (fields.find(({ type, value }) => type !== 'email' || value === '') ?? fields[0])?.focus();
    return () => element?.close();
  }, []);
  useEffect(() => {
    if (!isLocked) return;
    // A second Escape would close it, and a third the one below.
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
        // React also tells the dialogs around the one that is cancelled.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        if (!isLocked) onClose();
      }}
      onClose={(event) => {
        // Browsers close a dialog at the second Escape, whatever we answer to the first.
        if (event.target !== dialog.current || dialog.current.open) return;
        if (!isLocked) onClose();
        // Whoever keeps it, perhaps with a question in it, keeps it open.
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
