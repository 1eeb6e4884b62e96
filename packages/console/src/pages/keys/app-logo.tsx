import { useRef } from 'react';
import type { Api, components } from '@doorward/node/client';
import { useChange } from '../../api/use-api.ts';
import { targetOf } from '../../entities/entity.ts';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { announce } from '../../ui/announcer.tsx';
import { dataAddress } from '../../ui/data-address.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Field } from '../../ui/field.tsx';
import { isUploaded } from './app-fields.ts';
import { appTexts } from './app-texts.ts';

/** The uploaded logo of an app, a new one, and none. */
export function AppLogo({ app }: { readonly app: components['schemas']['ProjectApp'] }) {
  const t = useTexts(appTexts);
  const c = useTexts(common);
  const scope = useScope();
  const rights = useRights(scope);
  const input = useRef<HTMLInputElement>(null);
  const change = useChange(async (api: Api, file: File | null) =>
    api.uploadProjectAppLogo({
      ...targetOf(scope),
      id: app.id,
      file: file === null ? null : await dataAddress(file),
    }),
  );
  const send = (file: File | null): void =>
    change.mutate(file, {
      onSuccess: () => announce(c.saved),
      // The same file can be chosen again.
      onSettled: () => {
        if (input.current) input.current.value = '';
      },
    });
  if (!rights.can('ProjectApp:Update')) return null;
  return (
    <>
      <div className="picture square">
        {isUploaded(app.logoUrl) && <img src={app.logoUrl ?? ''} alt="" />}
        <Field label={t.newLogo} hint={t.newLogoHint}>
          {(attributes) => (
            <input
              {...attributes}
              ref={input}
              type="file"
              accept="image/jpeg,image/png,image/webp,image/gif"
              disabled={change.isPending}
              onChange={(event) => {
                const [file] = event.target.files ?? [];
                if (file) send(file);
              }}
            />
          )}
        </Field>
      </div>
      {isUploaded(app.logoUrl) && (
        <button type="button" disabled={change.isPending} onClick={() => send(null)}>
          {t.removeLogo}
        </button>
      )}
      {change.error && <ErrorBox error={change.error} />}
    </>
  );
}
