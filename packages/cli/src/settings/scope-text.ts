import type { Scope } from '@doorward/node';
import { suggestion } from '../nearest.ts';
import { usageFault } from '../fault.ts';

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const single = new RegExp(`^${uuid}$`, 'i');
const pair = new RegExp(`^${uuid}:${uuid}$`, 'i');
const forms: Readonly<Record<Scope['tenant'], RegExp>> = {
  account: single,
  organization: single,
  accountProject: pair,
  organizationProject: pair,
  projectUser: pair,
  installation: single,
};
const tenants = Object.keys(forms) as Scope['tenant'][];

export const isId = (text: string): boolean => single.test(text);

/** Parses `<tenant>:<id>`. @param source the flag or variable that contains the text, for error messages */
export function parseScope(source: string, text: string): Scope {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const id = colon < 0 ? '' : text.slice(colon + 1);
  const tenant = tenants.find((tenant) => tenant.toLowerCase() === name.toLowerCase());
  if (!tenant) throw usageFault(`${source} names no tenant that there is.`, suggestion(name, tenants));
  if (!forms[tenant].test(id))
    throw usageFault(
      `${source} has no id of this tenant.`,
      forms[tenant] === pair
        ? `${tenant}:<id of the owner>:<id of the project>`
        : `${tenant}:<id>; slugs are for --org and --project`,
    );
  return { tenant, id: id.toLowerCase() };
}

export const scopeText = ({ tenant, id }: Scope): string => `${tenant}:${id}`;
