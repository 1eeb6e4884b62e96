import { useRead } from '../../../api/use-api.ts';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { useTexts } from '../../../i18n/language.ts';
import type { Scope } from '../../../scopes/scope.ts';
import type { Rights } from '../../../scopes/use-scope.ts';
import { projectTexts } from './project-texts.ts';
import { Steps } from '../parts/steps.tsx';

/** The size of one request. A project with more events is past its first steps. */
const FIRST = 100;

/**
 * Shows the steps from a new project to its first access check. The feed shows which ones are done: it starts with
 * the oldest event, so one request is enough, and a step stays done after its row is deleted. A project whose first
 * events have been purged isn't new.
 */
export function ProjectSteps({ scope, can }: { readonly scope: Scope; readonly can: Rights['can'] }) {
  const t = useTexts(projectTexts);
  const { data } = useRead(['Event', scope, 'first'], (api, signal) =>
    api.events({ ...targetOf(scope), limit: FIRST }, { signal }),
  );
  if (!data || data.hasNextPage || data.items[0]?.sequence !== 1) return null;
  const types: ReadonlySet<string> = new Set(data.items.map(({ type }) => type));
  const steps = [
    { page: 'users', needs: 'User:Create', texts: t.user, events: ['project.user_added', 'user.created'] },
    { page: 'roles', needs: 'Role:Create', texts: t.role, events: ['role.created'] },
    { page: 'api-keys', needs: 'ApiKey:Create', texts: t.key, events: ['api_key.created'] },
    { page: 'why', needs: 'Authorization:Explain', texts: t.check, events: ['api_key.exchanged'] },
  ].filter(({ needs }) => can(needs));
  return (
    <Steps
      scope={scope}
      steps={steps.map(({ page, texts, events }) => ({
        page,
        name: texts.name,
        about: texts.about,
        isDone: events.some((type) => types.has(type)),
      }))}
    />
  );
}
