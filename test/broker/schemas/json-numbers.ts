import { Decimal } from 'decimal.js';
import * as fc from 'fast-check';

/** Decimals that are exact for every number of {@link jsonNumber}, and for what a test computes from two of them. */
export const Exact = Decimal.clone({ precision: 2_000, minE: -9_000, maxE: 9_000 });

const digits = (least: number, most: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: least, maxLength: most }).map((all) => all.join(''));

/** JSON numbers, many of them close to each other. */
export const jsonNumber = fc
  .record({
    sign: fc.constantFrom('', '', '-'),
    whole: fc.oneof(
      fc.constantFrom('0', '1', '9007199254740992', '9007199254740993', '900719925474099'),
      digits(1, 25).map((text) => text.replace(/^0+(?=\d)/, '')),
    ),
    fraction: fc.oneof(
      fc.constantFrom('', '', '.0', '.5', '.01', '.000'),
      digits(1, 25).map((text) => `.${text}`),
    ),
    exponent: fc.constantFrom('', '', '', 'e0', 'E+2', 'e-2', 'e-17', 'e300', 'e-400', 'E400'),
  })
  .map(({ sign, whole, fraction, exponent }) => sign + whole + fraction + exponent);
