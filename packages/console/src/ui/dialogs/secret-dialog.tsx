import { useState } from 'react';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { CopyButton } from '../copy-button.tsx';
import { Dialog } from './dialog.tsx';
import { secretTexts } from './secret-texts.ts';

/** Shows a secret once. Closes when the user has copied or downloaded it, and confirms that they stored it. */
export function SecretDialog({
  title,
  name,
  secret,
  onClose,
}: {
  /** The kind of secret. Default: a general title. */
  readonly title?: string | undefined;
  readonly name: string;
  readonly secret: string;
  readonly onClose: () => void;
}) {
  const t = useTexts(secretTexts);
  const c = useTexts(common);
  const [isTaken, setTaken] = useState(false);
  return (
    <Dialog title={title ?? t.title} onClose={() => undefined} isLocked>
      {name !== title && <p>{name}</p>}
      <pre className="secret">{secret}</pre>
      <p>{t.once}</p>
      <div className="buttons">
        <CopyButton text={secret} label={c.copy} onCopy={() => setTaken(true)} />
        <button
          type="button"
          className="quiet"
          onClick={() => {
            download(`${name}.txt`, secret);
            setTaken(true);
          }}
        >
          {t.download}
        </button>
        <button type="button" className="main" disabled={!isTaken} onClick={onClose}>
          {t.kept}
        </button>
      </div>
    </Dialog>
  );
}

/** Saves a text as a file. */
export function download(name: string, text: string, type = 'text/plain'): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name.replace(/[^\w.-]+/g, '-');
  link.click();
  URL.revokeObjectURL(address);
}
