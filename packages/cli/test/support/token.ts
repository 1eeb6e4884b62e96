/** A well-formed token that no service accepts. */
export const token = `eyJhbGciOiJSUzI1NiJ9.${Buffer.from('{"sub":"x"}').toString('base64url')}.signature`;
