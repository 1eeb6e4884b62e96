import { v5 } from 'uuid';

/** The id of something built-in, which is the same in every installation. */
export const builtInId = (kind: string, name: string): string => v5(`doorward:${kind}:${name}`, v5.URL);
