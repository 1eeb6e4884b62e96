import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { JsonObject } from '../../src/kernel/input/values.ts';
import { decisionReasons } from '@doorward/decision/reasons';
import { catalogue, type Code } from '../../src/errors.ts';

/**
 * The schema of the cases in *.yaml. Unknown members are refused, so that a typing error fails instead of passing
 * without a check. Rows are referred to by name; `X of Y` means the row X of the place Y.
 */
const name = z.string().min(1);
const metadata = z.record(z.string(), z.json()) as z.ZodType<JsonObject>;
const condition = z.record(z.string(), z.unknown());
const permissionName = z.string().regex(/^[A-Za-z][A-Za-z0-9-]*:[A-Za-z][A-Za-z0-9-]*$/);

const resource = z.union([
  z.array(name),
  z.strictObject({
    actions: z.array(name),
    /** Disabled after everything that belongs to it was created. */
    inactive: z.literal(true).optional(),
    deleted: z.literal(true).optional(),
  }),
]);

const permission = z.union([
  permissionName,
  z.strictObject({
    on: permissionName,
    when: condition.optional(),
    deleted: z.literal(true).optional(),
  }),
]);

const row = <K extends string>(links: K) =>
  z.union([
    z.array(name),
    z.strictObject({
      [links]: z.array(name),
      metadata: metadata.optional(),
      deleted: z.literal(true).optional(),
    } as Record<K, z.ZodArray<typeof name>> & {
      metadata: z.ZodOptional<typeof metadata>;
      deleted: z.ZodOptional<z.ZodLiteral<true>>;
    }),
  ]);

const left = z.literal(true).optional();
const member = z.union([name, z.strictObject({ role: name, metadata: metadata.optional(), left })]);
const user = z.union([
  z.array(name),
  z.strictObject({ roles: z.array(name), metadata: metadata.optional(), left }),
]);
const key = z.union([
  z.strictObject({ role: name, by: name.optional() }),
  z.strictObject({ user: name, by: name.optional() }),
]);

const place = z.strictObject({
  /** Absent for an organization; a project belongs to an organization or to `the account`. */
  projectOf: name.optional(),
  /** Of an organization, if not the founder of the world. */
  founder: name.optional(),
  resources: z.record(name, resource).optional(),
  permissions: z.record(name, permission).optional(),
  groups: z.record(name, row('permissions')).optional(),
  roles: z.record(name, row('groups')).optional(),
  members: z.record(name, member).optional(),
  users: z.record(name, user).optional(),
  keys: z.record(name, key).optional(),
});

const world = z.strictObject({
  /** Owner of `the account`, and of every place without a founder. */
  founder: name,
  disabled: z.array(name).optional(),
  places: z.record(name, place),
});

/** The subject: a person with a session, or a key with its token. */
const subject = { who: name.optional(), key: name.optional() };
const oneSubject = (of: { who?: string | undefined; key?: string | undefined }): boolean =>
  (of.who === undefined) !== (of.key === undefined);

const question = z
  .strictObject({
    case: name,
    ...subject,
    /** Another person asks the question about `who`. */
    caller: name.optional(),
    /**
     * A place, `P in a project` for the scope of one person in it, `a project under X` for a wrong owner, or nowhere.
     */
    where: name,
    asks: z.string().regex(/^[^:]+:[^:]+$/),
    /** Attributes of the resource in question. */
    resource: z.record(z.string(), z.unknown()).nullable().optional(),
    authorized: z.boolean(),
    reason: z.enum(decisionReasons),
    /** Name of the permission that decided. */
    permission: name.optional(),
  })
  .refine(oneSubject, 'needs who or key')
  .refine(
    ({ authorized, reason }) => authorized === reason.startsWith('ALLOWED'),
    'authorized does not fit the reason',
  );

const acts = z.strictObject({
  createRole: z.strictObject({ groups: z.array(name) }),
  changeRole: z.strictObject({ role: name, groups: z.array(name).optional(), name: name.optional() }),
  deleteRole: z.strictObject({ role: name }),
  createGroup: z.strictObject({ permissions: z.array(name) }),
  changeGroup: z.strictObject({
    group: name,
    permissions: z.array(name).optional(),
    name: name.optional(),
  }),
  deleteGroup: z.strictObject({ group: name }),
  createPermission: z.strictObject({ on: permissionName, when: condition.optional() }),
  changePermission: z.strictObject({
    permission: name,
    when: condition.nullable().optional(),
    name: name.optional(),
  }),
  deletePermission: z.strictObject({ permission: name }),
  createResource: z.strictObject({ slug: name, actions: z.array(name) }),
  switchResource: z.strictObject({ resource: name, active: z.boolean() }),
  deleteResource: z.strictObject({ resource: name }),
  createKey: z.strictObject({ role: name.optional() }),
  createKeyFor: z.strictObject({ user: name }),
  inviteMember: z.strictObject({ role: name }),
  changeMember: z.strictObject({ member: name, role: name }),
  removeMember: z.strictObject({ member: name }),
  addUser: z.strictObject({ user: name.optional(), roles: z.array(name) }),
  changeUser: z.strictObject({ user: name, roles: z.array(name) }),
  removeUser: z.strictObject({ user: name }),
});

const codes = Object.keys(catalogue) as [Code, ...Code[]];

const attempt = z
  .strictObject({
    case: name,
    ...subject,
    where: name,
    tries: acts.partial().refine((what) => Object.keys(what).length === 1, 'needs exactly one act'),
    result: z.enum(['allowed', ...codes]),
    /** Of a PRIVILEGE_ESCALATION: the permissions that the caller lacks. */
    missing: z.array(permissionName).optional(),
    /** Of a FORBIDDEN from the guard of the operation. */
    reason: z.enum(decisionReasons).optional(),
    /** Why the pure core cannot know this result; such a case runs over the transports only. */
    outsidePureCore: name.optional(),
  })
  .refine(oneSubject, 'needs who or key')
  .refine(
    ({ result, missing }) => (result === 'PRIVILEGE_ESCALATION') === (missing !== undefined),
    'missing belongs to PRIVILEGE_ESCALATION',
  )
  .refine(
    ({ reason, result }) => reason === undefined || result === 'FORBIDDEN',
    'reason belongs to FORBIDDEN',
  )
  .refine(
    ({ result, reason, outsidePureCore }) =>
      ['allowed', 'PRIVILEGE_ESCALATION'].includes(result) ||
      (result === 'FORBIDDEN' && reason !== undefined) ||
      outsidePureCore !== undefined,
    'the pure core does not know this code: say why in outsidePureCore',
  );

const caseFile = z.strictObject({
  title: name,
  world,
  decisions: z.array(question).optional(),
  escalations: z.array(attempt).optional(),
});

export type World = z.output<typeof world>;
export type Place = z.output<typeof place>;
export type Question = z.output<typeof question>;
export type Attempt = z.output<typeof attempt>;
/** The acts that a case may try, by name. */
export type Acts = z.output<typeof acts>;
export type CaseFile = z.output<typeof caseFile> & { readonly file: string };

/** Every YAML file of the golden cases, sorted by name. @throws when one has an unknown member */
export function caseFiles(): CaseFile[] {
  const folder = join(import.meta.dirname, '../../../decision/golden');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => ({ ...readCaseFile(readFileSync(join(folder, file), 'utf8'), file), file }));
}

/** @throws Error that names the file and each faulty location */
export function readCaseFile(text: string, file: string): z.output<typeof caseFile> {
  const read = caseFile.safeParse(parse(text));
  if (!read.success) throw new Error(`${file}: ${z.prettifyError(read.error)}`);
  return read.data;
}
