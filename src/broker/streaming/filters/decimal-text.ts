const numberParts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?)0*(\d+))?$/;

/** The most digits of an exponent with which a number is compared by its value. */
const exponentDigitsMaximum = 12;

const digitZero = 0x30;

/**
 * A text that two JSON numbers share exactly when they have the same value: `12.50`, `12.5` and `125e-1` do. No digit
 * is lost, however many there are.
 * @returns undefined when the exponent has more than twelve digits, which no number of an event needs
 */
export function decimalText(number: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponentSign = '', exponent = '0'] = numberParts.exec(number) ?? [];
  const digits = whole + fraction;
  let first = 0;
  while (first < digits.length && digits.charCodeAt(first) === digitZero) first += 1;
  if (first === digits.length) return '0';
  if (exponent.length > exponentDigitsMaximum) return undefined;
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === digitZero) end -= 1;
  const power = Number(`${exponentSign}${exponent}`) - fraction.length + (digits.length - end);
  return `${sign}${digits.slice(first, end)}e${power}`;
}
