import { text } from '../../kernel/input/values.ts';

/** Settings that all operations of the installation share. */
export const installation = { tenants: ['installation'], whileImpersonating: 'refused' } as const;

/** Why an operator acts. The reason is in two audit logs, and in the notice to the people concerned. */
export const reason = text(10, 500).meta({
  description: 'Why, in 10 to 500 characters. It is audited, and those whom the act concerns read it.',
  examples: ['Ticket 4711: the customer lost their phone'],
});
