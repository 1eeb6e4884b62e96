import { z } from 'zod';
import { mutation } from '../../declare.ts';
import { redirect } from '../../kernel/output/reply.ts';
import { browserOperation, redirects } from '../steps/browser-operation.ts';
import { chooseOrganization } from './choose.ts';

/** Chooses an organization in a sign-in to an app (openid §12). The page is in `src/pages/sign-in`. */
export const chooseProjectOrganization = mutation({
  ...browserOperation,
  ...redirects,
  rest: 'POST /auth/project/organization',
  whileImpersonating: 'refused',
  summary: 'Choose the organization for which to sign in to a project app',
  description: 'Needs the flow cookie. An organization that the page does not offer ends in `access_denied`.',
  takesForm: true,
  input: {
    organization: z
      .string()
      .max(255)
      .optional()
      .meta({ description: 'Its id; absent or empty: by yourself, for none.' }),
    form_token: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .meta({
        description: 'The token of the page.',
        examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
      }),
  },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  run: async (ctx) => redirect(await chooseOrganization(ctx, ctx.input)),
});
