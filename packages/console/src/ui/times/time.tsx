import { formatDateTime, formatRelative } from '../../i18n/format.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useTicks } from './clock.ts';

/** Shows a relative time, with the exact time in its tooltip. */
export function Time({ iso }: { readonly iso: string | null }) {
  useLanguage();
  useTicks();
  if (iso === null) return <>–</>;
  return (
    <time dateTime={iso} title={formatDateTime(iso)}>
      {formatRelative(iso)}
    </time>
  );
}
