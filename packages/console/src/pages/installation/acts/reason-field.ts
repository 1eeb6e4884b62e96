import type { FormField } from '../../../entities/declarations/form-field.ts';
import type { ActTexts } from './act-texts.ts';

/** Why an operator acts: those whom the act concerns read it. */
export const reasonField = (t: ActTexts): FormField => ({
  kind: 'textarea',
  name: 'reason',
  label: t.reason,
  hint: t.reasonHint,
  isRequired: true,
  check: (value) => {
    const { length } = String(value).trim();
    return length < 10 || length > 500 ? t.reasonLength : null;
  },
  initial: '',
});
