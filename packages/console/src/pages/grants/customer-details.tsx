import type { components } from '@doorward/node/client';
import { useRead } from '../../api/use-api.ts';
import { targetOf } from '../../entities/declarations/entity.ts';
import { formatNumber } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Chips } from '../../ui/chips.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Time } from '../../ui/times/time.tsx';
import { grantTexts } from './grant-texts.ts';

type Grant = components['schemas']['ProjectGrant'];

const SHOWN = 50;

/** Shows the owner of the project how many keys a customer has, and which users have roles. */
export function CustomerDetails({ grant }: { readonly grant: Grant }) {
  const t = useTexts(grantTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  const isLive = grant.status === 'active' || grant.status === 'suspended';
  const { data } = useRead(
    ['ProjectGrant', scope, grant.id, 'users'],
    (api, signal) => api.projectGrantUsers({ ...targetOf(scope), id: grant.id, limit: SHOWN }, { signal }),
    { isEnabled: isLive && can('User:Query') },
  );
  const names = data?.items.map(({ name }) => name) ?? [];
  const more = (data?.totalCount ?? 0) - names.length;
  return (
    <Facts
      facts={[
        [t.keys, isLive && formatNumber(grant.keyCount)],
        [
          t.usersWithRoles,
          names.length > 0 && <Chips texts={more > 0 ? [...names, `+ ${formatNumber(more)}`] : names} />,
        ],
        [t.expires, grant.status === 'pending' && <Time iso={grant.expiresAt} />],
        [t.ended, grant.revokedAt && <Time iso={grant.revokedAt} />],
        [t.reason, grant.revokedReason && <bdi>{grant.revokedReason}</bdi>],
      ]}
    />
  );
}
