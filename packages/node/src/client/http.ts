import type { Client } from 'openapi-fetch';
import type { paths } from './generated/openapi.ts';

/** An openapi-fetch client for requests to any path of the API, with its generated types. */
export type Http = Client<paths>;
