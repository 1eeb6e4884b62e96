import { z } from 'zod';
import { authenticateClient, clientInput, refuseClient } from '../../domain/app-tokens/client.ts';
import { documentAsOauth, errorAsOauth, OauthError } from '../../domain/app-tokens/oauth.ts';
import { beginDevice, DeviceCodes, deviceScopes } from '../../domain/device-sign-in/begin-device.ts';
import { requestOfDevice } from '../../domain/device-sign-in/enter-code.ts';
import { pageOf } from '../../domain/federation/answer-app.ts';
import { organizationParameter } from '../../domain/federation/sign-in-organization.ts';
import { beginFlow } from '../../domain/sign-in-flow/flow.ts';
import { newVerifier } from '../../domain/federation/providers/github.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import { mutation } from '../../kernel/operation.ts';
import { redirect, type BareReply } from '../../kernel/output/reply.ts';

/**
 * Sign-in of devices without a browser (RFC 8628, openid §10). The device asks for codes and shows one; its user enters it
 * in any browser at `/device`, signs in on the pages of a sign-in to an app, and compares what they show.
 */
export const authorizeProjectDevice = mutation({
  rest: 'POST /auth/project/device',
  whileImpersonating: 'refused',
  summary: 'Begin a sign-in on a device without a browser',
  description:
    'The device authorization endpoint (RFC 8628). The device shows `user_code` and `verification_uri`, and asks for tokens with `device_code` at the token endpoint, every `interval` seconds. A form gets the answer without envelope.',
  access: 'public',
  only: 'rest',
  leavesPermissions: true,
  oauth: 'endpoint',
  takesForm: {
    answer: documentAsOauth,
    refusal: errorAsOauth,
    success: DeviceCodes,
    failure: OauthError,
  },
  input: {
    scope: z.string().max(8192).optional().meta({
      description: 'Separated by spaces; absent: all of the app. As at the authorization endpoint.',
    }),
    organization: organizationParameter,
    ...clientInput,
  },
  output: DeviceCodes,
  codes: ['UNAUTHENTICATED'],
  limit: { class: 'auth', key: ({ client_id }, { network }) => `device ${client_id} ${network}` },
  prepare: async ({ tx, services, call, input }) => {
    const client = await authenticateClient(tx, services, call.network, input);
    return 'impersonated' in client
      ? client
      : {
          client,
          scopes: {
            ...deviceScopes(client.app, input.scope),
            organization: input.organization?.toLowerCase() || null,
          },
        };
  },
  run: (ctx) => {
    const { prepared } = ctx;
    if ('impersonated' in prepared) return refuseClient(ctx, prepared);
    return beginDevice(ctx, prepared.client, prepared.scopes);
  },
});

/** The page shows a fixed text for each of these; nothing of the code is in its address. */
const backToPage = (error: DoorwardError): BareReply | undefined => {
  const result = { INVALID_TOKEN: 'wrong', VALIDATION_ERROR: 'wrong', RATE_LIMITED: 'closed' }[
    error.code as string
  ];
  return result === undefined ? undefined : redirect(`/device?result=${result}`);
};

export const enterProjectDeviceCode = mutation({
  rest: 'POST /auth/project/device/enter',
  whileImpersonating: 'refused',
  summary: 'Enter the code that a device shows, and begin to sign in',
  description:
    'From the page `/device`. After five wrong codes a network may enter none until the window of class `auth` ends, by default after 15 minutes.',
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  leavesPermissions: true,
  takesForm: { answer: () => redirect('/device'), refusal: backToPage },
  input: {
    user_code: z
      .string()
      .min(1)
      .max(64)
      .meta({ description: 'In any case, with or without separators.', examples: ['BCDF-GHJK'] }),
  },
  output: z.null(),
  status: 303,
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  prepare: ({ tx, services, call, input }) => {
    // Another site must not submit the code of an attacker in the user's browser.
    if (!call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
    return requestOfDevice(tx, services, call, input.user_code);
  },
  run: async (ctx) => {
    ctx.unchanged();
    const step = { name: 'signIn' } as const;
    await beginFlow(ctx, 'project', { asked: ctx.prepared, verifier: newVerifier(), step });
    return redirect(pageOf(ctx.services.config, 'signIn'));
  },
});
