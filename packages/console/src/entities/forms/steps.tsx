import { useEffect, useRef } from 'react';
import { useTexts } from '../../i18n/language.ts';
import { formTexts } from '../declarations/form-texts.ts';

/** Explains that there is a preview before the change, and which of the two comes next. */
export function Steps({
  id,
  act,
  isPreviewed,
}: {
  readonly id?: string;
  /** The label of the button that makes the change. */
  readonly act: string;
  readonly isPreviewed: boolean;
}) {
  const t = useTexts(formTexts);
  const note = useRef<HTMLParagraphElement>(null);
  // The preview has pushed this note and the next button down, so they are scrolled into view.
  useEffect(() => {
    if (isPreviewed) note.current?.scrollIntoView({ block: 'nearest' });
  }, [isPreviewed]);
  return (
    <p ref={note} id={id} className="hint preview-step" aria-live="polite">
      {isPreviewed ? t.stepTwo(act) : t.stepOne(act)}
    </p>
  );
}
