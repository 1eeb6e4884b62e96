import { Link } from '@tanstack/react-router';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { frameTexts } from '../texts/frame-texts.ts';

/** The same for what does not exist and for what the user may not know of. */
export function NotFound() {
  const t = useTexts(common);
  const f = useTexts(frameTexts);
  return (
    <div className="empty">
      <h1>{t.notFound}</h1>
      <p>{t.notFoundText}</p>
      <Link to="/">{f.home}</Link>
    </div>
  );
}
