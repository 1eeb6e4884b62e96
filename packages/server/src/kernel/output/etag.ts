/** Whether `If-None-Match` contains this ETag (RFC 9110 §13.1.2, weak comparison). */
export function namesEtag(ifNoneMatch: string | null, etag: string): boolean {
  const etags = (ifNoneMatch ?? '').split(',').map((item) => item.trim().replace(/^W\//, ''));
  return etags.includes(etag) || etags.includes('*');
}
