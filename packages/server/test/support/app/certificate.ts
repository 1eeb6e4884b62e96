import { generateKeyPairSync, sign } from 'node:crypto';

/** A self-signed certificate for a name, so that a test can use TLS without a file that expires. */
interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const der = (tag: number, ...content: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...content: readonly Buffer[]) => der(0x30, ...content);
const hex = (text: string) => Buffer.from(text, 'hex');
const time = (date: Date) =>
  der(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`));

const ecdsaWithSha256 = sequence(der(0x06, hex('2a8648ce3d040302')));
const commonName = der(0x06, hex('550403'));
const subjectAltName = der(0x06, hex('551d11'));
const DAY_MS = 86_400_000;

/** Valid now (X.509 v3, RFC 5280), or expired long ago. */
export function certificateFor(host: string, validity: 'now' | 'past' = 'now'): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(host)))));
  const now = Date.now() - (validity === 'past' ? 10 * DAY_MS : 0);
  const names = sequence(der(0x82, Buffer.from(host)));
  const body = sequence(
    der(0xa0, der(0x02, hex('02'))),
    der(0x02, hex('01')),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(now - DAY_MS)), time(new Date(now + DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(subjectAltName, der(0x04, names)))),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = sequence(body, ecdsaWithSha256, der(0x03, hex('00'), signature));
  // An empty line, as behind a last full one, is an error to OpenSSL.
  const lines = (whole.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
