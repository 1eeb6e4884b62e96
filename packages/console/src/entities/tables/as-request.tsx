import { useState } from 'react';
import { useScope } from '../../scopes/use-scope.ts';
import { serviceUrl } from '../../session/session.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { useTexts, type Texts } from '../../i18n/language.ts';

const texts: Texts<{ readonly asRequest: string }> = {
  en: { asRequest: 'As request' },
  de: { asRequest: 'Als Anfrage' },
  es: { asRequest: 'Como solicitud' },
  fr: { asRequest: 'En requête' },
};

/** Shows a curl command that reads the list, without its search and filters, with a token from the environment. */
export function AsRequest({ path }: { readonly path: string }) {
  const t = useTexts(texts);
  const scope = useScope();
  const [isOpen, setOpen] = useState(false);
  const query = new URLSearchParams({ tenant: scope.tenant, scopeId: scope.id }).toString();
  const command = `curl -H "Authorization: Bearer $DOORWARD_TOKEN" '${serviceUrl}/api/${path}?${query}'`;
  return (
    <span className="as-request">
      <button type="button" className="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t.asRequest}
      </button>
      {isOpen && (
        <span className="row">
          <code>{command}</code> <CopyButton text={command} />
        </span>
      )}
    </span>
  );
}

/** Returns the path of the list of a noun: `api-keys` for `ApiKey`. */
export const pathOf = (noun: string): string => `${noun.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}s`;
