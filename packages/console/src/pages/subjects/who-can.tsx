import '../../styles/subjects.css';
import { useState } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Failure, Forbidden } from '../../scopes/failure.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import type { Attributes } from '../why/question.ts';
import { AllowedUsers } from './allowed-users.tsx';
import type { PermissionPair } from '../why/permission-fields.tsx';
import { WhoCanForm } from './who-can-form.tsx';
import { whoCanTexts } from './who-can-texts.ts';

/**
 * Shows who has a permission here now. The permission is in the URL, so that the question can be shared. The
 * attributes of the resource are not, because they are data of the product.
 */
export default function WhoCanPage() {
  const t = useTexts(whoCanTexts);
  const scope = useScope();
  const rights = useRights(scope);
  const navigate = useNavigate();
  const { resource = '', action = '' } = useSearch({ strict: false });
  const [thing, setThing] = useState<Attributes | null>(null);
  /** Increases with each question, so that the same question can be asked again. */
  const [round, setRound] = useState(0);

  if (rights.isLoading) return <Skeleton />;
  if (rights.error) return <Failure error={rights.error} onRetry={rights.readAgain} />;
  for (const permission of ['Authorization:Check', 'User:Query'])
    if (!rights.can(permission)) return <Forbidden permission={permission} />;
  const ask = (permission: PermissionPair, attributes: Attributes | null): void => {
    setThing(attributes);
    setRound((before) => before + 1);
    void navigate({ to: '.', search: { ...permission }, replace: true });
  };
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
      </header>
      <WhoCanForm initial={{ resource, action }} onAsk={ask} />
      {resource && action ? (
        <AllowedUsers
          key={`${round} ${resource}:${action}`}
          permission={{ resource, action }}
          thing={thing}
        />
      ) : (
        <Empty title={t.start} />
      )}
    </>
  );
}
