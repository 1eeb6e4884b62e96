import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sentEvents } from '../../src/webhooks/event-types/sent-events.ts';
import { schemasOf } from '../../src/kernel/output/json-schema.ts';
import { operations, tagDescriptions } from '../../src/operations.ts';
import { buildOpenapi } from '../../src/openapi/openapi.ts';

/** Types that an independent generator makes from the document, for a program in strict TypeScript. */
const root = join(import.meta.dirname, '../../../..');
const tsc = join(root, 'node_modules', '.bin', 'tsc');
const document = buildOpenapi({
  operations,
  schemas: schemasOf(operations),
  version: '0.0.0',
  tags: tagDescriptions,
  events: sentEvents(),
});

/** What a client relies on; a wrong assertion does not compile. */
const client = `
import type { components, operations, webhooks } from './api.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(): T | undefined => undefined;
type Schemas = components['schemas'];
type Success<O extends keyof operations, S extends keyof operations[O]['responses']> =
  operations[O]['responses'][S] extends { content: { 'application/json': { data: infer D } } } ? D : never;
type Body<O extends keyof operations> =
  operations[O] extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never;

holds<Equal<Success<'createRole', 201>, Schemas['Role']>>();
holds<Equal<Success<'createUser', 201>, Schemas['User']>>();
holds<Equal<Success<'roles', 200>, Schemas['RolePage']>>();
holds<Equal<Success<'login', 200>, Schemas['SignIn']>>();
holds<Equal<Schemas['Scope']['tenant'], 'account' | 'organization' | 'accountProject' | 'organizationProject' | 'projectUser' | 'installation'>>();
holds<Equal<Body<'createOrganization'>['scope']['tenant'], 'account'>>();
holds<Equal<NonNullable<Schemas['Event']['changes']>, { [key: string]: unknown }>>();

export const role: Body<'createRole'> = { scope: { tenant: 'organization', id: 'x' }, name: 'Reader' };
export const created = (body: webhooks['role.created']['post']['requestBody']): Schemas['Role'] =>
  body.content['application/json'].data;
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doorward-types-'));
  const ast = await openapiTypescript(document as unknown as Parameters<typeof openapiTypescript>[0]);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: 'es2022',
    module: 'nodenext',
    types: [],
  };
  await writeFile(join(folder, 'api.d.ts'), astToString(ast));
  await writeFile(join(folder, 'client.ts'), client);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['client.ts', 'api.d.ts'] }),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('openapi-typescript generates types that compile and match the responses', async () => {
  const compiled = await promisify(execFile)(tsc, ['-p', folder]).catch((error: unknown) => error);
  expect((compiled as { stdout: string }).stdout).toBe('');
  expect(compiled).not.toBeInstanceOf(Error);
});
