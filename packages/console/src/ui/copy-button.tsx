import { useState } from 'react';
import { useTexts } from '../i18n/language.ts';
import { common } from '../i18n/common.ts';
import { announce } from './announcer.tsx';

/** Copies a text, and says that it did. */
export function CopyButton({
  text,
  label,
  onCopy,
}: {
  readonly text: string;
  readonly label?: string;
  readonly onCopy?: () => void;
}) {
  const t = useTexts(common);
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      className="quiet"
      onClick={() => {
        void copied(text).then((isDone) => {
          if (!isDone) return announce(t.notCopied);
          setCopied(true);
          announce(t.copied);
          onCopy?.();
        });
      }}
    >
      {isCopied ? t.copied : (label ?? t.copy)}
    </button>
  );
}

/** Over plain http there is no clipboard, and a browser may refuse it. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
