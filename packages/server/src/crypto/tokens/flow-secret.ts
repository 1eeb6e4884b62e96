import { randomBytes } from 'node:crypto';

/*
 * The secret by which a browser owns a sign-in flow, and the tokens of its pages. A browser may have several flows, so
 * both begin with the same eight characters, which identify the flow and aren't secret. So forms, the state of a
 * provider and mailed links identify the cookie of their own flow.
 */

const ID_LENGTH = 8;

/** Returns 32 characters: the flow id, and 144 random bits. */
export const newFlowSecret = (): string => randomBytes(24).toString('base64url');

/** Returns 43 characters: the flow id, and 208 random bits. `of`: the secret of the flow, or another of its tokens. */
export const newFlowToken = (of: string): string => flowIdOf(of) + randomBytes(26).toString('base64url');

/** The flow id in a secret or token. */
export const flowIdOf = (text: string): string => text.slice(0, ID_LENGTH);
