import { randomBytes } from 'node:crypto';

/*
 * The secret by which a browser owns a sign-in flow, and the tokens of its pages. A browser may have several flows, so
 * both begin with the same eight characters, which name the flow and aren't secret. A form, a provider's state and a
 * mailed link each lead to the cookie of their own flow.
 */

const ID_LENGTH = 8;

/** 32 characters: the id, and 144 random bits. */
export const newFlowSecret = (): string => randomBytes(24).toString('base64url');

/** 43 characters: the id of the flow, and 208 random bits. `of`: its secret, or another token of it. */
export const newFlowToken = (of: string): string => flowIdOf(of) + randomBytes(26).toString('base64url');

/** The id of the flow of a secret or a token. */
export const flowIdOf = (text: string): string => text.slice(0, ID_LENGTH);
