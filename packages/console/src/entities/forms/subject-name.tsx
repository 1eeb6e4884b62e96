import { DoorwardError } from '@doorward/node/client';
import { useRead } from '../../api/use-api.ts';
import { useTexts } from '../../i18n/language.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { targetOf } from '../declarations/entity.ts';
import { formTexts } from '../declarations/form-texts.ts';

/** Used instead of a name if the subject doesn't exist yet. */
const isNew = Symbol('new');

/** The name of a user or API key; the id if the caller may not read it. In a dry run the subject may not exist yet. */
export function SubjectName({
  subject,
}: {
  readonly subject: { readonly type: 'user' | 'apiKey'; readonly id: string };
}) {
  const t = useTexts(formTexts);
  const scope = useScope();
  const { data } = useRead(['subject', scope, subject.type, subject.id], (api, signal) =>
    (subject.type === 'user'
      ? api.user({ ...targetOf(scope), id: subject.id }, { signal })
      : api.apiKey({ ...targetOf(scope), id: subject.id }, { signal })
    ).then(
      ({ name }) => name,
      (error: unknown) => (error instanceof DoorwardError && error.code === 'NOT_FOUND' ? isNew : null),
    ),
  );
  return (
    <strong title={subject.id}>
      {data === isNew
        ? subject.type === 'user'
          ? t.newUser
          : t.newKey
        : `${subject.type === 'user' ? t.user : t.key} ${data ?? subject.id}`}
    </strong>
  );
}
