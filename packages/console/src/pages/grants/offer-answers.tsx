import { formInput, type Values } from '../../entities/declarations/form-field.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { RowAction } from '../keys/row-action.tsx';
import { grantedTexts } from './granted-texts.ts';
import { tokenIn } from './offer-token.ts';

const withToken = ({ link, ...input }: Values) => ({ ...input, token: tokenIn(link) });

/** Accepts or declines an offer that was sent by mail, for the organization of the current scope. */
export function OfferAnswers() {
  const t = useTexts(grantedTexts);
  const { can } = useRights(useScope());
  if (!can('ProjectGrant:Accept')) return null;
  const answer = {
    name: t.link,
    fields: [
      {
        kind: 'text' as const,
        name: 'link',
        label: t.link,
        hint: t.linkHint,
        isRequired: true,
        check: (value: unknown) => (tokenIn(value) === null ? t.noLink : null),
        initial: '',
      },
    ],
  };
  return (
    <span className="row">
      <RowAction
        {...answer}
        label={t.accept}
        about={t.acceptAbout}
        isMain
        save={(api, input) => api.acceptProjectGrant(formInput<'acceptProjectGrant'>(withToken(input)))}
      />
      <RowAction
        {...answer}
        label={t.decline}
        about={t.declineAbout}
        save={(api, input) => api.declineProjectGrant(formInput<'declineProjectGrant'>(withToken(input)))}
      />
    </span>
  );
}
