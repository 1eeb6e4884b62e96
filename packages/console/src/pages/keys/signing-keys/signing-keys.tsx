import type { components } from '@doorward/node/client';
import { useRead } from '../../../api/use-api.ts';
import { createdColumn, textColumn, timeColumn } from '../../../entities/tables/columns.tsx';
import { EntityPage } from '../../../entities/entity-page.tsx';
import { targetOf, type Entity } from '../../../entities/declarations/entity.ts';
import { onlyRow } from '../../../entities/tables/only-row.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { RowAction } from '../row-action.tsx';
import { signingKeyTexts, type SigningKeyTexts } from './signing-key-texts.ts';
import { Snippet } from '../snippet.tsx';

type SigningKey = components['schemas']['SigningKey'];

const signingKeys: Entity<SigningKey, SigningKeyTexts> = {
  noun: 'SigningKey',
  texts: signingKeyTexts,
  name: ({ kid }) => kid,
  hasSearch: false,
  columns: (t, c) => [
    textColumn('kid', t.kid, ({ kid }) => kid, { cell: ({ kid }) => <code>{kid}</code> }),
    {
      key: 'status',
      label: c.status,
      text: ({ status }) => t[status],
      cell: ({ status }) => (
        <span className={status === 'revoked' ? 'problem' : status === 'active' ? 'gain' : ''}>
          {t[status]}
        </span>
      ),
    },
    createdColumn(c),
    timeColumn('activatedAt', t.activatedAt, ({ activatedAt }) => activatedAt),
    timeColumn('retiredAt', t.retiredAt, ({ retiredAt }) => retiredAt),
    timeColumn('publishedUntil', t.publishedUntil, ({ publishedUntil }) => publishedUntil),
  ],
  list: (api, input, signal) => api.signingKeys(input, { signal }),
  read: async (api, { id, ...input }, signal) =>
    onlyRow(await api.signingKeys({ ...input, ids: [id] }, { signal })),
  details: (key) => <Details signingKey={key} />,
  tools: () => <Rotation />,
};

function Details({ signingKey }: { readonly signingKey: SigningKey }) {
  const t = useTexts(signingKeyTexts);
  return (
    <>
      <Facts
        facts={[
          [t.algorithm, signingKey.algorithm],
          [t.issuer, <code>{signingKey.issuer}</code>],
        ]}
      />
      <Snippet label={t.publicKey} text={signingKey.publicKeyPem.trim()} />
    </>
  );
}

function Rotation() {
  const t = useTexts(signingKeyTexts);
  const rights = useRights(useScope());
  if (!rights.can('SigningKey:Rotate')) return null;
  return (
    <RowAction
      label={t.rotate}
      name={t.title}
      about={t.rotateAbout}
      isMain
      fields={[
        { kind: 'switch', name: 'revokeOld', label: t.revokeOld, hint: t.revokeOldHint, initial: false },
      ]}
      save={(api, { revokeOld, ...input }) =>
        api.rotateSigningKey({ ...input, revokeOld: revokeOld === true })
      }
    />
  );
}

/** Shows the URL of the public keys. It comes from the issuer of a key, which is the public URL of the service. */
function Address() {
  const t = useTexts(signingKeyTexts);
  const scope = useScope();
  const rights = useRights(scope);
  const { data } = useRead(
    ['SigningKey', scope, 'issuer'],
    (api, signal) => api.signingKeys({ ...targetOf(scope), status: 'active', limit: 1 }, { signal }),
    { isEnabled: rights.can('SigningKey:Query') },
  );
  const issuer = data?.items[0]?.issuer;
  if (issuer === undefined) return null;
  const address = `${issuer}/.well-known/jwks.json`;
  return (
    <section>
      <h2>{t.address}</h2>
      <p>{t.addressAbout}</p>
      <p className="row">
        <a href={address} target="_blank" rel="noopener noreferrer">
          <code>{address}</code>
        </a>
        <CopyButton text={address} />
      </p>
    </section>
  );
}

export default function SigningKeysPage() {
  return (
    <>
      <EntityPage entity={signingKeys} />
      <Address />
    </>
  );
}
