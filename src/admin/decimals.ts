/** Sums of amounts that are texts, digit by digit: a floating-point number does not have all digits of an amount. */

const amountPattern = /^(-?)(\d+)(?:\.(\d+))?$/;

/** The sum of decimal texts, with as many digits behind the point as the longest has. */
export function sumAmounts(amounts: readonly string[]): string {
  const parsed = amounts.map((amount) => {
    const [, sign = '', whole = '0', fraction = ''] = amountPattern.exec(amount) ?? [];
    return { sign, whole, fraction };
  });
  const digits = Math.max(0, ...parsed.map(({ fraction }) => fraction.length));
  const total = parsed.reduce(
    (sum, { sign, whole, fraction }) => sum + BigInt(`${sign}${whole}${fraction.padEnd(digits, '0')}`),
    0n,
  );
  const text = String(total < 0n ? -total : total).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  return `${total < 0n ? '-' : ''}${whole}${digits === 0 ? '' : `.${text.slice(-digits)}`}`;
}
