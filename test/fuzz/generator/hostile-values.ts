import type { SeededRandom } from './seeded-random.ts';
import { RawJson, nested } from './json-text.ts';

/** Values that a careless or malicious client sends. */

/** Names that every object has by inheritance. */
export const prototypeNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
];

/** Texts that cause trouble in parsers, logs, file systems, terminals and databases. */
export const hostileTexts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  'a\r\nX-Injected: yes',
  '\n',
  'a\u2028b\u2029c',
  '\u0085',
  '\ud800',
  'a\udfff',
  '\ud83d',
  '\ufeff',
  '\u202egnp.exe',
  'é\u0301',
  '\u0130',
  '😀'.repeat(50),
  "'; DROP TABLE loans; --",
  '" OR 1=1 --',
  '../../../../etc/passwd',
  '..',
  '.',
  '%00',
  '%s%s%n',
  '${jndi:ldap://127.0.0.1/a}',
  '<script>alert(1)</script>',
  '{{7*7}}',
  'null',
  'true',
  '0',
  'NaN',
  ...prototypeNames,
  'lendstream.registry',
  'lendstream.accounts',
  'LENDSTREAM.loan-commands',
];

export const hostileDates = [
  '0000-01-01',
  '0001-01-01',
  '1582-10-10',
  '1969-12-31',
  '2024-02-29',
  '2023-02-29',
  '2025-02-30',
  '2025-13-01',
  '2025-00-10',
  '2025-1-1',
  '9999-12-31',
  '10000-01-01',
  '+275760-09-13',
  '-000001-01-01',
  '2025-01-15T24:00:00Z',
  '2025-01-15T23:59:60Z',
  '2025-01-15T00:00:00+14:00',
  '2025-01-15T00:00:00-23:59',
  '2025-01-15T00:00:00.123456789Z',
  '2025-01-15 00:00:00',
  '9999-12-31T23:59:59-23:59',
];

/** Numbers as JSON texts, because a double cannot represent some of them. */
const hostileNumbers = [
  '0',
  '-0',
  '-1',
  '1',
  '0.1',
  '1e-7',
  '1e21',
  '1e400',
  '-1e400',
  '1e-400',
  '2147483647',
  '2147483648',
  '-2147483649',
  '4294967296',
  '9007199254740991',
  '9007199254740992',
  '9223372036854775807',
  '18446744073709551616',
  '99999999999999.9',
  '999999999999999',
  '1000000000000000',
  '0.00000000000000000001',
  '0.000000000000000000001',
  `1${'0'.repeat(400)}`,
  `0.${'3'.repeat(1_000)}`,
  '1.0',
  '100E-2',
  '-5',
];

/** Texts that are almost JSON. */
const notJson = ['NaN', 'Infinity', '01', '+1', '.5', '1.', '0x10', "'text'", 'undefined', 'tru', '{a:1}', '[1,]', ''];

const wrongTypes: readonly unknown[] = [null, true, false, 0, 7, -1.5, '', 'text', [], {}, [[]], [null], { a: 1 }];

export function wrongType(random: SeededRandom): unknown {
  return random.pick(wrongTypes);
}

export function hostileText(random: SeededRandom): string {
  const text = random.pick(random.chance(0.2) ? hostileDates : hostileTexts);
  return random.chance(0.3) ? `a${text}` : text;
}

export function hostileNumber(random: SeededRandom): RawJson {
  return new RawJson(random.pick(hostileNumbers));
}

export function brokenValue(random: SeededRandom): RawJson {
  return new RawJson(random.pick(notJson));
}

/** The maximum length of texts. Characters. */
const lengths = [64, 65, 255, 256, 257, 1_000, 1_001, 2_001, 10_000, 100_000];

export function longText(random: SeededRandom): string {
  return random.pick(['a', '9', '😀', '\u0000', 'a.', '%', '"', '\\']).repeat(random.pick(lengths));
}

export function deepValue(random: SeededRandom): RawJson {
  const levels = random.pick([20, 99, 101, 500, 5_000, 50_000]);
  return random.pick([
    nested(levels, '[', ']'),
    nested(levels, '{"a":', '}', '1'),
    nested(levels, '[{"a":', '}]', 'null'),
    // Never closed.
    nested(levels, '[', ''),
  ]);
}

/** A list or an object with many members. */
export function wideValue(random: SeededRandom): unknown {
  const count = random.pick([10, 101, 201, 1_001, 20_000]);
  return random.pick([
    new RawJson(`[${Array.from({ length: count }, () => '{}').join(',')}]`),
    new RawJson(`[${Array.from({ length: count }, (_, index) => index).join(',')}]`),
    new RawJson(`[${Array.from({ length: count }, () => '"a"').join(',')}]`),
    new RawJson(`{${Array.from({ length: count }, (_, index) => `"k${index}":"v"`).join(',')}}`),
  ]);
}
