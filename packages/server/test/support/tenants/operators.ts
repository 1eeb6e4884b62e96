import { installationRoleIdOf } from '../../../src/access/installation-roles.ts';
import type { OperatorRules } from '../../../src/access/operators.ts';
import { INSTALLATION_ID } from '../../../src/kernel/scope.ts';
import type { Person, TestClient } from '../app/client.ts';

/** No user is an operator by configuration. */
export const noOperators: OperatorRules = {
  addresses: [],
  allowedCidrs: [],
  requiresSecondFactor: false,
  acceptsFirstUser: true,
};

export const installation = { tenant: 'installation', id: INSTALLATION_ID } as const;

/** The address that tests configure as `OPERATORS`. */
export const operatorAddress = 'operator@example.test';
export const operatorEnvironment = { OPERATORS: operatorAddress };

/** The operator of the configuration. */
export const firstOperator = (app: TestClient): Promise<Person> =>
  app.person({ email: operatorAddress, name: 'Grace' });

/** A new person whom the operator makes Support or Auditor, or operator. */
export async function appoint(
  app: TestClient,
  operator: Person,
  role: 'Installation Operator' | 'Installation Support' | 'Installation Auditor',
): Promise<Person> {
  const person = await app.person();
  const roleId = installationRoleIdOf(role);
  const reason = 'They join the team today';
  await app.must(
    'createOperator',
    { scope: installation, userId: person.userId, roleId, reason },
    { token: operator.token },
  );
  return person;
}
