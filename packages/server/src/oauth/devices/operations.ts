import { z } from 'zod';
import { authenticateClient, clientInput, refuseClient } from '../tokens/client.ts';
import { documentAsOauth, errorAsOauth, OauthError } from '../tokens/oauth.ts';
import { beginDevice, DeviceCodes, deviceScopes, storeDevice } from './begin-device.ts';
import { DeviceSignIn, exchangeForSession, prepareDeviceSession } from './exchange-for-session.ts';
import { requestOfDevice } from './enter-code.ts';
import { pageOf } from '../../sign-in/admission/answer-app.ts';
import { organizationParameter } from '../../sign-in/admission/sign-in-organization.ts';
import { beginFlow } from '../../sign-in/flow/flow.ts';
import { newVerifier } from '../../providers/github.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import { mutation } from '../../declare.ts';
import { redirect, type BareReply } from '../../kernel/output/reply.ts';

/**
 * Sign-in on devices without a browser (RFC 8628, openid §10). The device requests codes and shows one; its user enters
 * it in any browser at `/device`, signs in on the pages of a sign-in to an app, and compares the codes shown there. A
 * command line without a browser gets a session of this service in the same way.
 */
export const authorizeProjectDevice = mutation({
  rest: 'POST /auth/project/device',
  whileImpersonating: 'refused',
  summary: 'Begin a sign-in on a device without a browser',
  description:
    'The device authorization endpoint (RFC 8628). The device shows `user_code` and `verification_uri`, and asks for tokens with `device_code` at the token endpoint, every `interval` seconds. A form gets the answer without envelope.',
  access: 'public',
  only: 'rest',
  permissionChange: 'none',
  protocol: 'oauth',
  takesForm: {
    answer: documentAsOauth,
    refusal: errorAsOauth,
    answerSchema: DeviceCodes,
    refusalSchema: OauthError,
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
    return 'claimedApp' in client
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
    if ('claimedApp' in prepared) return refuseClient(ctx, prepared);
    return beginDevice(ctx, prepared.client, prepared.scopes);
  },
});

/** The page shows a fixed text for each of these errors; its URL contains nothing of the code. */
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
    'From the page `/device`. After five wrong codes a browser may enter none until the window of class `auth` ends, by default after 15 minutes; a network may enter none after as many wrong codes as that class allows. Requests without the cookie of the page count as one browser of their network.',
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  permissionChange: 'none',
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
    // Another site must not be able to submit an attacker's code in the user's browser.
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

export const startDeviceSignIn = mutation({
  rest: 'POST /auth/device',
  whileImpersonating: 'refused',
  summary: 'Begin to sign in a command line without a browser',
  description:
    'The command line shows `userCode` and `verificationUri`, and calls `exchangeDeviceCode` every `interval` seconds. Its user enters the code in any browser, signs in, and decides.',
  access: 'public',
  permissionChange: 'none',
  input: {},
  output: z
    .object({
      deviceCode: z.string().describe('For `exchangeDeviceCode`; the command line never shows it.'),
      userCode: z.string().describe('What the command line shows, and the user enters.'),
      verificationUri: z.url().describe('Where the user enters it.'),
      expiresIn: z.int().meta({ description: 'Seconds until both codes end.' }),
      interval: z.int().meta({ description: 'Seconds between two calls of `exchangeDeviceCode`.' }),
    })
    .meta({
      id: 'DeviceSignInCodes',
      description: 'The codes of a command line without a browser, after RFC 8628.',
    }),
  limit: { class: 'auth', key: (_input, { network }) => `startDeviceSignIn ${network}` },
  run: (ctx) => {
    // There is no user yet, and so no audit log that an entry could belong to.
    ctx.unchanged();
    return storeDevice(ctx);
  },
});

export const exchangeDeviceCode = mutation({
  rest: 'POST /auth/device/token',
  whileImpersonating: 'refused',
  summary: 'Exchange the device code of a command line for a session',
  description:
    'To be called until the user has decided. The code gives one session, of kind `cli`; once denied, used or expired it is refused. Sets no cookie.',
  access: 'public',
  permissionChange: 'none',
  input: {
    deviceCode: z
      .string()
      .min(1)
      .max(128)
      .meta({
        description: 'The code from `startDeviceSignIn`.',
        examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
      }),
  },
  output: DeviceSignIn,
  emits: 'session.created',
  codes: ['INVALID_TOKEN'],
  prepare: ({ tx, services, call, input }) => prepareDeviceSession(tx, services, call, input.deviceCode),
  run: (ctx) => exchangeForSession(ctx, ctx.prepared),
});
