import '../../styles/subjects.css';
import { useState } from 'react';
import { useNavigate, useParams } from '@tanstack/react-router';
import { DoorwardError } from '@doorward/node/client';
import { useRead } from '../../api/use-api.ts';
import { targetOf } from '../../entities/declarations/entity.ts';
import type { ChoiceSource } from '../../entities/declarations/form-field.ts';
import { RowChoice } from '../../entities/controls/row-choice.tsx';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { canOf } from '../../scopes/held.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Failure, Forbidden } from '../../scopes/failure.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { EffectivePermissions } from './effective-permissions.tsx';
import { readNames, readUsers } from './user-names.ts';
import { mayDoTexts } from './may-do-texts.ts';
import { VisiblePages } from './visible-pages.tsx';

/**
 * Shows a user's effective permissions, and the pages that they see. It only reads, and issues no token for the user.
 */
export default function MayDoPage() {
  const t = useTexts(mayDoTexts);
  const scope = useScope();
  const rights = useRights(scope);
  const { row: userId } = useParams({ strict: false });
  if (rights.isLoading) return <Skeleton />;
  if (rights.error) return <Failure error={rights.error} onRetry={rights.readAgain} />;
  if (!rights.can('Authorization:Check')) return <Forbidden permission="Authorization:Check" />;
  if (userId !== undefined) return <ViewOf key={userId} userId={userId} />;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
      </header>
      {rights.can('User:Query') ? <UserForm /> : <WithoutList />}
    </>
  );
}

/** Shown to callers who may not list users. In an organization they may still open a user from the members. */
function WithoutList() {
  const t = useTexts(mayDoTexts);
  const scope = useScope();
  if (scope.tenant !== 'organization') return <Forbidden permission="User:Query" />;
  return <Empty title={t.openFromMember} />;
}

function UserForm() {
  const t = useTexts(mayDoTexts);
  const scope = useScope();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<string | null>(null);
  const source: ChoiceSource = (api, { search }) => readUsers(api, scope, search);
  return (
    <form
      className="subject-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== null)
          void navigate({
            to: '/$tenant/$id/$page/$row',
            params: { ...scope, page: 'may-do', row: chosen },
          });
      }}
    >
      <RowChoice
        field={{
          kind: 'row',
          name: 'user',
          label: t.who,
          noun: 'ViewedUser',
          source,
          isRequired: true,
          initial: null,
        }}
        value={chosen}
        problem={undefined}
        onChange={(id) => setChosen(id as string)}
      />
      <button type="submit" className="main" disabled={chosen === null}>
        {t.show}
      </button>
    </form>
  );
}

function ViewOf({ userId }: { readonly userId: string }) {
  const t = useTexts(mayDoTexts);
  const c = useTexts(common);
  const scope = useScope();
  const { data, error, refetch } = useRead(['may-do', scope, userId], (api, signal) =>
    api.userPermissions({ ...targetOf(scope), id: userId }, { signal }),
  );
  const { data: name = userId } = useRead(['may-do', scope, userId, 'name'], (api, signal) =>
    readNames(api, scope, [userId], signal).then((names) => names.get(userId) ?? userId),
  );
  if (error instanceof DoorwardError && (error.status === 404 || error.status === 400))
    return (
      <>
        <h1>{c.notFound}</h1>
        <p>{c.notFoundText}</p>
      </>
    );
  if (error) return <Failure error={error} permission="Authorization:Check" onRetry={() => refetch()} />;
  if (!data) return <Skeleton />;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>
            {t.title}: <bdi>{name}</bdi>
          </h1>
          <p>{t.readOnly}</p>
        </div>
      </header>
      {data.permissions.length === 0 ? (
        <Empty title={t.nothing}>
          <p>{t.nothingHint}</p>
        </Empty>
      ) : (
        <>
          <VisiblePages can={canOf(data.permissions)} />
          <EffectivePermissions permissions={data.permissions} userId={userId} />
        </>
      )}
    </>
  );
}
