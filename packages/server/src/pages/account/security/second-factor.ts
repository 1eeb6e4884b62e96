import { DoorwardError } from '../../../errors.ts';
import { html, type Html } from '../../../html/html.ts';
import { qrPath } from '../../../html/qr-code.ts';
import { hiddenField } from '../../sign-in/app-page.ts';
import {
  accountForm,
  FieldProblem,
  problemOf,
  shownTime,
  type AccountPage,
  type View,
} from '../account-page.ts';
import { accountTexts } from '../account-texts.ts';
import { row, textField } from '../fields.ts';
import { keepCodes, recoveryCodesBody } from './recovery-codes.ts';
import { secondFactorTexts } from './second-factor-texts.ts';

interface Factor {
  readonly id: string;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly createdAt: string;
}

const section = 'second-factor';

/** Lets users manage their authenticator apps and recovery codes. */
export const secondFactorPage: AccountPage = {
  section,
  lengths: { name: 100 },
  async body(view) {
    const { language, caller, entered } = view;
    const words = secondFactorTexts[language];
    const { factors, recoveryCodesLeft, enabled } = (await caller.call('myMfa', {})) as {
      readonly factors: readonly Factor[];
      readonly recoveryCodesLeft: number;
      readonly enabled: boolean;
    };
    const remove = accountTexts[language];
    const rows = factors.map(({ id, name, isEnabled, createdAt }) =>
      row(view, {
        section,
        id,
        title: isEnabled ? name : `${name} (${words.pending})`,
        lines: [html`${words.added}: ${shownTime(language, createdAt)}`],
        form: {
          name: 'remove',
          button: remove.remove,
          label: remove.removeNamed.replace('{name}', () => name),
        },
        more: isEnabled ? undefined : codeForm(view, id),
      }),
    );
    const fields = textField({
      id: 'name',
      label: words.name,
      value: entered['name'] ?? words.nameInitial,
      problem: problemOf(view, 'add', 'name'),
      attributes: html`maxlength="100"`,
    });
    return html`<p>${words.about}</p>
      ${
        rows.length > 0 &&
        html`<ul class="rows">
            ${rows}
          </ul>
          <p>${words.removal}</p>`
      }
      ${accountForm(view, { name: 'add', section, button: words.setUp, fields })}
      ${
        (enabled || recoveryCodesLeft > 0) &&
        html`<h2>${words.newCodes}</h2>
          <p>${words.codesLeft.replace('{count}', String(recoveryCodesLeft))} · ${words.newCodesText}</p>
          ${accountForm(view, { name: 'codes', section, button: words.newCodes, isQuiet: true })}`
      }`;
  },
  forms: {
    async add({ name = '' }, view) {
      const { factor, secret, otpauthUrl } = (await view.caller.call('createMfaFactor', { name })) as {
        readonly factor: Factor;
        readonly secret: string;
        readonly otpauthUrl: string;
      };
      return { shown: newApp(view, factor.id, { secret, otpauthUrl }) };
    },
    async enable({ id = '', code = '' }, view) {
      try {
        const { recoveryCodes } = (await view.caller.call('verifyMfaFactor', { id, code })) as {
          readonly recoveryCodes: readonly string[] | null;
        };
        return recoveryCodes ? { shown: recoveryCodesBody(view, section, recoveryCodes) } : 'saved';
      } catch (error) {
        const isWrong = error instanceof DoorwardError && error.code === 'UNAUTHENTICATED';
        throw isWrong ? new FieldProblem('code', secondFactorTexts[view.language].wrong) : error;
      }
    },
    async remove({ id = '' }, { caller }) {
      await caller.call('deleteMfaFactor', { id });
      return 'saved';
    },
    async codes(_form, view) {
      const { recoveryCodes } = (await view.caller.call('regenerateMfaRecoveryCodes', {})) as {
        readonly recoveryCodes: readonly string[];
      };
      return { shown: recoveryCodesBody(view, section, recoveryCodes) };
    },
    kept: keepCodes,
  },
};

/** Shows a new app with its secret, which is never shown again. The app can still be enabled later. */
function newApp(
  view: View,
  id: string,
  { secret, otpauthUrl }: { readonly secret: string; readonly otpauthUrl: string },
): Html {
  const words = secondFactorTexts[view.language];
  const code = qrPath(otpauthUrl);
  return html`<p>${words.scan}</p>
    ${
      code &&
      html`<svg class="qr" viewBox="0 0 ${code.size} ${code.size}" role="img" aria-label="${words.qr}">
        <rect width="${code.size}" height="${code.size}" fill="#fff" />
        <path d="${code.path}" fill="#000" shape-rendering="crispEdges" />
      </svg>`
    }
    <p>${words.secret}: <code class="secret">${secret.match(/.{1,4}/g)?.join(' ') ?? ''}</code></p>
    ${codeForm(view, id)}`;
}

function codeForm(view: View, id: string): Html {
  const words = secondFactorTexts[view.language];
  return accountForm(view, {
    name: 'enable',
    section,
    button: words.enable,
    fields: html`${hiddenField('id', id)}
    ${textField({
      id: `code-${id}`,
      name: 'code',
      label: words.code,
      problem: view.entered['id'] === id ? problemOf(view, 'enable', 'code') : undefined,
      attributes: html`inputmode="numeric" autocomplete="one-time-code" maxlength="16"`,
    })}`,
  });
}
