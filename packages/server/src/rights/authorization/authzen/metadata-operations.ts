import { z } from 'zod';
import { projectIssuer } from '../../../crypto/keys/keyring.ts';
import { fail } from '../../../errors.ts';
import type { Services } from '../../../services.ts';
import { uuid } from '../../../kernel/input/values.ts';
import { query } from '../../../declare.ts';
import { bare } from '../../../kernel/output/reply.ts';

/*
 * Metadata of the policy decision point. As in RFC 8414, `/.well-known/…` is inserted between the host and the path of
 * its URL. The metadata depends only on the URL: nothing is looked up, so it doesn't reveal which projects exist
 * (authzen §1).
 */

const Metadata = z
  .object({
    policy_decision_point: z.url().describe('The address that this is about.'),
    access_evaluation_endpoint: z.url().describe('Where to send one question.'),
    access_evaluations_endpoint: z.url().describe('Where to send several questions.'),
    search_subject_endpoint: z.url().describe('Where to search for subjects.'),
    search_action_endpoint: z.url().describe('Where to search for actions.'),
  })
  .meta({ id: 'AuthzenMetadata', description: 'The endpoints of a policy decision point.' });

const MAX_AGE_SECONDS = 300;

const common = {
  access: 'public',
  only: 'rest',
  bare: true,
  limit: 'network',
  cors: 'any',
  fromMemory: true,
  output: Metadata,
} as const;

function answer(pdp: string) {
  const document: z.output<typeof Metadata> = {
    policy_decision_point: pdp,
    access_evaluation_endpoint: `${pdp}/access/v1/evaluation`,
    access_evaluations_endpoint: `${pdp}/access/v1/evaluations`,
    search_subject_endpoint: `${pdp}/access/v1/search/subject`,
    search_action_endpoint: `${pdp}/access/v1/search/action`,
  };
  return bare(document, { 'cache-control': `public, max-age=${MAX_AGE_SECONDS}`, etag: '' });
}

/** A client compares the returned address with the address that it knows, so ids are returned as they were sent. */
const idOf = (noun: string) =>
  z
    .string()
    .max(2048)
    .meta({ format: 'uuid', description: `Id of the ${noun}.` });

/** @throws NOT_FOUND */
function answerFor(
  { config }: Services,
  kind: 'account' | 'organization',
  ownerId: string,
  projectId: string,
) {
  if (![ownerId, projectId].every((id) => uuid.safeParse(id).success)) throw fail('NOT_FOUND');
  return answer(projectIssuer(config.appUrl, { kind, id: ownerId }, projectId));
}

export const authzenMetadata = query({
  ...common,
  rest: 'GET ~/.well-known/authzen-configuration',
  summary: 'Read the AuthZEN endpoints for keys and app tokens',
  description: 'At these endpoints the token names the scope.',
  input: {},
  run: ({ services }) => answer(services.config.appUrl),
});

export const organizationProjectAuthzenMetadata = query({
  ...common,
  rest: 'GET ~/.well-known/authzen-configuration/org/:organizationId/prj/:projectId',
  summary: "Read the AuthZEN endpoints of an organization's project",
  input: { organizationId: idOf('organization'), projectId: idOf('project') },
  codes: ['NOT_FOUND'],
  run: ({ services, input }) => answerFor(services, 'organization', input.organizationId, input.projectId),
});

export const accountProjectAuthzenMetadata = query({
  ...common,
  rest: 'GET ~/.well-known/authzen-configuration/acc/:accountId/prj/:projectId',
  summary: "Read the AuthZEN endpoints of an account's project",
  input: { accountId: idOf('account'), projectId: idOf('project') },
  codes: ['NOT_FOUND'],
  run: ({ services, input }) => answerFor(services, 'account', input.accountId, input.projectId),
});
