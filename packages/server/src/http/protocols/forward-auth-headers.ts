/** The headers in which a proxy sends the fields of its question (authorization §10.4). */
export const forwardAuthHeaders = { permission: 'x-doorward-permission', scope: 'x-doorward-scope' } as const;
