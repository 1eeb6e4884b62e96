/** What conditions see under `resource`. A real application has a database here. */
export const orders = new Map([
  ['1', { id: '1', region: 'eu', amount: 90 }],
  ['2', { id: '2', region: 'us', amount: 70 }],
]);
