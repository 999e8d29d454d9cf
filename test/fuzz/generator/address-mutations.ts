import type { SeededRandom } from './seeded-random.ts';
import { setHeader, type Draft } from './drafts.ts';
import { hostileDates, hostileText, prototypeNames } from './hostile-values.ts';

/** Changes of method, path, query and headers that are still valid HTTP. */

type AddressMutation = (draft: Draft, random: SeededRandom) => void;

const brokenEscapes = [
  '%',
  '%2',
  '%GG',
  '%E0%A4%A',
  '%C0%AF',
  '%FF',
  '%ED%A0%80',
  '%00',
  '%0d%0aX-Injected:%20yes',
  '%2F',
  '%5C',
  '%25',
  '%2e%2e%2f',
  '%E2%80%A8',
];

const numbers = [
  '',
  ' ',
  '-1',
  '0',
  '1',
  '1.5',
  '1e3',
  '0x10',
  '999999999999999',
  '9999999999999999',
  '99999999999999999999',
  '-0',
  '+5',
  '5;',
  'NaN',
  '٣',
  'true',
  '2147483648',
  '86400',
  '1000001',
];

/** Values of headers that the service reads. */
const headerValues: Readonly<Record<string, (random: SeededRandom) => string>> = {
  'X-Flow-Id': (random) => random.pick([latin1(hostileText(random)), 'f'.repeat(255), 'f'.repeat(256), '']),
  'Idempotency-Key': (random) =>
    random.pick(['', 'k'.repeat(256), 'k'.repeat(257), latin1(hostileText(random)), '__proto__']),
  Prefer: (random) =>
    random.pick([
      'wait=0',
      'wait=-1',
      'wait=1e9',
      'wait=999999999',
      'wait=',
      'wait="1"',
      'respond-async, wait=1',
      ';;;',
    ]),
  'X-Nakadi-StreamId': (random) =>
    random.pick(['', 'none', '__proto__', 'a'.repeat(5_000), latin1(hostileText(random)), random.uuid()]),
  'X-Nakadi-Cursors': (random) =>
    random.pick([
      '',
      '[',
      '{}',
      '[]',
      '[null]',
      '[{"partition":0,"offset":"BEGIN"}]',
      '[{"partition":"0","offset":"BEGIN"},{"partition":"0","offset":"BEGIN"}]',
      '[{"partition":"00","offset":"BEGIN"}]',
      '[{"partition":"0","offset":"001-0001-999999999999999999"}]',
      `[{"partition":"0","offset":"${'9'.repeat(9_000)}"}]`,
      `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
      '[{"partition":"__proto__","offset":"constructor"}]',
    ]),
  'Accept-Encoding': (random) =>
    random.pick(['gzip', '*', 'gzip;q=0', 'gzip;q=none', ','.repeat(3_000), 'gzip, '.repeat(500)]),
  Accept: (random) => random.pick(['application/xml', '*/*;q=0', 'text/html', 'none', ','.repeat(5_000)]),
  'Content-Encoding': (random) => random.pick(['gzip', 'br', 'none', latin1(hostileText(random))]),
  Authorization: (random) =>
    random.pick(['Bearer', `Bearer ${' '.repeat(5_000)}x`, 'Basic Og==', latin1(hostileText(random))]),
  'If-None-Match': (random) => random.pick(['*', '"', 'W/'.repeat(2_000)]),
  'If-Modified-Since': (random) => random.pick(hostileDates),
  Range: (random) => random.pick(['bytes=0-', 'bytes=-1', 'bytes=9-1', `bytes=${'0-0,'.repeat(500)}`, 'none=1']),
  Host: (random) => random.pick(['', 'a'.repeat(5_000), '127.0.0.1:99999', '@', 'a b']),
  Origin: (random) =>
    random.pick(['', 'null', '*', latin1(hostileText(random)), 'http://127.0.0.1', 'a'.repeat(5_000)]),
  'Sec-Fetch-Site': (random) => random.pick(['', 'none', 'same-origin', 'same-site', latin1(hostileText(random))]),
  Cookie: () => 'a=b; '.repeat(1_000),
  'X-HTTP-Method-Override': () => 'DELETE',
  'Transfer-Encoding': () => 'identity',
  Trailer: () => 'X-Trailer',
  TE: () => 'trailers',
};

/** A text as its UTF-8 bytes, one character each, without bytes that end a header. */
function latin1(text: string): string {
  return Buffer.from(text.replaceAll(/[\r\n\0]/g, ' ')).toString('latin1');
}

const addressMutations: readonly (readonly [weight: number, name: string, mutate: AddressMutation])[] = [
  [5, 'hostile path', (draft, random) => inPath(draft, random, encodeURIComponentSafely(hostileText(random)))],
  [3, 'broken escape', (draft, random) => inPath(draft, random, random.pick(brokenEscapes))],
  [1, 'broken escape in the query', (draft, random) => addToQuery(draft, `limit=${random.pick(brokenEscapes)}`)],
  [
    1,
    'long path',
    (draft, random) =>
      inPath(draft, random, random.pick(['a', '%41', 'a.', '..;']).repeat(random.pick([100, 1_000, 3_000]))),
  ],
  [
    1,
    'added steps',
    (draft, random) => {
      draft.path += random.pick([
        '/',
        '//',
        '/..',
        '/.',
        '/a',
        ':changeState',
        ';a=b',
        '/%2e%2e',
        '/events',
        '\\',
        '#a',
        '?',
      ]);
    },
  ],
  [
    1,
    'another case',
    (draft) => {
      draft.path = draft.path.toUpperCase();
    },
  ],
  [
    4,
    'another number in the query',
    (draft, random) => {
      const names = draft.operation.parameters.filter((known) => known.in === 'query').map(({ name }) => name);
      addToQuery(
        draft,
        `${random.pick([...names, 'limit', 'offset'])}=${encodeURIComponentSafely(random.pick(numbers))}`,
        true,
      );
    },
  ],
  [
    3,
    'hostile query',
    (draft, random) => {
      const names = draft.operation.parameters.filter((known) => known.in === 'query').map(({ name }) => name);
      addToQuery(
        draft,
        `${random.pick([...names, ...prototypeNames])}=${encodeURIComponentSafely(hostileText(random))}`,
        true,
      );
    },
  ],
  [
    2,
    'repeated query',
    (draft) => {
      draft.query = [draft.query, draft.query, 'limit=1', 'limit=-1', 'limit[]=2', 'limit[a]=3']
        .filter((part) => part !== '')
        .join('&');
    },
  ],
  [
    1,
    'large query',
    (draft, random) =>
      addToQuery(
        draft,
        random.pick([`a=${'b'.repeat(10_000)}`, 'a&'.repeat(4_000), 'event_type=a&'.repeat(900), '&=&=?'.repeat(100)]),
      ),
  ],
  [
    4,
    'another method',
    (draft, random) => {
      draft.method = random.pick([
        'GET',
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
        'HEAD',
        'OPTIONS',
        'TRACE',
        'PROPFIND',
        'QUERY',
        'M-SEARCH',
      ]);
    },
  ],
  [
    7,
    'hostile header',
    (draft, random) => {
      const [name, make] = random.pick(Object.entries(headerValues));
      setHeader(draft, name, make(random));
    },
  ],
  [
    1,
    'large header',
    (draft, random) => setHeader(draft, 'X-Large', 'a'.repeat(random.pick([10_000, 15_000, 17_000, 70_000]))),
  ],
  [
    1,
    'many headers',
    (draft, random) => {
      for (let number = 0; number < random.pick([50, 500, 2_500]); number += 1)
        draft.headers.push([`X-${number}`, 'a']);
    },
  ],
  [
    2,
    'a flow id that is too long',
    (draft, random) => {
      const length = random.pick([256, 257, 1_000, 15_000]);
      setHeader(draft, 'X-Flow-Id', random.pick(['f', '"', '\\', '\u00ff']).repeat(length));
      draft.expected = /^400$/;
    },
  ],
  [
    1,
    'a flow id that is not visible',
    (draft, random) => {
      setHeader(draft, 'X-Flow-Id', `a${random.pick([' ', '\t', '\u0080', '\u00ff'])}b`);
      draft.expected = /^400$/;
    },
  ],
  [
    3,
    'a foreign origin',
    (draft, random) => {
      const origins = ['http://evil.example', 'http://127.0.0.1:1', 'http://localhost', 'null', 'file://'];
      setHeader(draft, 'Origin', random.pick(origins));
      // No Sec-Fetch-Mode makes the request of another site acceptable.
      setHeader(draft, 'Sec-Fetch-Mode', random.pick([undefined, 'cors', 'no-cors', 'navigate']));
      draft.expected = /^403$/;
    },
  ],
  [
    3,
    'a foreign site',
    (draft, random) => {
      setHeader(draft, 'Sec-Fetch-Site', random.pick(['cross-site', 'same-site', 'elsewhere', 'same-origin, none']));
      setHeader(draft, 'Sec-Fetch-Mode', random.pick(['cors', 'no-cors']));
      draft.expected = /^403$/;
    },
  ],
  [
    2,
    'asking for a foreign page',
    (draft) => {
      draft.method = 'OPTIONS';
      setHeader(draft, 'Origin', 'http://evil.example');
      setHeader(draft, 'Access-Control-Request-Method', 'POST');
      draft.expected = /^403$/;
    },
  ],
  [
    3,
    'a foreign host',
    (draft, random) => {
      const hosts = [
        'evil.example',
        'evil.example:8080',
        '127.0.0.1.evil.example',
        '128.0.0.1',
        '[::2]',
        '0.0.0.0',
        '',
        '@',
      ];
      setHeader(draft, 'Host', random.pick(hosts));
      draft.expected = /^421$/;
    },
  ],
  [
    1,
    'two hosts',
    (draft, random) => {
      draft.headers.push([
        random.pick(['Host', 'host', 'HOST']),
        random.pick(['127.0.0.1', 'localhost', 'evil.example', '']),
      ]);
      draft.expected = /^400$/;
    },
  ],
  [
    2,
    'a form of a page',
    (draft, random) => {
      setHeader(draft, 'Sec-Fetch-Site', random.pick(['same-origin', 'none']));
      setHeader(
        draft,
        'Content-Type',
        random.pick([undefined, 'text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded']),
      );
      // The request may have another fault as well.
      if (draft.body !== undefined && draft.body.length > 0) draft.expected = /^4\d\d$/;
    },
  ],
  [
    1,
    'repeated header',
    (draft, random) => {
      const [name, make] = random.pick(Object.entries(headerValues));
      draft.headers.push([name, make(random)], [name, make(random)]);
    },
  ],
];

function inPath(draft: Draft, random: SeededRandom, step: string): void {
  const steps = draft.path.split('/');
  steps[1 + random.integer(Math.max(1, steps.length - 1))] = step;
  draft.path = steps.join('/');
}

function addToQuery(draft: Draft, part: string, instead = false): void {
  const name = part.split('=', 1)[0];
  const others = draft.query.split('&').filter((known) => known !== '' && !(instead && known.startsWith(`${name}=`)));
  draft.query = [...others, part].join('&');
}

/** Lone surrogates have no UTF-8: they are sent as the three bytes that they would have. */
function encodeURIComponentSafely(text: string): string {
  const surrogates = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
  return text
    .split(surrogates)
    .map((part) => encodeURIComponent(part))
    .join('%ED%A0%80');
}

export function mutateAddress(draft: Draft, random: SeededRandom): void {
  const [, name, mutate] = random.weighted(addressMutations.map((mutation) => [mutation[0], mutation]));
  mutate(draft, random);
  draft.mutations.push(name);
}
