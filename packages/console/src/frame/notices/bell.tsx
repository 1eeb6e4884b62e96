import { Link } from '@tanstack/react-router';
import { useRead } from '../../api/use-api.ts';
import { formatNumber } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';
import { useMe } from '../../scopes/use-scopes.ts';
import { frameTexts } from '../texts/frame-texts.ts';

export const unreadKey = ['Notification', 'unread'] as const;
const EVERY_MS = 60_000;

/**
 * Shows how many notifications the user hasn't read. Checks once a minute, and when the user returns to the tab. A
 * session that is bound to an organization may not read notifications.
 */
export function Bell() {
  const t = useTexts(frameTexts);
  const { data: me } = useMe();
  const { data } = useRead(
    unreadKey,
    (api, signal) => api.myNotifications({ limit: 1, unreadOnly: true }, { signal }),
    { isEnabled: me?.organizationId === null, everyMs: EVERY_MS },
  );
  if (me && me.organizationId !== null) return null;
  const count = data?.unreadCount ?? 0;
  return (
    <Link
      to="/me/$page"
      params={{ page: 'notifications' }}
      className="bell"
      aria-label={t.unread(formatNumber(count))}
    >
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M12 3a6 6 0 0 0-6 6v4l-2 4h16l-2-4V9a6 6 0 0 0-6-6zM10 20h4" />
      </svg>
      {count > 0 && <span className="count">{count > 99 ? '99+' : formatNumber(count)}</span>}
    </Link>
  );
}
