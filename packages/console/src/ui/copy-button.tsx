import { useState } from 'react';
import { useTexts } from '../i18n/language.ts';
import { common } from '../i18n/common.ts';
import { announce } from './announcer.tsx';

/** A button that copies a text and confirms that it did. */
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

/** Copies a text. Returns false if the browser has no clipboard, as over plain http, or refuses to copy. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
