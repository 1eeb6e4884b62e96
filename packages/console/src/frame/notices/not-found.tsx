import { Link } from '@tanstack/react-router';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { frameTexts } from '../texts/frame-texts.ts';

/** Shown both for what doesn't exist and for what the user may not see, so that it doesn't reveal which is the case. */
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
