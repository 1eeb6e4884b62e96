import { useEffect, useRef } from 'react';
import { useTexts } from '../../i18n/language.ts';
import { formTexts } from '../declarations/form-texts.ts';

/** Says that a preview comes first and the act after it, and which of the two is next. */
export function Steps({
  id,
  act,
  isPreviewed,
}: {
  readonly id?: string;
  /** The label of the button that acts. */
  readonly act: string;
  readonly isPreviewed: boolean;
}) {
  const t = useTexts(formTexts);
  const note = useRef<HTMLParagraphElement>(null);
  // The preview has pushed it down, with the button that comes next.
  useEffect(() => {
    if (isPreviewed) note.current?.scrollIntoView({ block: 'nearest' });
  }, [isPreviewed]);
  return (
    <p ref={note} id={id} className="hint preview-step" aria-live="polite">
      {isPreviewed ? t.stepTwo(act) : t.stepOne(act)}
    </p>
  );
}
