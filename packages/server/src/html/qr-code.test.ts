import { expect, test } from 'vitest';
import { qrPath } from './qr-code.ts';

test('a code has four light modules around it, and the largest one holds 2,331 bytes', () => {
  // Version 1 has 21 modules. The first dark one is the corner of a finder pattern.
  const code = qrPath('doorward');
  expect(code?.size).toBe(21 + 8);
  expect(code?.path).toMatch(/^M4 4h1v1h-1z/);
  expect(qrPath('a'.repeat(2331))?.size).toBe(177 + 8);
  expect(qrPath('a'.repeat(2332))).toBeNull();
  expect(qrPath('ä'.repeat(1166))).toBeNull();
  expect(qrPath('\ud800')?.size).toBe(29);
});
