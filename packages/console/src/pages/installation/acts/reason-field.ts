import type { FormField } from '../../../entities/declarations/form-field.ts';
import type { ActTexts } from './act-texts.ts';

/** A field for the reason of an operator's action. The people whom it concerns can read the reason. */
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
