import { describe, expect, it } from 'vitest';
import { isRedirectUri, matchesRedirect } from './redirect-uri.ts';

describe('a redirect URI', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example',
    'https://app.example:8443/callback?tenant=1&x=%2F',
    'https://APP.example/CallBack',
    'https://[2001:db8::1]/callback',
    'https://app.example/a@b',
    'https://app.example/?mail=a@b.example',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:3000',
    'http://[::1]:3000/callback',
    'http://localhost:3000/callback',
    'http://localhost?x=1',
    'com.example.app:/callback',
    'com.example:/',
    'com.example.app://callback/path',
    `https://app.example/${'x'.repeat(2028)}`,
  ])('may be %s', (uri) => {
    expect(isRedirectUri(uri)).toBe(true);
  });

  it.each([
    ['no address', ''],
    ['no scheme', 'app.example/callback'],
    ['no scheme of its own', '//app.example/callback'],
    ['a path', '/callback'],
    ['http elsewhere', 'http://app.example/callback'],
    ['http on a near miss of loopback', 'http://127.0.0.2/callback'],
    ['loopback in short', 'http://127.1/callback'],
    ['loopback in octal', 'http://0177.0.0.1/callback'],
    ['loopback as a number', 'http://2130706433/callback'],
    ['loopback in long', 'http://[0:0:0:0:0:0:0:1]/callback'],
    ['loopback as the front of a name', 'http://127.0.0.1.evil.example/callback'],
    ['localhost as the front of a name', 'http://localhost.evil.example/callback'],
    ['localhost as the end of a name', 'http://evil-localhost/callback'],
    ['loopback before an @', 'http://127.0.0.1@evil.example/callback'],
    ['loopback and a port before an @', 'http://127.0.0.1:80@evil.example/callback'],
    ['every address of the machine', 'http://0.0.0.0/callback'],
    ['a port that is none', 'http://127.0.0.1:65536/callback'],
    ['a port with zeros', 'http://127.0.0.1:080/callback'],
    ['no port after the colon', 'http://127.0.0.1:/callback'],
    ['a fragment', 'https://app.example/callback#here'],
    ['an empty fragment', 'https://app.example/callback#'],
    ['any host', 'https://*.app.example/callback'],
    ['any path', 'https://app.example/*'],
    ['any port', 'https://app.example:*/callback'],
    ['a user', 'https://user@app.example/callback'],
    ['a user with a password', 'https://user:secret@app.example/callback'],
    ['an empty user', 'https://@app.example/callback'],
    ['a user of a scheme of its own', 'com.example.app://user@callback'],
    ['no host', 'https:///callback'],
    ['one slash', 'https:/app.example/callback'],
    ['no slash', 'https:app.example/callback'],
    ['backslashes', 'https:\\\\app.example\\callback'],
    ['a backslash', 'https://app.example\\@evil.example'],
    ['a space', 'https://app.example/call back'],
    ['a space before', ' https://app.example/callback'],
    ['a line end', 'https://app.example/callback\r\nset-cookie: a=b'],
    ['a tab in its scheme', 'java\tscript:alert(1)'],
    ['NUL', 'https://app.example/\0'],
    ['letters of other scripts', 'https://bücher.example/callback'],
    ['a letter that looks like another', 'https://аpp.example/callback'],
    ['quotes', 'https://app.example/"onclick="'],
    ['angle brackets', 'https://app.example/<script>'],
    ['half a percent sign', 'https://app.example/%2'],
    ['a scheme in capitals', 'HTTPS://app.example/callback'],
    ['javascript', 'javascript:alert(1)'],
    ['javascript with slashes', 'javascript://app.example/%0Aalert(1)'],
    ['data', 'data:text/html,hello'],
    ['a file', 'file:///etc/passwd'],
    ['a view of source', 'view-source:https://app.example/'],
    ['a blob', 'blob:https://app.example/id'],
    ['FTP', 'ftp://app.example/callback'],
    ['a scheme without a dot', 'myapp:/callback'],
    ['a scheme that ends in a dot', 'com.:/callback'],
    ['a scheme that begins with a dot', '.com.example:/callback'],
    ['a scheme of its own without a slash', 'com.example.app:callback'],
    ['a scheme of its own in capitals', 'com.Example:/callback'],
    ['too much', `https://app.example/${'x'.repeat(2029)}`],
  ])('is not %s', (_, uri) => {
    expect(isRedirectUri(uri)).toBe(false);
  });
});

describe('a requested redirect URI', () => {
  const matches = (registered: string, requested: string) =>
    matchesRedirect({ redirectUris: [registered] }, requested);

  it('equals one that the app has registered, character by character', () => {
    const redirectUris = ['https://app.example/callback', 'com.example.app:/callback'];
    for (const uri of redirectUris) expect(matchesRedirect({ redirectUris }, uri), uri).toBe(true);
    expect(matchesRedirect({ redirectUris: [] }, 'https://app.example/callback')).toBe(false);
  });

  it.each([
    'https://app.example/callback/',
    'https://app.example/callbac',
    'https://app.example/callback2',
    'https://app.example/callback?',
    'https://app.example/callback?x=1',
    'https://app.example/callback#',
    'https://app.example/Callback',
    'https://app.example/%63allback',
    'https://app.example/./callback',
    'https://app.example/x/../callback',
    'https://app.example//callback',
    'https://app.example:443/callback',
    'https://app.example:8443/callback',
    'https://app.example./callback',
    'https://APP.example/callback',
    'https://www.app.example/callback',
    'https://app.example.evil.example/callback',
    'https://evil.example/?https://app.example/callback',
    'https://app.example@evil.example/callback',
    'https://user@app.example/callback',
    'https://app.example\\@evil.example/callback',
    'https://app.example/callback\n',
    ' https://app.example/callback',
    'http://app.example/callback',
    'HTTPS://app.example/callback',
    '//app.example/callback',
    '/callback',
    '',
  ])('is not a near miss: %j', (uri) => {
    expect(matches('https://app.example/callback', uri)).toBe(false);
  });

  it('may have any port on a loopback IP, as may the registered one', () => {
    expect(matches('http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback')).toBe(true);
    expect(matches('http://127.0.0.1:3000/callback', 'http://127.0.0.1:49152/callback')).toBe(true);
    expect(matches('http://127.0.0.1:3000/callback', 'http://127.0.0.1/callback')).toBe(true);
    expect(matches('http://[::1]/callback?a=b', 'http://[::1]:1/callback?a=b')).toBe(true);
    expect(matches('http://127.0.0.1', 'http://127.0.0.1:65535')).toBe(true);
  });

  it.each([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:3000/other'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:3000/callback/'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:3000/callback?a=b'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:3000'],
    ['http://127.0.0.1/callback', 'http://[::1]:3000/callback'],
    ['http://127.0.0.1/callback', 'http://localhost:3000/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:65536/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:0/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:3000@evil.example/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:3000.evil.example/callback'],
    ['http://127.0.0.1/callback', 'https://127.0.0.1:3000/callback'],
    ['https://127.0.0.1/callback', 'https://127.0.0.1:3000/callback'],
    ['http://localhost/callback', 'http://localhost:3000/callback'],
    ['http://localhost:3000/callback', 'http://localhost:3001/callback'],
  ])('of %s is not %s', (registered, requested) => {
    expect(matches(registered, requested)).toBe(false);
  });
});
