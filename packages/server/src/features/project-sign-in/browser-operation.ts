import { z } from 'zod';

/** What the operations that browsers call in a sign-in to an app have in common. */
export const optionalParameter = (description: string) => z.string().optional().meta({ description });

export const browserOperation = {
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  leavesPermissions: true,
} as const;

/** The answer redirects to the next page or to the app. */
export const redirects = { output: z.null(), status: 303 } as const;
