import { useRead } from '../../api/use-api.ts';
import { targetOf } from '../../entities/declarations/entity.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Failure } from '../../scopes/failure.tsx';
import { ChangedRows } from './changed-rows.tsx';
import { projectIdOf } from './project-id.ts';
import { policyTexts } from './policy-texts.ts';

/** Shows what was changed by hand since the last version. A plan for the document of that version reveals it. */
export function Drift({ number }: { readonly number: number }) {
  const t = useTexts(policyTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  const { data, error, refetch } = useRead(
    ['Policy', scope, 'drift', number],
    (api, signal) =>
      api.planPolicy({ ...targetOf(scope), id: projectIdOf(scope), number, allowDelete: true }, { signal }),
    { isEnabled: can('Policy:Plan') },
  );
  if (error) return <Failure error={error} onRetry={() => refetch()} />;
  if (!data) return null;
  return (
    <section>
      <h2>{t.drift}</h2>
      <p>{data.drift.length === 0 ? t.noDrift : t.driftAbout}</p>
      {data.drift.length > 0 && <ChangedRows label={t.drift} rows={data.drift} />}
    </section>
  );
}
