import { eq } from 'drizzle-orm';
import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { events } from '../../schema/events/event.ts';
import { users } from '../../schema/people/user.ts';
import { detectImage } from '../../images/image.ts';
import { pictures } from '../../schema/people/picture.ts';

type Bytes = Buffer<ArrayBuffer>;
const hex = (text: string): Bytes => Buffer.from(text.replaceAll(' ', ''), 'hex');
const join = (...parts: readonly Buffer[]): Bytes => Buffer.concat(parts);

function chunk(type: string, data: Buffer): Bytes {
  const body = join(Buffer.from(type, 'latin1'), data);
  const numbers = Buffer.alloc(8);
  numbers.writeUInt32BE(data.length);
  numbers.writeUInt32BE(crc32(body), 4);
  return join(numbers.subarray(0, 4), body, numbers.subarray(4));
}

function png({ width = 1, height = 1, extra = [] as readonly Buffer[] } = {}): Bytes {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.writeUInt8(8, 8);
  const pixels = chunk('IDAT', deflateSync(Buffer.from([0, 0x80])));
  const end = chunk('IEND', Buffer.alloc(0));
  return join(hex('89504e470d0a1a0a'), chunk('IHDR', head), ...extra, pixels, end);
}

/** One grey block: quantization of ones, two Huffman tables of one code each. */
function jpeg(extra: readonly Buffer[] = [], sides = '0001 0001'): Bytes {
  return join(
    hex('ffd8'),
    ...extra,
    hex(`ffdb 0043 00 ${'01'.repeat(64)}`),
    hex(`ffc0 000b 08 ${sides} 01 01 11 00`),
    hex(`ffc4 0014 00 01 ${'00'.repeat(15)} 00`),
    hex(`ffc4 0014 10 01 ${'00'.repeat(15)} 00`),
    hex('ffda 0008 01 01 00 00 3f 00 3f'),
    hex('ffd9'),
  );
}
function segment(marker: string, data: string): Bytes {
  const body = Buffer.from(data, 'latin1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length + 2);
  return join(hex(`ff${marker}`), length, body);
}
const jfif = segment('e0', 'JFIF\0\x01\x01\0\0\x01\0\x01\0\0');

const gif = (extra: readonly Buffer[] = []): Bytes =>
  join(
    hex('474946383961 0100 0100 80 00 00 000000 ffffff'),
    ...extra,
    hex('2c 0000 0000 0100 0100 00 02 02 4401 00 3b'),
  );

const lossless = hex('5650384c 0d000000 2f 00000010 07 1011 1188 88fe 0700');
function webp(chunks: readonly Buffer[] = [lossless]): Bytes {
  const body = join(Buffer.from('WEBP'), ...chunks);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return join(Buffer.from('RIFF'), length, body);
}

const images = [
  ['image/jpeg', 'jpg', jpeg([jfif])],
  ['image/png', 'png', png()],
  ['image/webp', 'webp', webp()],
  ['image/gif', 'gif', gif()],
] as const;

describe('a picture', () => {
  it.each(images)(
    'of type %s is detected from its bytes, and refused if truncated',
    (mediaType, extension, bytes) => {
      expect(detectImage(bytes)).toEqual({ mediaType, extension, width: 1, height: 1, bytes });
      for (let length = 0; length < bytes.length; length++) {
        expect(detectImage(bytes.subarray(0, length)), `the first ${length}`).toBeNull();
      }
      // No flipped bit makes the parser throw.
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const turned = Buffer.from(bytes);
        turned.writeUInt8(turned.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(detectImage(turned)?.mediaType ?? mediaType).toBe(mediaType);
      }
    },
  );

  it('loses its metadata', () => {
    const text = chunk('tEXt', Buffer.from('Comment\0SECRET'));
    const exif = chunk('eXIf', Buffer.from('SECRET'));
    const rgb = chunk('sRGB', Buffer.from([0]));
    expect(detectImage(png({ extra: [rgb, text, exif] }))?.bytes).toEqual(png({ extra: [rgb] }));

    const camera = segment('e1', 'Exif\0\0II*\0\x08\0\0\0\0\0SECRET 52.5 N');
    const comment = segment('fe', '<script>SECRET</script>');
    const preview = segment('e2', 'MPF\0SECRET');
    const colors = segment('e2', 'ICC_PROFILE\0\x01\x01colours');
    const photo = join(jpeg([jfif, camera, comment, preview, colors]), Buffer.from('SECRET behind'));
    expect(detectImage(photo)?.bytes).toEqual(jpeg([jfif, colors]));

    const remark = join(hex('21 fe 06'), Buffer.from('SECRET'), hex('00'));
    const place = join(
      hex('21 ff 0b'),
      Buffer.from('XMP DataXMP'),
      hex('06'),
      Buffer.from('SECRET'),
      hex('00'),
    );
    const again = join(hex('21 ff 0b'), Buffer.from('NETSCAPE2.0'), hex('03 01 0000 00'));
    expect(detectImage(gif([again, remark, place]))?.bytes).toEqual(gif([again]));

    const head = (flags: string) => hex(`56503858 0a000000 ${flags} 000000 000000 000000`);
    const about = hex(`45584946 06000000 ${Buffer.from('SECRET').toString('hex')}`);
    const packet = hex(`584d5020 05000000 ${Buffer.from('SECRE').toString('hex')} 00`);
    const cleaned = detectImage(webp([head('1c'), lossless, about, packet]))?.bytes;
    expect(cleaned).toEqual(webp([head('10'), lossless]));
  });

  it.each([
    ['II', '2a00 08000000 0200 0f01 0200 01000000 41000000 1201 0300 01000000 06000000 00000000'],
    ['MM', '002a 00000008 0002 010f 0002 00000001 41000000 0112 0003 00000001 00060000 00000000'],
  ])('keeps the EXIF orientation (%s)', (order, tiff) => {
    const exif = segment('e1', `Exif\0\0${order}${hex(tiff).toString('latin1')}SECRET`);
    const cleaned = detectImage(jpeg([exif]))?.bytes;
    expect(cleaned?.includes('SECRET')).toBe(false);
    const kept = segment('e1', `Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0`);
    expect(cleaned).toEqual(jpeg([kept]));
    // Cleaning is idempotent.
    expect(detectImage(cleaned as Bytes)?.bytes).toEqual(cleaned);
  });

  it('is refused if it is also another format, or too large', () => {
    const zip = Buffer.from('PK\x03\x04 and a script');
    const badSum = Buffer.from(png());
    badSum.writeUInt8(1, 20);
    const notPictures = {
      svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      html: Buffer.from('<!doctype html><script>alert(1)</script>'),
      'svg after a byte-order mark': join(hex('efbbbf'), Buffer.from('<?xml version="1.0"?><svg/>')),
      'png with a zip behind it': join(png(), zip),
      'gif with a script behind it': join(gif(), zip),
      'webp with a zip behind it': join(webp(), zip),
      'png with a wrong sum': badSum,
      'png without pixels': join(png().subarray(0, 33), chunk('IEND', Buffer.alloc(0))),
      'png of an unknown critical chunk': png({ extra: [chunk('EVIL', Buffer.alloc(0))] }),
      'png of a mile': png({ width: 100_000 }),
      'png of nothing': png({ height: 0 }),
      'jpeg of a mile': jpeg([], 'ffff 0001'),
      'gif that is a script': Buffer.from('GIF89a/*......*/=alert(1)//;'),
      'only the beginning of a jpeg': hex('ffd8ff'),
      'jpeg without pixels': hex('ffd8 ffe0 0004 0000 ffd9'),
      sound: join(Buffer.from('RIFF'), hex('04000000'), Buffer.from('WAVE')),
      bmp: join(Buffer.from('BM'), Buffer.alloc(60)),
      pdf: Buffer.from('%PDF-1.7'),
      nothing: Buffer.alloc(0),
    };
    for (const [what, bytes] of Object.entries(notPictures)) expect(detectImage(bytes), what).toBeNull();
  });
});

describe('the picture of a user', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startOwnApp({ SECURITY_RATE_LIMIT_AUTH_MAX: '20' });
  });
  afterAll(() => app.close());

  const base64 = (bytes: Buffer) => bytes.toString('base64');
  const get = (pictureUrl: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.server.inject({ method, url: new URL(pictureUrl).pathname, headers });

  describe.each(storyTransports(import.meta))('over %s', (via) => {
    it('is stored, served and replaced', async () => {
      const person = await app.person();
      const as = { via, token: person.token };
      const addresses: string[] = [];
      for (const [mediaType, extension, bytes] of images) {
        // The media type that the sender declares is ignored.
        const file = extension === 'png' ? `data:text/html;base64,${base64(bytes)}` : base64(bytes);
        const { pictureUrl } = await app.must('uploadMyPicture', { file }, as);
        expect(pictureUrl).toMatch(
          new RegExp(`^http://localhost:4000/api/pictures/[\\w-]{43}\\.${extension}$`),
        );
        const shown = await get(pictureUrl);
        expect([shown.statusCode, shown.headers['content-type']]).toEqual([200, mediaType]);
        expect(shown.rawPayload).toEqual(bytes);
        expect((await app.must('me', {}, as)).user.pictureUrl).toBe(pictureUrl);
        for (const former of addresses) expect((await get(former)).statusCode).toBe(404);
        addresses.push(pictureUrl);
      }
      const rows = await app.database.pool.select().from(pictures).where(eq(pictures.userId, person.userId));
      expect(rows).toHaveLength(1);
      const recorded = await app.database.pool
        .select()
        .from(events)
        .where(eq(events.tenantId, person.account.id));
      const updates = recorded.filter(({ type }) => type === 'user.updated').map(({ body }) => body);
      expect(updates.at(-1)).toMatchObject({
        data: { pictureUrl: addresses[3] },
        changes: { pictureUrl: { from: addresses[2], to: addresses[3] } },
      });
      expect((await app.must('updateMe', { pictureUrl: null }, as)).pictureUrl).toBeNull();
      expect((await get(addresses.at(-1) ?? '')).statusCode).toBe(404);
      expect(
        await app.database.pool.select().from(pictures).where(eq(pictures.userId, person.userId)),
      ).toEqual([]);
    });

    it('is refused with a code for each defect', async () => {
      const { token } = await app.person();
      const upload = async (file: unknown) => {
        const answer = await app.raw('uploadMyPicture', { file }, { via, token });
        return [answer.code, answer.details[0]?.path];
      };
      const size = 2 * 1024 * 1024;
      const largest = size - png().length - 12;
      const padded = (length: number) => png({ extra: [chunk('IDAT', randomBytes(length))] });
      expect(padded(largest)).toHaveLength(size);
      expect(await upload(base64(padded(largest)))).toEqual([null, undefined]);
      expect(await upload(base64(padded(largest + 1)))).toEqual(['PAYLOAD_TOO_LARGE', undefined]);
      expect(await upload('A'.repeat(3 * 1024 * 1024))).toEqual(['PAYLOAD_TOO_LARGE', undefined]);
      const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
      expect(await upload(base64(svg))).toEqual(['UNSUPPORTED_MEDIA_TYPE', undefined]);
      const lying = `data:image/png;base64,${base64(svg)}`;
      expect(await upload(lying)).toEqual(['UNSUPPORTED_MEDIA_TYPE', undefined]);
      for (const text of [
        '',
        '=',
        'A',
        'Ä===',
        'AAAA AAAA',
        'data:image/png,AAAA',
        'https://example.test/a.png',
      ]) {
        expect(await upload(text), text).toEqual(['VALIDATION_ERROR', 'file']);
      }
      const anonymous = await app.raw('uploadMyPicture', { file: base64(gif()) }, { via });
      expect(anonymous.code).toBe('UNAUTHENTICATED');
      // The larger body limit applies only to this operation.
      const name = 'x'.repeat(1_500_000);
      expect((await app.raw('updateMe', { name }, { via, token })).code).toBe('PAYLOAD_TOO_LARGE');
    });
  });

  it('is served with headers that prevent execution and allow caching', async () => {
    const { token, userId } = await app.person();
    const { pictureUrl } = await app.must('uploadMyPicture', { file: base64(gif()) }, { token });
    const { headers } = await get(pictureUrl);
    expect(headers).toMatchObject({
      'content-type': 'image/gif',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(gif().length),
    });
    const etag = String(headers.etag);
    const kept = await get(pictureUrl, { 'if-none-match': etag });
    expect([kept.statusCode, kept.body, kept.headers['cache-control']]).toEqual([
      304,
      '',
      headers['cache-control'],
    ]);
    expect((await get(pictureUrl, { 'if-none-match': '"other"' })).statusCode).toBe(200);
    const head = await get(pictureUrl, {}, 'HEAD');
    expect([head.statusCode, head.body, head.headers['content-type']]).toEqual([200, '', 'image/gif']);
    for (const name of ['x', '%00', `${'a'.repeat(43)}.png`, `${'a'.repeat(43)}.svg`, userId]) {
      const missing = await get(`http://localhost/api/pictures/${name}`);
      expect([missing.statusCode, missing.json<{ code: string }>().code], name).toEqual([404, 'NOT_FOUND']);
      expect(missing.headers['cache-control']).toBe('no-store');
    }
    await app.database.pool
      .update(users)
      .set({ deletedAt: new Date(Date.now() - 31 * 86_400_000) })
      .where(eq(users.id, userId));
    expect((await get(pictureUrl)).statusCode).toBe(404);
    await app.purge();
    expect(await app.database.pool.select().from(pictures).where(eq(pictures.userId, userId))).toEqual([]);
  });

  it('is stored once under concurrent uploads, and uploads are rate limited', { tags: 'race' }, async () => {
    const { token } = await app.person();
    const uploads = await Promise.all(
      [png(), gif()].map((bytes) => app.must('uploadMyPicture', { file: base64(bytes) }, { token })),
    );
    const statuses = await Promise.all(
      uploads.map(async ({ pictureUrl }) => (await get(pictureUrl)).statusCode),
    );
    expect(statuses.toSorted()).toEqual([200, 404]);
    const { user } = await app.must('me', {}, { token });
    expect((await get(user.pictureUrl ?? '')).statusCode).toBe(200);
    for (let count = uploads.length; count < 20; count++) {
      await app.must('uploadMyPicture', { file: base64(png()) }, { token });
    }
    const over = await app.call('uploadMyPicture', { file: base64(png()) }, { token });
    expect([over.code, Number(over.headers['retry-after']) > 0]).toEqual(['RATE_LIMITED', true]);
  });
});
