import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { callOrThrow, signUp, type SignedUp } from '../../../../scripts/service.ts';
import { startTwoServices, type TwoServices } from '../support/app/two-services.ts';

/** A process that receives no changes reads the database for every answer about a snapshot (packages §8.1). */
describe.runIf(inject('postgresUrl'))('a silent change channel', () => {
  let services: TwoServices;
  let owner: SignedUp;
  let scope: { tenant: string; id: string };

  beforeAll(async () => {
    services = await startTwoServices(inject('postgresUrl'));
    owner = await signUp(services.here);
    const project = await callOrThrow<{ scope: typeof scope }>(`${services.here.base}/api/projects`, {
      token: owner.token,
      body: { scope: { tenant: 'organization', id: owner.organizationId }, name: 'P' },
    });
    ({ scope } = project);
  }, 180_000);
  afterAll(() => services.stop());

  interface Claims {
    readonly version: string;
    readonly to: string;
    readonly full: boolean;
    readonly put: { readonly users?: readonly { readonly id: string }[] };
  }

  async function read(path: string, query: Record<string, string> = {}): Promise<Claims> {
    const parameters = new URLSearchParams({ tenant: scope.tenant, scopeId: scope.id, ...query });
    const response = await fetch(
      `${services.there.base}/api/policy-snapshot${path}?${parameters.toString()}`,
      { headers: { authorization: `Bearer ${owner.token}` } },
    );
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()) as Claims;
  }

  const newUser = async (): Promise<string> => {
    const body = { scope, name: 'U', roleIds: [roleIdOf('Project Viewer')] };
    return (await callOrThrow(`${services.here.base}/api/users`, { token: owner.token, body })).id;
  };

  it('hides no change from polls, and from none that waits', async () => {
    let { version } = await read('');
    for (const state of ['silent', 'healed']) {
      if (state === 'silent') services.link.silence();
      else services.link.heal();
      const first = await newUser();
      const changed = await read('/changes', { since: version, timeoutSeconds: '0' });
      expect(
        changed.put.users?.map(({ id }) => id),
        state,
      ).toEqual([first]);
      const waiting = read('/changes', { since: changed.to, timeoutSeconds: '30' });
      await read('/changes', { since: changed.to, timeoutSeconds: '0' });
      const second = await newUser();
      const begin = performance.now();
      const later = await waiting;
      expect(
        later.put.users?.map(({ id }) => id),
        state,
      ).toEqual([second]);
      expect(performance.now() - begin, state).toBeLessThan(10_000);
      version = later.to;
    }
  });
});
