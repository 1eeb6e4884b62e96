import { isProject } from '../../scopes/scope.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { InstallationOverview } from '../installation/overview.tsx';
import { AccountOverview } from './account-overview.tsx';
import { OrganizationOverview } from './organizations/organization-overview.tsx';
import { ProjectOverview } from './projects/project-overview.tsx';

/** The overview page of the current scope, which depends on its kind. */
function Overview() {
  const scope = useScope();
  if (isProject(scope)) return <ProjectOverview scope={scope} />;
  if (scope.tenant === 'installation') return <InstallationOverview scope={scope} />;
  return scope.tenant === 'account' ? (
    <AccountOverview scope={scope} />
  ) : (
    <OrganizationOverview scope={scope} />
  );
}
export default Overview;
