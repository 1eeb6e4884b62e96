import type { Client } from 'openapi-fetch';
import type { paths } from './generated/openapi.ts';

/** The client for requests of one's own: its addresses and bodies are those of the API. */
export type Http = Client<paths>;
