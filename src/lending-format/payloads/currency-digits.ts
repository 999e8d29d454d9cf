/** Decimal digits of the currencies that do not have two (ISO 4217, and bitcoin's eight). */
const currencyDigits: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3])),
  ...Object.fromEntries('CLF UYW'.split(' ').map((code) => [code, 4])),
  BTC: 8,
};
const defaultCurrencyDigits = 2;

/** Decimal digits of the amounts in a currency. @param code Three capital letters. */
export function digitsOfCurrency(code: string): number {
  return currencyDigits[code] ?? defaultCurrencyDigits;
}
