import { html, type Html } from '../../html/html.ts';
import { accountForm, shownTime, type AccountPage, type View } from './account-page.ts';
import { accountTexts } from './account-texts.ts';
import { row } from './fields.ts';
import { notificationTexts, type NotificationType } from './notification-texts.ts';

interface Notification {
  readonly id: string;
  readonly title: string;
  readonly body: string | null;
  readonly readAt: string | null;
  readonly createdAt: string;
}

interface Preference {
  readonly type: NotificationType;
  readonly channel: 'inApp' | 'email';
  readonly enabled: boolean;
  readonly locked: boolean;
}

const section = 'notifications';
const fieldOf = ({ type, channel }: Preference): string => `${type}.${channel}`;

const preferencesOf = async ({ caller }: View): Promise<readonly Preference[]> =>
  ((await caller.call('myNotificationPreferences', {})) as { readonly items: readonly Preference[] }).items;

/** Shows the latest notifications of the user, and lets the user choose which notifications to get. */
export const notificationsPage: AccountPage = {
  section,
  async body(view) {
    const { language, caller } = view;
    const words = notificationTexts[language];
    const { items, unreadCount, hasNextPage } = (await caller.call('myNotifications', { limit: 20 })) as {
      readonly items: readonly Notification[];
      readonly unreadCount: number;
      readonly hasNextPage: boolean;
    };
    const rows = items.map(({ id, title, body, readAt, createdAt }) =>
      row(view, {
        section,
        id,
        title: readAt === null ? `${title} (${words.unread})` : title,
        lines: [...(body === null ? [] : [body]), shownTime(language, createdAt)],
      }),
    );
    const fields = boxes(view, await preferencesOf(view));
    return html`${
        rows.length > 0
          ? html`<ul class="rows">
              ${rows}
            </ul>`
          : html`<p>${words.none}</p>`
      }
      ${hasNextPage && html`<p>${words.older}</p>`}
      ${unreadCount > 0 && accountForm(view, { name: 'read', section, button: words.markAll, isQuiet: true })}
      <h2>${words.title}</h2>
      <p>${words.about}</p>
      ${accountForm(view, { name: 'preferences', section, button: accountTexts[language].save, fields })}`;
  },
  forms: {
    async read(_form, { caller }) {
      await caller.call('markAllMyNotificationsRead', {});
      return 'saved';
    },
    async preferences(form, view) {
      for (const preference of await preferencesOf(view)) {
        const enabled = form[fieldOf(preference)] === 'on';
        if (preference.locked || enabled === preference.enabled) continue;
        const { type, channel } = preference;
        await view.caller.call('setMyNotificationPreference', { type, channel, enabled });
      }
      return 'saved';
    },
  },
};

/** Returns a checkbox for each type and channel. Notifications that cannot be switched off are marked as such. */
function boxes({ language }: View, preferences: readonly Preference[]): Html[] {
  const words = notificationTexts[language];
  const box = (preference: Preference) =>
    html`<label class="check">
      <input
        type="checkbox"
        name="${fieldOf(preference)}"
        ${preference.enabled && html`checked`}
        ${preference.locked && html`disabled`}
      />
      <span>${words.channels[preference.channel]}${preference.locked && html` (${words.locked})`}</span>
    </label>`;
  const types = [...new Set(preferences.map(({ type }) => type))];
  return types.map(
    (type) =>
      html`<fieldset>
        <legend>${words.types[type]}</legend>
        ${preferences.filter((preference) => preference.type === type).map(box)}
      </fieldset>`,
  );
}
