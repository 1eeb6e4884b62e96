import { useState, type FormEvent } from 'react';
import { useEach, type Outcome } from '../../../api/use-each.ts';
import { Control } from '../../../entities/controls/control.tsx';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useScope } from '../../../scopes/use-scope.ts';
import { Dialog } from '../../../ui/dialogs/dialog.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { roleChoices } from '../../access/choices.ts';
import { invitationTexts } from './invitation-texts.ts';

/** Invites several email addresses with the same role, one call after another. Failed ones stay in the field. */
export function InviteForm({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(invitationTexts);
  const c = useTexts(common);
  const scope = useScope();
  const [text, setText] = useState('');
  const [roleId, setRoleId] = useState<unknown>(null);
  const [problems, setProblems] = useState<{ readonly addresses?: string; readonly role?: string }>({});
  const invite = useEach((api, email: string) =>
    api.inviteMember({ ...targetOf(scope), email, roleId: roleId as string }),
  );

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const addresses = addressesOf(text);
    const found = {
      ...(addresses.length === 0 ? { addresses: t.needAddress } : {}),
      ...(typeof roleId === 'string' ? {} : { role: t.needRole }),
    };
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    setText((await invite.run(addresses)).join('\n'));
  }

  return (
    <Dialog title={t.create} onClose={onClose} isWide>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Control
          field={{
            kind: 'textarea',
            name: 'addresses',
            label: t.addresses,
            hint: t.addressesHint,
            initial: '',
          }}
          value={text}
          problem={problems.addresses}
          onChange={(value) => setText(String(value))}
        />
        <Control
          field={{
            kind: 'row',
            name: 'roleId',
            label: c.role,
            hint: t.roleHint,
            isRequired: true,
            noun: 'Role',
            source: roleChoices,
            initial: null,
          }}
          value={roleId}
          problem={problems.role}
          onChange={setRoleId}
        />
        <Results outcomes={invite.outcomes} />
        <div className="buttons">
          <button type="submit" className="main" disabled={invite.isBusy}>
            {t.invite}
          </button>
          <button type="button" onClick={onClose}>
            {c.close}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Results({ outcomes }: { readonly outcomes: readonly Outcome<string, unknown>[] }) {
  const t = useTexts(invitationTexts);
  const c = useTexts(common);
  return (
    <section aria-live="polite" aria-label={c.results}>
      {outcomes.map(({ row: email, error }) =>
        error ? (
          <div key={email}>
            <p>
              <bdi>{email}</bdi>
            </p>
            <ErrorBox error={error} />
          </div>
        ) : (
          <p key={email} className="gain">
            <bdi>{email}</bdi>: {t.invited}
          </p>
        ),
      )}
    </section>
  );
}

/** Splits a text into email addresses at whitespace, commas and semicolons, without duplicates. */
const addressesOf = (text: string): readonly string[] => [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
