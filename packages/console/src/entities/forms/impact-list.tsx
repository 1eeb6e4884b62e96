import { useTexts } from '../../i18n/language.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { isSameScope, type Scope, type Tenant } from '../../scopes/scope.ts';
import { tenantTexts } from '../../scopes/tenant-texts.ts';
import type { Impact } from '../declarations/entity.ts';
import { formTexts } from '../declarations/form-texts.ts';
import { SubjectName } from './subject-name.tsx';

/** Lists who would gain and lose which permissions. */
export function ImpactList({ impact }: { readonly impact: Impact }) {
  const t = useTexts(formTexts);
  const tenants = useTexts(tenantTexts);
  const scope = useScope();
  return (
    <section className="box" aria-label={t.impact}>
      <h3>{t.impact}</h3>
      {impact.affected.length === 0 && <p>{t.nobody}</p>}
      <ul className="impact">
        {impact.affected.map((affected) => (
          <li key={`${affected.subject.id} ${affected.scope.id}`}>
            <SubjectName subject={affected.subject} />
            {!isSameScope(affected.scope as Scope, scope) && (
              <small> ({tenants[affected.scope.tenant as Tenant]})</small>
            )}
            <Permissions label={t.gains} className="gain" permissions={affected.gains} />
            <Permissions label={t.loses} className="loss" permissions={affected.loses} />
            <Permissions label={t.changes} className="" permissions={affected.changes} />
          </li>
        ))}
      </ul>
      {impact.truncated && <p className="problem">{t.truncated}</p>}
    </section>
  );
}

function Permissions({
  label,
  className,
  permissions,
}: {
  readonly label: string;
  readonly className: string;
  readonly permissions: Impact['affected'][number]['gains'];
}) {
  const t = useTexts(formTexts);
  if (permissions.length === 0) return null;
  return (
    <p className={className}>
      {label}{' '}
      {permissions.map(({ resource, action, conditional }) => (
        <span key={`${resource}:${action}`} className="chip">
          <code>
            {resource}:{action}
          </code>
          {conditional && <small> {t.conditional}</small>}
        </span>
      ))}
    </p>
  );
}
