import { deflateSync, gzipSync } from 'node:zlib';
import type { SeededRandom } from './seeded-random.ts';
import { setBody, setHeader, type Draft } from './drafts.ts';

/** Changes of a whole body: its text, its encoding, its size, and how it is sent. */

type BodyMutation = (draft: Draft, body: Buffer, random: SeededRandom) => void;

const mebibyte = 1024 * 1024;

/** Made once: it decompresses to sixty times the maximum of a request. */
let bomb: Buffer | undefined;
function gzipBomb(): Buffer {
  bomb ??= gzipSync(Buffer.alloc(500 * mebibyte, ' '), { level: 9 });
  return bomb;
}

const bodyMutations: readonly (readonly [weight: number, name: string, mutate: BodyMutation])[] = [
  [5, 'truncated', (draft, body, random) => setBody(draft, body.subarray(0, random.integer(Math.max(1, body.length))))],
  [
    3,
    'something behind',
    (draft, body, random) =>
      setBody(draft, Buffer.concat([body, Buffer.from(random.pick(['}', ']', ',', '{}', '\u0000', '//', 'x']))])),
  ],
  [2, 'empty', (draft) => setBody(draft, Buffer.alloc(0))],
  [2, 'white space alone', (draft) => setBody(draft, Buffer.from(' \r\n\t'))],
  [2, 'byte order mark', (draft, body) => setBody(draft, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]))],
  [2, 'UTF-16', (draft, body) => setBody(draft, Buffer.from(`\ufeff${body.toString()}`, 'utf16le'))],
  [2, 'UTF-16 big-endian', (draft, body) => setBody(draft, Buffer.from(body.toString(), 'utf16le').swap16())],
  [
    3,
    'invalid UTF-8',
    (draft, body, random) => {
      const bytes = random.pick([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3], [0x80]]);
      const at = random.integer(body.length + 1);
      setBody(draft, Buffer.concat([body.subarray(0, at), Buffer.from(bytes), body.subarray(at)]));
    },
  ],
  [
    4,
    'flipped byte',
    (draft, body, random) => {
      const changed = Buffer.from(body);
      if (changed.length > 0) changed[random.integer(changed.length)] = random.integer(256);
      setBody(draft, changed);
    },
  ],
  [2, 'doubled', (draft, body) => setBody(draft, Buffer.concat([body, body]))],
  [
    2,
    'another media type',
    (draft, _body, random) => {
      const types = [
        'text/plain',
        'application/xml',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=',
        'application/json; charset=utf-16',
        'application/json; charset=none',
        '',
        '/',
        'a'.repeat(5_000),
      ];
      setHeader(draft, 'Content-Type', random.pick(types));
    },
  ],
  [1, 'no media type', (draft) => setHeader(draft, 'Content-Type', undefined)],
  [3, 'gzip', (draft, body) => encoded(draft, gzipSync(body), 'gzip')],
  [2, 'gzip of gzip', (draft, body) => encoded(draft, gzipSync(gzipSync(body)), 'gzip')],
  [
    2,
    'broken gzip',
    (draft, body, random) => {
      const packed = gzipSync(body);
      encoded(
        draft,
        random.pick([
          packed.subarray(0, packed.length >> 1),
          Buffer.concat([packed, Buffer.from('x')]),
          body,
          Buffer.alloc(20),
        ]),
        'gzip',
      );
    },
  ],
  [0.3, 'gzip bomb', (draft) => encoded(draft, gzipBomb(), 'gzip')],
  [
    2,
    'another encoding',
    (draft, body, random) =>
      encoded(
        draft,
        deflateSync(body),
        random.pick(['deflate', 'br', 'gzip, gzip', 'GZIP', 'none', '', 'identity', 'x-gzip']),
      ),
  ],
  [
    0.15,
    'larger than allowed',
    (draft, _body, random) =>
      setBody(
        draft,
        Buffer.alloc(8 * mebibyte + random.pick([0, 1, mebibyte]), random.pick(['[', ' ', '{"a":', '9', '"'])),
      ),
  ],
  [
    0.5,
    'larger than a command may be',
    (draft, body, random) =>
      setBody(draft, Buffer.concat([body, Buffer.alloc(256 * 1024 - (body.length % 1024) + random.integer(2), ' ')])),
  ],
  [
    0.5,
    'many events',
    (draft, body, random) => {
      const inside = body.toString().replace(/^\[|\]$/g, '');
      // A body that another mutation has made large already need not be sent five thousand times.
      const count = Math.min(random.pick([500, 5_000]), 1 + Math.floor((16 * mebibyte) / (inside.length + 1)));
      setBody(draft, Buffer.from(`[${Array.from({ length: count }, () => inside).join(',')}]`));
    },
  ],
  [2, 'chunks', (draft, body) => chunked(draft, body, '\r\n')],
  [
    1,
    'broken chunks',
    (draft, body) => {
      chunked(draft, body, 'x');
      draft.delivery = 'odd';
    },
  ],
  [
    2,
    'cut off',
    (draft, body, random) => {
      setBody(draft, body);
      draft.body = body.subarray(0, random.integer(Math.max(1, body.length)));
      draft.delivery = 'cut';
    },
  ],
  [
    2,
    'half of it, then nothing',
    (draft, body) => {
      setBody(draft, body);
      draft.body = body.subarray(0, body.length >> 1);
      draft.delivery = 'odd';
    },
  ],
  [
    0.15,
    'half of the largest, then nothing',
    (draft) => {
      setHeader(draft, 'Content-Length', String(8 * mebibyte));
      draft.body = Buffer.alloc(4 * mebibyte, ' ');
      draft.delivery = 'odd';
    },
  ],
  [
    1,
    'dropped',
    (draft) => {
      draft.delivery = 'dropped';
    },
  ],
];

function encoded(draft: Draft, body: Buffer, encoding: string): void {
  setHeader(draft, 'Content-Encoding', encoding);
  setBody(draft, body);
}

function chunked(draft: Draft, body: Buffer, ending: string): void {
  setHeader(draft, 'Content-Length', undefined);
  setHeader(draft, 'Transfer-Encoding', 'chunked');
  const half = body.length >> 1;
  const pieces = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0);
  const chunks = pieces.flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from(ending),
  ]);
  draft.body = Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

/** @param body The body without this change. */
export function mutateBody(draft: Draft, body: Buffer, random: SeededRandom): void {
  const [, name, mutate] = random.weighted(bodyMutations.map((mutation) => [mutation[0], mutation]));
  mutate(draft, body, random);
  draft.mutations.push(name);
}
