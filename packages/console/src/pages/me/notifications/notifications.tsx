import type { Api, components } from '@doorward/node/client';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Expectation } from '../../../api/expectation.ts';
import { useChange, useList } from '../../../api/use-api.ts';
import { unreadKey } from '../../../frame/notices/bell.tsx';
import { common } from '../../../i18n/common.ts';
import { useTexts, type Texts } from '../../../i18n/language.ts';
import { announce } from '../../../ui/announcer.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { Chip } from '../../../ui/chips.tsx';
import { ListFoot } from '../../../ui/tables/list-foot.tsx';
import { Failure } from '../../../scopes/failure.tsx';
import { Empty, Skeleton } from '../../../ui/states.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { targetOf, type NoticeTarget } from './notice-target.ts';
import { Preferences } from './preferences.tsx';

type Notice = components['schemas']['Notification'];

interface NoticeTexts {
  readonly title: string;
  readonly about: string;
  readonly empty: string;
  readonly noUnread: string;
  readonly unread: string;
  readonly unreadOnly: string;
  readonly read: string;
  readonly readLabel: (title: string) => string;
  readonly readAll: string;
  readonly open: string;
  readonly openLabel: (title: string) => string;
}

const texts: Texts<NoticeTexts> = {
  en: {
    title: 'Notifications',
    about: 'What happened to you and to what you take care of, in the last 90 days.',
    empty: 'Nothing has happened yet that you should know.',
    noUnread: 'You have read everything.',
    unread: 'unread',
    unreadOnly: 'Only unread ones',
    read: 'Mark as read',
    readLabel: (title) => `Mark as read: ${title}`,
    readAll: 'Mark all as read',
    open: 'Open',
    openLabel: (title) => `Open: ${title}`,
  },
  de: {
    title: 'Benachrichtigungen',
    about: 'Was Ihnen und dem, worum Sie sich kümmern, in den letzten 90 Tagen geschehen ist.',
    empty: 'Noch ist nichts geschehen, was Sie wissen sollten.',
    noUnread: 'Sie haben alles gelesen.',
    unread: 'ungelesen',
    unreadOnly: 'Nur ungelesene',
    read: 'Als gelesen markieren',
    readLabel: (title) => `Als gelesen markieren: ${title}`,
    readAll: 'Alle als gelesen markieren',
    open: 'Öffnen',
    openLabel: (title) => `Öffnen: ${title}`,
  },
  es: {
    title: 'Notificaciones',
    about: 'Lo que le ha ocurrido a usted y a lo que usted cuida, en los últimos 90 días.',
    empty: 'Aún no ha ocurrido nada que deba saber.',
    noUnread: 'Lo ha leído todo.',
    unread: 'sin leer',
    unreadOnly: 'Solo las no leídas',
    read: 'Marcar como leída',
    readLabel: (title) => `Marcar como leída: ${title}`,
    readAll: 'Marcar todas como leídas',
    open: 'Abrir',
    openLabel: (title) => `Abrir: ${title}`,
  },
  fr: {
    title: 'Notifications',
    about: 'Ce qui vous est arrivé, et ce qui est arrivé à ce dont vous vous occupez, ces 90 derniers jours.',
    empty: 'Rien ne s’est encore passé que vous devriez savoir.',
    noUnread: 'Vous avez tout lu.',
    unread: 'non lue',
    unreadOnly: 'Seulement les non lues',
    read: 'Marquer comme lue',
    readLabel: (title) => `Marquer comme lue : ${title}`,
    readAll: 'Tout marquer comme lu',
    open: 'Ouvrir',
    openLabel: (title) => `Ouvrir : ${title}`,
  },
};

const PAGE = 50;

/** Marks notifications as read and lowers the number of unread ones, before the service has responded. */
function expectRead(
  { rows, answer }: Expectation,
  isMeant: (notice: Notice) => boolean,
  count: number,
): void {
  const readAt = new Date().toISOString();
  rows<Notice>('Notification', isMeant, (notice) => ({ ...notice, readAt: notice.readAt ?? readAt }));
  answer<{ readonly unreadCount: number }>(unreadKey, (before) => ({
    ...before,
    unreadCount: Math.max(0, before.unreadCount - count),
  }));
}

const Notifications = () => {
  const t = useTexts(texts);
  const c = useTexts(common);
  const { unread } = useSearch({ strict: false });
  const navigate = useNavigate();
  const unreadOnly = unread === 'only';
  const list = useList(['Notification', 'mine', unreadOnly], (api, cursor, signal) =>
    api.myNotifications({ limit: PAGE, unreadOnly, ...(cursor === undefined ? {} : { cursor }) }, { signal }),
  );
  const readAll = useChange((api: Api, _input: null) => api.markAllMyNotificationsRead({}), {
    expected: (expectation) => expectRead(expectation, () => true, Infinity),
  });
  const read = useChange((api: Api, id: string) => api.markMyNotificationRead({ id }), {
    expected: (expectation, id) => expectRead(expectation, (notice) => notice.id === id, 1),
  });
  const notices = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const error = read.error ?? readAll.error;
  return (
    <div className="own">
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
        {notices.some(({ readAt }) => readAt === null) && (
          <button
            type="button"
            disabled={readAll.isPending}
            onClick={() => readAll.mutate(null, { onSuccess: () => announce(c.saved) })}
          >
            {t.readAll}
          </button>
        )}
      </header>
      {(notices.length > 0 || unreadOnly) && (
        <label className="switch">
          <input
            type="checkbox"
            checked={unreadOnly}
            onChange={(event) =>
              void navigate({
                to: '.',
                search: { unread: event.target.checked ? 'only' : undefined },
                replace: true,
              })
            }
          />
          {t.unreadOnly}
        </label>
      )}
      {list.isPending && <Skeleton />}
      {list.error && <Failure error={list.error} onRetry={() => list.refetch()} />}
      {error && <ErrorBox error={error} />}
      {list.data && notices.length === 0 && <Empty title={unreadOnly ? t.noUnread : t.empty} />}
      {notices.length > 0 && (
        <>
          <ul className="notices">
            {notices.map((notice) => (
              <li key={notice.id} className={notice.readAt === null ? 'unread' : ''}>
                <h2>
                  <bdi>{notice.title}</bdi> {notice.readAt === null && <Chip>{t.unread}</Chip>}
                </h2>
                {notice.body !== null && (
                  <p>
                    <bdi>{notice.body}</bdi>
                  </p>
                )}
                <p className="row">
                  <small>
                    <Time iso={notice.createdAt} />
                  </small>
                  <OpenTarget
                    notice={notice}
                    onOpen={() => notice.readAt === null && read.mutate(notice.id)}
                  />
                  {notice.readAt === null && (
                    <button
                      type="button"
                      className="quiet"
                      aria-label={t.readLabel(notice.title)}
                      disabled={read.isPending}
                      onClick={() => read.mutate(notice.id)}
                    >
                      {t.read}
                    </button>
                  )}
                </p>
              </li>
            ))}
          </ul>
          <ListFoot list={list} />
        </>
      )}
      <Preferences />
    </div>
  );
};
export default Notifications;

/** The link to what a notification is about. Opening it also marks the notification as read. */
function OpenTarget({ notice, onOpen }: { readonly notice: Notice; readonly onOpen: () => void }) {
  const t = useTexts(texts);
  const target: NoticeTarget | null = targetOf(notice);
  if (!target) return null;
  const shared = { 'aria-label': t.openLabel(notice.title), onClick: onOpen };
  if (target.kind === 'own')
    return (
      <Link to="/me/$page" params={{ page: target.page }} {...shared}>
        {t.open}
      </Link>
    );
  const { scope, page, row } = target;
  return row === null ? (
    <Link to="/$tenant/$id/$page" params={{ ...scope, page }} {...shared}>
      {t.open}
    </Link>
  ) : (
    <Link to="/$tenant/$id/$page/$row" params={{ ...scope, page, row }} {...shared}>
      {t.open}
    </Link>
  );
}
