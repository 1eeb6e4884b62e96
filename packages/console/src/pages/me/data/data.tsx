import { useState } from 'react';
import type { Api, components } from '@doorward/node/client';
import { Link } from '@tanstack/react-router';
import { useChange, useRequest } from '../../../api/use-api.ts';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useMe } from '../../../scopes/use-scopes.ts';
import { announce } from '../../../ui/announcer.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { download } from '../../../ui/dialogs/secret-dialog.tsx';
import { Failure } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { dataTexts } from './data-texts.ts';
import { Deletion } from './deletion.tsx';

type AccountType = components['schemas']['AccountType'];
const accountTypes: readonly AccountType[] = ['personal', 'organization'];

const Data = () => {
  const t = useTexts(dataTexts);
  const { data: me, error, refetch } = useMe();
  const [isDeleting, setDeleting] = useState(false);
  const copy = useRequest((api: Api, _input: null) => api.exportMe({}));
  if (!me) return error ? <Failure error={error} onRetry={() => refetch()} /> : <Skeleton />;
  return (
    <div className="own">
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
      </header>
      <section>
        <h2>{t.export}</h2>
        <p>{t.exportAbout}</p>
        {copy.error && <ErrorBox error={copy.error} />}
        <button
          type="button"
          disabled={copy.isPending}
          onClick={() =>
            copy.mutate(null, {
              onSuccess: (all) => {
                download('doorward-export.json', JSON.stringify(all, null, 2), 'application/json');
                copy.reset();
              },
            })
          }
        >
          {t.download}
        </button>
      </section>
      <Accounts accounts={me.accounts} />
      <section>
        <h2>{t.deletion}</h2>
        <ul>
          {t.consequences.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
        <button type="button" className="bad" onClick={() => setDeleting(true)}>
          {t.erase}
        </button>
      </section>
      {isDeleting && <Deletion user={me.user} onClose={() => setDeleting(false)} />}
    </div>
  );
};
export default Data;

/** Lists the accounts of the user. They can have one account of each type. */
function Accounts({ accounts }: { readonly accounts: readonly components['schemas']['Account'][] }) {
  const t = useTexts(dataTexts);
  const c = useTexts(common);
  const create = useChange((api: Api, type: AccountType) => api.createMyAccount({ type }));
  const missing = accountTypes.filter((type) => !accounts.some((account) => account.type === type));
  return (
    <section>
      <h2>{t.accounts}</h2>
      <p>{t.accountsAbout}</p>
      <ul>
        {accounts.map(({ id, type }) => (
          <li key={id}>
            <Link to="/$tenant/$id/$page" params={{ tenant: 'account', id, page: 'overview' }}>
              {t.types[type]}
            </Link>
          </li>
        ))}
      </ul>
      {create.error && <ErrorBox error={create.error} />}
      {missing.map((type) => (
        <button
          key={type}
          type="button"
          disabled={create.isPending}
          onClick={() => create.mutate(type, { onSuccess: () => announce(c.saved) })}
        >
          {t.addAccount[type]}
        </button>
      ))}
    </section>
  );
}
