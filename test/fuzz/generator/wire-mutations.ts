import type { SeededRandom } from './seeded-random.ts';
import type { FuzzRequest } from './drafts.ts';

/** Changes of the bytes of a request to bytes that no HTTP client would send. */

type WireMutation = (text: string, random: SeededRandom) => string;

function inFirstLine(change: (line: string) => string): WireMutation {
  return (text) => {
    const end = text.indexOf('\r\n');
    return change(text.slice(0, end)) + text.slice(end);
  };
}

function withHeader(line: (random: SeededRandom) => string): WireMutation {
  return (text, random) => text.replace('\r\n', () => `\r\n${line(random)}\r\n`);
}

const wireMutations: readonly (readonly [name: string, mutate: WireMutation])[] = [
  ['HTTP/1.0', inFirstLine((line) => line.replace('HTTP/1.1', 'HTTP/1.0'))],
  ['another version', inFirstLine((line) => line.replace('HTTP/1.1', 'HTTP/7.7'))],
  ['no version', inFirstLine((line) => line.replace(' HTTP/1.1', ''))],
  ['an unknown method', inFirstLine((line) => line.replace(/^\S+/, 'GETS'))],
  ['a method in lower case', inFirstLine((line) => line.replace(/^\S+/, 'get'))],
  ['an absolute address', inFirstLine((line) => line.replace(' /', ' http://fuzz.example/'))],
  ['an asterisk', inFirstLine((line) => line.replace(/^\S+ \S+/, 'OPTIONS *'))],
  ['a tunnel', inFirstLine((line) => line.replace(/^\S+ \S+/, 'CONNECT fuzz.example:443'))],
  ['no slash', inFirstLine((line) => line.replace(' /', ' '))],
  ['spaces in the path', inFirstLine((line) => line.replace(' /', ' / /'))],
  ['bytes in the path', inFirstLine((line) => line.replace(' /', ' /\u00ff\u0001'))],
  ['NUL in the path', inFirstLine((line) => line.replace(' /', ' /\u0000'))],
  ['NUL in a header', withHeader(() => 'X-Odd: a\u0000b')],
  ['a bare line feed', (text) => text.replaceAll('\r\n', '\n')],
  ['a bare carriage return', withHeader(() => 'X-Odd: a\rX-Injected: yes')],
  ['a folded header', withHeader(() => 'X-Odd: a\r\n b')],
  ['a header without a colon', withHeader(() => 'X-Odd')],
  ['a header without a name', withHeader(() => ': a')],
  ['a space before the colon', withHeader(() => 'Content-Length : 5')],
  ['two hosts', withHeader((random) => `Host: ${random.pick(['127.0.0.1', 'fuzz.example', ''])}`)],
  ['a page of another site', withHeader(() => 'Origin: http://fuzz.example')],
  ['bytes in a header', withHeader(() => 'X-Flow-Id: \u00ff\u0080\u00c3')],
  ['two lengths', withHeader((random) => `Content-Length: ${random.integer(50)}`)],
  ['a length and chunks', withHeader(() => 'Transfer-Encoding: chunked')],
  [
    'an odd transfer encoding',
    withHeader(
      (random) => `Transfer-Encoding: ${random.pick(['chunked, gzip', 'xchunked', 'chunked, chunked', ' chunked'])}`,
    ),
  ],
  [
    'a wrong length',
    (text, random) =>
      text.replace(
        /Content-Length: \d+/,
        () =>
          `Content-Length: ${random.pick(['-1', '0x10', '1e3', '99999999999999999999', '', '+5', '5, 5', '8388609'])}`,
      ),
  ],
  [
    'a longer length',
    (text) => text.replace(/Content-Length: (\d+)/, (_, length) => `Content-Length: ${Number(length) + 7}`),
  ],
  [
    'a shorter length',
    (text) =>
      text.replace(/Content-Length: (\d+)/, (_, length) => `Content-Length: ${Math.max(0, Number(length) - 3)}`),
  ],
  ['expecting to go on', withHeader(() => 'Expect: 100-continue')],
  ['expecting something else', withHeader(() => 'Expect: 200-ok')],
  ['an upgrade', (text) => text.replace('Connection: close', 'Connection: Upgrade\r\nUpgrade: websocket')],
  ['HTTP/2', (text) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${text}`],
  ['TLS', () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
  ['two requests', (text) => text.replace('Connection: close', 'Connection: keep-alive') + text],
  ['headers without an end', (text) => text.slice(0, text.indexOf('\r\n\r\n'))],
  ['half a line', (text, random) => text.slice(0, 1 + random.integer(text.indexOf('\r\n')))],
  ['empty lines before', (text) => `\r\n\r\n${text}`],
  [
    'a flipped byte',
    (text, random) => {
      const at = random.integer(text.indexOf('\r\n\r\n') + 4);
      return text.slice(0, at) + String.fromCharCode(random.integer(256)) + text.slice(at + 1);
    },
  ],
];

export function mutateWire(request: FuzzRequest, random: SeededRandom): FuzzRequest {
  const [name, mutate] = random.pick(wireMutations);
  const bytes = Buffer.from(mutate(request.bytes.toString('latin1'), random), 'latin1');
  return {
    ...request,
    bytes,
    delivery: 'odd',
    mutations: [...request.mutations.filter((known) => known !== 'valid'), name],
  };
}
