import type { components } from '@doorward/node/client';
import { useChange, useRead } from '../../../api/use-api.ts';
import { targetOf, type Target } from '../../../entities/declarations/entity.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { serviceUrl } from '../../../session/session.ts';
import { Chips } from '../../../ui/chips.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { Exact, Facts } from '../../../ui/facts.tsx';
import { connectionTexts } from './connection-texts.ts';
import { domainChoices } from './connection-fields.ts';

type Connection = components['schemas']['OrganizationConnection'];

/** Shows the domains of a connection, the callback URL to register at its provider, and a test of the provider. */
export function ConnectionDetails({ connection }: { readonly connection: Connection }) {
  const t = useTexts(connectionTexts);
  return (
    <>
      <Facts
        facts={[
          [t.clientId, <Exact text={connection.clientId} />],
          [t.domains, <Domains ids={connection.domainIds} />],
        ]}
      />
      <section>
        <h3>{t.callback}</h3>
        <p>{t.callbackAbout}</p>
        <p>
          <Exact text={`${serviceUrl}${connection.callbackPath}`} />
        </p>
        {connection.provedAt === null && <p className="hint">{t.notProved}</p>}
      </section>
      <ProviderTest id={connection.id} />
    </>
  );
}

function Domains({ ids }: { readonly ids: readonly string[] }) {
  const scope = useScope();
  const { data = [] } = useRead(['OrganizationDomain', scope, 'of', ids], (api) =>
    domainChoices(api, { ...targetOf(scope), ids }),
  );
  return <Chips texts={data.map(({ name, description }) => `${name} (${description})`)} />;
}

function ProviderTest({ id }: { readonly id: string }) {
  const t = useTexts(connectionTexts);
  const scope = useScope();
  const rights = useRights(scope);
  const test = useChange((api, input: Target & { readonly id: string }) =>
    // The service sends two requests to the provider, and waits up to 8 s for each.
    api.testOrganizationConnection(input, { timeoutMs: 30_000 }),
  );
  if (!rights.can('OrganizationConnection:Test')) return null;
  const { data: answer, error } = test;
  return (
    <section>
      <h3>{t.test}</h3>
      <p>{t.testAbout}</p>
      <p>
        <button
          type="button"
          disabled={test.isPending}
          onClick={() => test.mutate({ ...targetOf(scope), id })}
        >
          {t.test}
        </button>
      </p>
      <div aria-live="polite">
        {answer?.ok && <p className="gain">{t.testPassed}</p>}
        {answer && !answer.ok && (
          <p className="problem">
            {t.testFailed[answer.step]} <bdi>{answer.message}</bdi>
          </p>
        )}
      </div>
      {error && <ErrorBox error={error} />}
    </section>
  );
}
